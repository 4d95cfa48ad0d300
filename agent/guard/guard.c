/* SPDX-License-Identifier: MIT */
/*
 * The pool of guarded blocks.
 *
 * Runs and their pages are agent/guard/area.c's; here is what is in them: blocks, canary, records.
 * What a run's record says belongs to who owns the run, and its state says what of it
 * concerns others.
 */
#include "agent/guard/guard.h"

#include "agent/agent_arena.h"
#include "agent/block.h"
#include "agent/guard/area.h"
#include "agent/guard/budget.h"
#include "agent/guard/guard_pages.h"
#include "agent/check/where.h"
#include "agent/ctx.h"

static struct {
	bool on;
	uint64_t secret;
	uint64_t max;			/* blocks */
	uint64_t live;			/* and those about to be */
	uint32_t flags;			/* enum pmm_check_flags */
	enum pmm_guard_mechanism mechanism;
} G;

struct guard_pool guard_pool;

/* ---- canary ---------------------------------------------------------------------------------- */

static inline uint8_t canary_byte(uint64_t canary, uint64_t at)
{
	return (uint8_t)(canary >> at % 8 * 8);
}

static void canary_fill(uint64_t at, uint64_t end, uint64_t canary)
{
	for (; at < end && at % 8; at++)
		*(uint8_t *)at = canary_byte(canary, at);
	for (; at + 8 <= end; at += 8)
		*(uint64_t *)at = canary;
	for (; at < end; at++)
		*(uint8_t *)at = canary_byte(canary, at);
}

/*
 * First byte of [at, end) that is not canary, or `end`. Most of a page, and seldom in a cache: by
 * the line.
 */
