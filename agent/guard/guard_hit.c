/* SPDX-License-Identifier: MIT */
/*
 * Pages of the guard pool that the program came upon: whose they are, and letting an access to one
 * through.
 */
#include "agent/agent.h"
#include "agent/guard/area.h"
#include "agent/guard/guard.h"
#include "agent/guard/guard_pages.h"
#include "agent/check/where.h"
#include "agent/ctx.h"

/* A run's block, live or released: from where to where. By number, over all areas. */
static bool run_extent(uint32_t run, uint64_t *start, uint64_t *end)
{
	const struct area *last = &areas.area[PMM_GUARD_AREAS - 1], *a;
	const struct pmm_guard *r;

	if (run >= last->first + last->runs)
		return false;
	a = area_of_run(run);
	if (!run_prepared(a, run - a->first))
		return false;
	r = &areas.record[run];
	if (LOAD_ACQUIRE(r->state) == PMM_GUARD_UNUSED)
		return false;
	*start = LOAD(r->address);
	*end = *start + LOAD(r->size_bytes);
	return true;
}

/*
 * How many runs to each side are asked whose an access is. Runs that were made ready ahead and not
 * used yet may be between two blocks, in any number. A block that is further away than that many
 * runs is not blamed.
 */
#define NEAR_RUNS	2u

/* The block that holds the address, or the nearer one of those on both sides. */
uint32_t guard_owner(uint64_t at, uint64_t bytes)
{
	uint64_t start, end, before_end = 0, next_start = UINT64_MAX, far;
	uint32_t run, before = NO_RUN, next = NO_RUN;
	const struct area *a = area_of(at);

	if (!a)
		return NO_RUN;
	far = (uint64_t)NEAR_RUNS * stride(a) * ARCH_PAGE;
	run = a->first + (uint32_t)((at - a->start) / ARCH_PAGE) / stride(a);
	for (uint32_t n = run > NEAR_RUNS ? run - NEAR_RUNS : 0; n <= run + NEAR_RUNS; n++) {
		if (!run_extent(n, &start, &end))
			continue;
		if (at - start < end - start)
			return n;
		if (end <= at && at - end < far && (before == NO_RUN || end >= before_end))
			before = n, before_end = end;
		if (start > at && start - at < far && start < next_start)
			next = n, next_start = start;
	}
	if (before == NO_RUN || next == NO_RUN)
		return before == NO_RUN ? next : before;
	return where_is_next(before_end, next_start, at, bytes) ? next : before;
}

/*
 * The run that a page belongs to, the guard page before an area's first run to that; *own: a data
 * page. False: nothing was ever there.
 */
static bool page_run(uint64_t page, struct area **a, uint32_t *i, bool *own)
{
	uint32_t nr;

	*a = area_of(page);
	if (!*a)
		return false;
	nr = (uint32_t)((page - (*a)->start) / ARCH_PAGE);
	*own = nr % stride(*a);
	*i = nr / stride(*a) - (!*own && nr);
	return run_prepared(*a, *i);
}

/* Is it the block's now, or about to be, so that it is not ours to close? */
static bool page_in_use(const struct area *a, uint32_t i, uint64_t page)
{
	uint64_t bytes, start;

	if (!(LOAD_ACQUIRE(run_record(a, i)->hold) & HOLD_OWNED))
		return false;
	start = block_pages(a, i, &bytes);
	return LOAD_ACQUIRE(run_record(a, i)->state) != PMM_GUARD_LIVE || page - start < bytes;
}

/* A number that only the live block that owns the page has; 0: no block owns it. */
static uint64_t page_block(uint64_t page)
{
	struct area *a;
	uint32_t i, hold;
	bool own;

	if (!page_run(page, &a, &i, &own) || !own)
		return 0;
	hold = LOAD_ACQUIRE(run_record(a, i)->hold);
	if (!(hold & HOLD_OWNED) || !page_in_use(a, i, page) ||
	    LOAD(run_record(a, i)->state) != PMM_GUARD_LIVE)
		return 0;
	return (uint64_t)(hold / HOLD_TURN) << 32 | (a->first + i + 1);
}

bool guard_page_protected(uint64_t page, struct guard_stop *last)
{
	struct guard_stop now = { page, page_block(page) };
	bool same = now.block && now.block == last->block && page == last->page;

	*last = now;
	return same;
}

/* Open unless it is so. */
static bool page_make_open(uint64_t page)
{
	bool ok;

	if (!pages_enter())
		return true;
	ok = pages_open(page, ARCH_PAGE);
	pages_leave();
	return ok;
}

bool guard_page_open(uint64_t page)
{
	struct area *a;
	uint32_t i;
	bool own;

	if (!page_run(page, &a, &i, &own))
		return false;
	if (own)
		ADD(run_record(a, i)->hold, HOLD_ACCESS);
	if ((own && page_in_use(a, i, page) && LOAD(run_record(a, i)->state) == PMM_GUARD_LIVE) ||
	    page_make_open(page))
		return true;
	if (own)
		ADD(run_record(a, i)->hold, -HOLD_ACCESS);
	return false;
}

void guard_page_close(uint64_t page)
{
	struct area *a;
	uint32_t i;
	bool own;

	if (!page_run(page, &a, &i, &own))
		return;
	if ((!own || !page_in_use(a, i, page)) && pages_enter()) {
		pages_close(page, ARCH_PAGE);
		pages_leave();
	}
	if (own)
		ADD(run_record(a, i)->hold, -HOLD_ACCESS);
}

bool guard_page_give(uint64_t page)
{
	struct area *a;
	uint32_t i;
	bool own;

	if (LOAD(agent.confined))
		return false;
	if (page_run(page, &a, &i, &own)) {
		ADD(run_record(a, i)->hold, HOLD_ACCESS);
		if (!own && run_prepared(a, i + 1))
			ADD(run_record(a, i + 1)->hold, HOLD_ACCESS);
	}
	return pages_force(page, ARCH_PAGE);
}
