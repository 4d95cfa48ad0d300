/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was checked for heap errors, as a sentence whose numbers add up.
 */
#include "src/view/check/check_coverage.h"

#include "include/pmm/check.h"
#include "src/base/fmt.h"
#include "src/view/report_priv.h"

/* A list of reasons: "; WHAT: 3 above the limit, 2 for their size". */
struct reasons {
	struct str *to;
	const char *what;
	unsigned nr;
};

static void reason(struct reasons *r, uint64_t blocks, const char *why)
{
	if (!blocks)
		return;
	if (r->nr++)
		str_add(r->to, ", ");
	else
		str_addf(r->to, "; %s: ", r->what);
	str_addf(r->to, "%s %s", fmt_count(blocks).s, why);
}

uint64_t check_blocks(const struct heap_check *c)
{
	return c->guarded + c->canaried + (c->level == PMM_CHECK_SAMPLED ? 0 : c->passed);
}

static void add_share(struct str *to, uint64_t part, uint64_t all)
{
	if (!part)
		str_add(to, ", none guard pages");
	else if (part == all)
		str_add(to, " and guard pages");
	else
		str_addf(to, ", %s of them guard pages too", fmt_count(part).s);
}

static void add_canaries(struct str *to, const struct heap_check *c)
{
	uint64_t all = check_blocks(c), checked = all - c->passed;

	if (!all) {
		str_add(to, "no blocks were allocated");
		return;
	}
	if (c->passed)
		str_addf(to, "%s of %s", fmt_count(checked).s, fmt_many(all, "block").s);
	else
		str_addf(to, all == 1 ? "the only block" : "all %s", fmt_many(all, "block").s);
	str_add(to, " had canaries");
	if (c->level == PMM_CHECK_GUARD)
		add_share(to, c->guarded, checked);
}

static uint64_t unguarded(const struct heap_check *c)
{
	return c->unguarded_budget + c->unguarded_limit + c->unguarded_large + c->unguarded_refused;
}

/* Take as much of *excess as there is in *reason. */
static void trim(uint64_t *reason, uint64_t *excess)
{
	uint64_t by = *excess < *reason ? *excess : *reason;

	*reason -= by;
	*excess -= by;
}

/*
 * Why blocks have no guard pages. At the level `guard` the reasons add up to the canaried blocks:
 *
 *	canaried = budget + limit + large + refused + resized
 *
 * Where a block is resized in place no guard pages are asked for. There are more reasons than
 * blocks in captures with PMM_CHECK_THRIFT, whose unchecked blocks are among those of the budget,
 * and by an event that is being recorded while it is read.
 */
static void add_unguarded(struct str *to, const struct heap_check *all)
{
	bool sampled = all->level == PMM_CHECK_SAMPLED;
	struct reasons r = { .to = to, .what = sampled ? "not guarded" : "canaries only" };
	uint64_t blocks = sampled ? unguarded(all) : all->canaried, nr = unguarded(all);
	uint64_t excess = nr > blocks ? nr - blocks : 0;
	struct heap_check c = *all;

	trim(&c.unguarded_budget, &excess);
	trim(&c.unguarded_refused, &excess);
	trim(&c.unguarded_limit, &excess);
	trim(&c.unguarded_large, &excess);
	reason(&r, c.unguarded_budget, "for their cost (--budget)");
	reason(&r, c.unguarded_limit, "above the limit (--max-guarded)");
	reason(&r, c.unguarded_large, "for their size");
	reason(&r, c.unguarded_refused,
	       c.flags & PMM_CHECK_OPENED ? "as the program had put itself under seccomp"
					  : "as the kernel refused");
	reason(&r, nr < blocks ? blocks - nr : 0, "resized in place");
}

static void add_unchecked(struct str *to, const struct heap_check *c)
{
	uint64_t early = c->passed_early < c->passed ? c->passed_early : c->passed;
	struct reasons r = { .to = to, .what = "not checked" };

	reason(&r, early, "from before pmm was ready");
	reason(&r, c->passed - early,
	       c->flags & PMM_CHECK_THRIFT  ? "for their cost (--budget)"
	       : c->flags & PMM_CHECK_ENDED ? "after checking had ended or where they could not "
					      "be tracked"
					    : "where they could not be tracked");
}

static void add_unkept(struct str *to, const struct heap_check *c)
{
	struct reasons r = { .to = to, .what = "not quarantined after release" };

	reason(&r, c->unkept_large, "too large (--quarantine)");
	reason(&r, c->unkept_busy, "as the quarantine was in use");
}

bool check_covers_none(const struct heap_check *c)
{
	return c->level == PMM_CHECK_SAMPLED && !c->guarded;
}

void check_coverage(struct str *to, const struct heap_check *c)
{
	if (check_covers_none(c))
		str_add(to, "no block was in the sample that has guard pages, so no heap error "
			    "could be found (--sample=BYTES sets how many are)");
	else if (c->level == PMM_CHECK_SAMPLED && unguarded(c))
		str_addf(to, "%s of %s in the sample had guard pages",
			 fmt_count(c->guarded).s,
			 fmt_many(c->guarded + unguarded(c), "block").s);
	else if (c->level == PMM_CHECK_SAMPLED)
		str_addf(to, "%s of the sample had guard pages",
			 fmt_many(c->guarded, "block").s);
	else
		add_canaries(to, c);
}

void check_left_out(struct str *to, const struct heap_check *c)
{
	if (c->level != PMM_CHECK_LIGHT)
		add_unguarded(to, c);
	if (c->level != PMM_CHECK_SAMPLED)
		add_unchecked(to, c);
	add_unkept(to, c);
}