static uint64_t canary_check(uint64_t at, uint64_t end, uint64_t canary)
{
	for (; at < end && at % 8; at++)
		if (*(const uint8_t *)at != canary_byte(canary, at))
			return at;
	for (; at + 64 <= end; at += 64) {
		const uint64_t *w = (const uint64_t *)at;

		if ((w[0] ^ canary) | (w[1] ^ canary) | (w[2] ^ canary) | (w[3] ^ canary) |
		    (w[4] ^ canary) | (w[5] ^ canary) | (w[6] ^ canary) | (w[7] ^ canary))
			break;
	}
	while (at < end && *(const uint8_t *)at == canary_byte(canary, at))
		at++;
	return at;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* Is the ledger this process's? A forked child has its parent's until its first event. */
static inline bool ledger_ours(void)
{
	return agent_is_on() && LOAD(*agent.alive);
}

static void ledger_raise(uint64_t *most, uint64_t value)
{
	uint64_t old = LOAD(*most);

	while (value > old && !CAS(*most, old, value))
		;
}

/* A full ledger has no room for the record: then only the figures count the block. */
static void ledger_record(uint32_t run, uint32_t state)
{
	const struct pmm_guard *r = &areas.record[run];
	struct pmm_guard *copy = arena_chunk(agent.ledger->guard_dir, run, PMM_GUARD_SHIFT,
					     sizeof(*copy));
	uint32_t nr = LOAD(agent.ledger->check.nr_guards);

	if (!copy) {
		if (state == PMM_GUARD_LIVE) {
			ADD(agent.ledger->dropped[PMM_DROP_BLOCK_FULL], 1);
			ADD(agent.ledger->dropped_bytes, r->size_bytes);
		}
		return;
	}
	/*
	 * readers (src/ledger/ledger_guards.c) copy twice; the state goes first and comes last, as
	 * the number in agent/seqlock.h
	 */
	STORE_RELEASE(copy->state, PMM_GUARD_UNUSED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	copy->address = r->address;
	copy->size_bytes = r->size_bytes;
	copy->kind = r->kind;
	copy->site = r->site;
	copy->tick = r->tick;
	copy->free_site = r->free_site;
	copy->free_tick = r->free_tick;
	copy->thread = r->thread;
	copy->free_thread = r->free_thread;
	copy->pid = r->pid;
	copy->pages = r->pages;
	copy->bias = r->bias;
	copy->align = r->align;
	copy->generation = r->generation;
	copy->free_generation = r->free_generation;
	STORE_RELEASE(copy->state, state);
	block_changed(copy, sizeof(*copy));
	while (nr <= run && !CAS(agent.ledger->check.nr_guards, nr, run + 1))
		;
}

static void ledger_describe(void)
{
	struct pmm_check_state *s = &agent.ledger->check;

	STORE(s->guarded_now, LOAD(G.live));
	STORE(s->guarded_most, LOAD(G.live));
	STORE(s->pool_start, areas.start);
	STORE(s->pool_end, areas.end);
	for (unsigned k = 0; k < PMM_GUARD_AREAS; k++)
		STORE(s->area_runs[k], areas.area[k].runs);
	STORE_RELEASE(s->mechanism, G.mechanism);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

bool guard_start(const struct pmm_check *options)
{
	if (!options->max_guarded || G.on || agent.confined || !areas_start(options))
		return false;
	guard_pool = (struct guard_pool){ areas.start, areas.end - areas.start };
	G.secret = options->secret;
	G.max = options->max_guarded;
	G.flags = options->flags;
	G.mechanism = pages_start(areas.start, areas.end - areas.start,
				  options->flags & PMM_CHECK_MPROTECT, options->max_mappings);
	ledger_describe();
	G.on = true;
	return true;
}

void (*guard_at_work)(uint64_t now);

static void at_work(uint64_t now)
{
	if (guard_at_work)
		guard_at_work(now);
}

/*
 * What never was prepared stays closed: opened, it would count against the program's limit on data.
 */
static void open_prepared(void)
{
	for (unsigned k = 0; k < PMM_GUARD_AREAS; k++) {
		const struct area *a = &areas.area[k];

		pages_open_all(a->start,
			       run_start(a, LOAD(a->next_chunk) * chunk_runs(a)) - a->start);
	}
}

void guard_open_all(void)
{
	if (!G.on)
		return;
	pages_wait();
	open_prepared();
	if (ledger_ours())
		STORE(agent.ledger->check.opened, 1);
}

enum pmm_guard_bias guard_bias(uint32_t site, uint64_t nth)
{
	return where_bias(site, nth, G.flags);
}

static uint32_t block_make(size_t size, size_t align, enum pmm_guard_bias bias,
			   enum guard_refusal *why)
{
	uint32_t pages = size ? (uint32_t)((size + ARCH_PAGE - 1) / ARCH_PAGE) : 1;
	struct area *a = &areas.area[pages == 1 ? 0 : 32 - __builtin_clz(pages - 1)];
	uint32_t i = area_open(a, pages, bias, why);
	struct pmm_guard *r;
	uint64_t start, bytes;

	if (i == NO_RUN)
		return NO_RUN;
	r = run_record(a, i);
	STORE_RELEASE(r->state, PMM_GUARD_UNUSED);
	start = block_pages(a, i, &bytes);
	r->address = where_block(start, bytes, size, align, bias);
	r->size_bytes = size;
	r->free_site = r->free_tick = 0;
	r->free_thread = 0;
	canary_fill(start, r->address, pmm_canary(G.secret, r->address));
	canary_fill(r->address + size, start + bytes, pmm_canary(G.secret, r->address));
	return a->first + i;
}

uint32_t guard_alloc(size_t size, size_t align, enum pmm_guard_bias bias, enum guard_refusal *why)
{
	uint64_t start = arch_cycles();
	uint32_t run;

	*why = GUARD_OK;
	align = where_align(size, align, G.flags);
	if (!G.on || LOAD(agent.no_guards))
		*why = GUARD_KERNEL;
	else if (align > ARCH_PAGE || size > ARCH_PAGE << (PMM_GUARD_AREAS - 1))
		*why = GUARD_LARGE;
	else if (ADD(G.live, 1) >= G.max)
		ADD(G.live, -1), *why = GUARD_LIMIT;
	if (*why)
		return NO_RUN;
	*why = GUARD_KERNEL;
	run = NO_RUN;
	at_work(start);
	if (pages_enter()) {
		*why = GUARD_LIMIT;
		run = block_make(size, align, bias, why);
		pages_leave();
	}
	if (run == NO_RUN)
		ADD(G.live, -1);
	else
		*why = GUARD_OK;
	budget_spent(arch_cycles() - start, run == NO_RUN ? 0 : areas.record[run].pages - 1);
	return run;
}

void guard_publish(uint32_t run)
{
	bool known = LOAD(areas.record[run].state) == PMM_GUARD_LIVE;

	if (ledger_ours()) {
		struct pmm_check_state *s = &agent.ledger->check;

		if (!known) {
			ADD(s->guarded, 1);
			ledger_raise(&s->guarded_most, ADD(s->guarded_now, 1) + 1);
		}
		ledger_record(run, PMM_GUARD_LIVE);
	}
	if (!known)
		STORE_RELEASE(areas.record[run].state, PMM_GUARD_LIVE);
}

struct pmm_guard *guard_at(uint32_t run)
{
	return &areas.record[run];
}

bool guard_has_pool(void)
{
	return G.on;
}

static bool ever_used(const struct area *a, uint32_t i)
{
	return run_prepared(a, i) && LOAD(run_record(a, i)->address);
}

uint32_t guard_find(uint64_t address)
{
	struct area *a = area_of(address);
	uint32_t page, i;

	if (!a)
		return NO_RUN;
	page = (uint32_t)((address - a->start) / ARCH_PAGE);
	i = page / stride(a);
	if (page % stride(a) == 0 && i && ever_used(a, i - 1))
		return a->first + i - 1;
	return ever_used(a, i) ? a->first + i : NO_RUN;
}

uint32_t guard_block(uint64_t address)
{
	uint32_t run = guard_in_pool(address) ? guard_find(address) : NO_RUN;

	if (run == NO_RUN || LOAD_ACQUIRE(areas.record[run].state) != PMM_GUARD_LIVE ||
	    areas.record[run].address != address)
		return NO_RUN;
	return run;
}

/* What is to be looked at may be protected by the program. */
static void regain(uint64_t start, uint64_t bytes)
{
	if (likely(!pages_distrusted()) || !pages_enter())
		return;
	pages_regain(start, bytes);
	pages_leave();
}

bool guard_damage(uint32_t run, uint64_t *at)
{
	const struct pmm_guard *r = &areas.record[run];
	const struct area *a = area_of_run(run);
	uint64_t canary = pmm_canary(G.secret, r->address), bytes,
		 start = block_pages(a, run - a->first, &bytes);
	uint64_t cycles = arch_cycles(), end = r->address;

	regain(start, bytes);
	*at = canary_check(start, end, canary);
	if (*at == end) {
		end = start + bytes;
		*at = canary_check(r->address + r->size_bytes, end, canary);
	}
	budget_spent(arch_cycles() - cycles, 0);
	return *at < end;
}

bool guard_release(uint32_t run)
{
	uint32_t live = PMM_GUARD_LIVE;

	return CAS(areas.record[run].state, live, PMM_GUARD_FREED);
}

void guard_close(uint32_t run)
{
	struct area *a = area_of_run(run);
	uint64_t cycles;

	if (ledger_ours()) {
		ADD(agent.ledger->check.guarded_now, -1);
		ledger_record(run, PMM_GUARD_FREED);
	}
	ADD(G.live, -1);
	/*
	 * it stays with us: an open one must not be used again; strict mode has no cycle counter
	 * either
	 */
	if (!pages_enter())
		return;
	cycles = arch_cycles();
	area_close(a, run - a->first);
	budget_spent(arch_cycles() - cycles, 0);
	pages_leave();
}

/* ---- no more of them ------------------------------------------------------------------------- */

void guard_disarm(bool quiet)
{
	__atomic_store_n(&agent.no_guards, true, __ATOMIC_SEQ_CST);
	if (!quiet)
		pages_wait();
	open_prepared();
}

void guard_protects(void)
{
	pages_distrust();
}

uint64_t guard_live(void)
{
	return LOAD(G.live);
}

void guard_forked(void)
{
	if (!G.on)
		return;
	pages_forked();
	if (ledger_ours())
		ledger_describe();
}
