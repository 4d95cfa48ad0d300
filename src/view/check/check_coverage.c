/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was looked at in a check for heap errors, in words.
 */
#include "src/view/check/check_coverage.h"

#include "include/pmm/check.h"
#include "src/base/fmt.h"
#include "src/view/report_part.h"

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
	unsigned percent = (unsigned)((double)part * 100 / (double)all);

	if (!part)
		str_add(to, ", none guard pages");
	else if (part == all)
		str_add(to, " and guard pages");
	else if (!percent)
		str_add(to, ", less than 1 % guard pages");
	else
		str_addf(to, ", %u %% guard pages", percent < 100 ? percent : 99);
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
		add_share(to, c->guarded, all);
}

static void add_unguarded(struct str *to, const struct heap_check *c)
{
	struct reasons r = { .to = to,
			     .what = c->level == PMM_CHECK_SAMPLED ? "not guarded"
								   : "no guard pages" };

	reason(&r, c->unguarded_budget, "for their cost (--budget)");
	reason(&r, c->unguarded_limit, "above the limit (--max-guarded)");
	reason(&r, c->unguarded_large, "for their size");
	reason(&r, c->unguarded_refused,
	       c->flags & PMM_CHECK_OPENED ? "as the program had put itself under seccomp"
					   : "as the kernel refused");
}

static void add_unchecked(struct str *to, const struct heap_check *c)
{
	uint64_t early = c->passed_early < c->passed ? c->passed_early : c->passed;
	struct reasons r = { .to = to, .what = "not checked" };

	reason(&r, early, "from before pmm was ready");
	reason(&r, c->passed - early,
	       c->flags & PMM_CHECK_THRIFT ? "for their cost (--budget)"
					   : "where they could not be tracked");
}

static void add_unkept(struct str *to, const struct heap_check *c)
{
	struct reasons r = { .to = to, .what = "not kept after release" };

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
		str_add(to, "no block was in the random sample that has guard pages, so no heap "
			    "error could be found (--sample=BYTES takes more)");
	else if (c->level == PMM_CHECK_SAMPLED)
		str_addf(to, "%s had guard pages, a random sample",
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
