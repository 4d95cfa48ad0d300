/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer in a few sentences. */
#include "src/view/overview/overview.h"

#include "src/analyze/growing.h"
#include "src/base/str.h"
#include "src/document/facts.h"
#include "src/view/heap_facts.h"
#include "src/view/report_priv.h"
#include "src/view/watch.h"

#define LINES_NAMED	3
#define SITES_JUDGED	64	/* the largest; a verdict may take milliseconds */

/* "parse (tree.c:41)" */
static void add_frame(struct str *s, const struct frame_name *f)
{
	report_frame_label(s, f);
	if (f && f->function && f->file && f->line)
		str_addf(s, " (%s:%u)", report_basename(f->file), f->line);
}

static void add_text(struct table *t, const char *name, struct str *s)
{
	facts_text(t, name, s);
	str_fini(s);
}

/* ---- who holds it ---- */

static void add_holders(struct table *t, const struct report *r)
{
	const struct lines *l = &r->lines;
	const uint64_t total = rank_value(r->opt.sort, l->total);
	const bool live = r->opt.sort == RANK_LIVE;
	struct str s = STR_INIT;

	if (rank_by_count(r->opt.sort) || r->opt.sort == RANK_ALLOCATED)
		return;
	if (!total)
		str_add(&s, r->heap->allocs ? "nothing" : "nothing: nothing was allocated");
	for (uint32_t i = 0; total && i < l->nr && i < LINES_NAMED; i++) {
		const struct line *line = &l->line[i];

		if (!line->weight.bytes)
			break;
		str_add(&s, i ? "; " : "");
		add_frame(&s, line->frame);
		str_addf(&s, i ? " %s (%s)" : live ? " %s of %s (%s), in %s"
						   : " %s of %s at the peak (%s), in %s",
			 fmt_bytes(line->weight.bytes).s,
			 i ? fmt_percent(line->weight.bytes, total).s : fmt_bytes(total).s,
			 fmt_percent(line->weight.bytes, total).s,
			 fmt_many(line->weight.count, "block").s);
	}
	if (l->nr_all > LINES_NAMED)
		str_addf(&s, "; and %s",
			 fmt_many((uint64_t)l->nr_all - LINES_NAMED, "more line").s);
	add_text(t, live ? "holds it" : "held it", &s);
}

/* ---- what grows ---- */

struct grower {
	uint32_t site;
	struct growth growth;
};

/* The sites that grow fastest, of the largest; how many. */
static int find_growers(const struct report *r, const struct growing *g,
			struct grower found[LINES_NAMED])
{
	int nr = 0;

	for (uint32_t i = 0; i < r->sites.nr && i < SITES_JUDGED; i++) {
		struct grower x = { .site = r->sites.site[i] };
		int k;

		if (growing_judge_site(g, r->heap, x.site, &x.growth) ||
		    x.growth.verdict != GROWTH_STEADY || x.growth.slope <= 0)
			continue;
		for (k = nr; k > 0 && found[k - 1].growth.slope < x.growth.slope; k--)
			if (k < LINES_NAMED)
				found[k] = found[k - 1];
		if (k < LINES_NAMED)
			found[k] = x;
		nr += nr < LINES_NAMED;
	}
	return nr;
}

static void add_limit(struct str *s, const struct growth *g, const struct limit *limit)
{
	uint64_t left_ns = limit ? growth_time_left(limit->left_bytes, g->slope) : 0;
	bool reached = false;
	struct fmt when = watch_forecast(left_ns, g->until_ns - g->since_ns, &reached);

	if (!limit)
		str_add(s, "; which limit that will meet is not known, a capture has none");
	else
		str_addf(s, reached ? "; at this pace it uses up what the %s leaves (%s) %s"
				    : "; it will not use up what the %s leaves (%s) %s",
			 limit_name(limit->kind), fmt_bytes(limit->left_bytes).s, when.s);
}

static void add_verdict(struct str *s, const struct report *r, const struct growth *whole)
{
	if (whole->verdict == GROWTH_STEADY)
		str_addf(s, "the heap grows steadily by %s since %s", watch_pace(whole->slope).s,
			 report_duration(r->heap, heap_tick_time(r->heap, whole->since_ns)).s);
	else if (whole->verdict == GROWTH_NONE)
		str_addf(s, "the heap does not grow steadily: %s", watch_reason(whole->reason));
	else
		str_addf(s, "not known of the whole heap: that takes %s and %u points in time",
			 fmt_duration_given(GROWTH_MIN_NS).s, GROWTH_MIN_POINTS);
}

static void add_growth(struct table *t, const struct report *r, const struct limit *limit)
{
	struct grower found[LINES_NAMED];
	struct growth whole = { 0 };
	struct growing g = { 0 };
	struct str s = STR_INIT;
	int nr;

	if (growing_past(&g, r->heap) || growing_judge(&g, &whole)) {
		growing_fini(&g);
		return;
	}
	nr = find_growers(r, &g, found);
	add_verdict(&s, r, &whole);
	for (int i = 0; i < nr; i++) {
		const struct heap_site *site = &r->heap->sites[found[i].site];

		str_add(&s, i ? ", " : "; fastest ");
		add_frame(&s, names_responsible(r->names, site->node, NULL));
		str_addf(&s, " by %s", watch_pace(found[i].growth.slope).s);
	}
	if (whole.verdict == GROWTH_STEADY && whole.slope > 0)
		add_limit(&s, &whole, limit);
	growing_fini(&g);
	add_text(t, "grows", &s);
}

/* ---- what only churns, what is explained ---- */

static void add_churn(struct table *t, const struct report *r)
{
	const struct heap *h = r->heap;
	struct lines l = { 0 };
	struct str s = STR_INIT;

	if (!h->allocs || r->selection.from_blocks)
		return;
	if (lines_rank(h, &r->selection, r->names, RANK_TEMPORARY, 1, &l)) {
		lines_fini(&l);
		return;
	}
	if (!heap_has_history(h))
		str_add(&s, "not known: what was freed is not recorded block by block");
	else if (!h->temporary)
		str_add(&s, "no block was freed as its thread's next event");
	else
		str_addf(&s, "%s%s of %s made a block that was freed as its thread's next event",
			 heap_about(h), fmt_percent(h->temporary, h->allocs).s,
			 fmt_many(h->allocs, "call").s);
	if (h->temporary && l.nr && l.line[0].weight.count) {
		str_add(&s, "; most in ");
		add_frame(&s, l.line[0].frame);
		str_addf(&s, ": %s", fmt_many(l.line[0].weight.count, "call").s);
	}
	lines_fini(&l);
	add_text(t, "churns", &s);
}

static void add_explained(struct table *t, const struct heap *h)
{
	struct heap_resident resident;

	if (!heap_resident(h, &resident) || !resident.bytes) {
		facts_add(t, "explained", "resident memory was not seen");
		return;
	}
	if (h->live_bytes > resident.bytes)
		facts_add(t, "explained",
			  "more is live (%s) than resident (%s): not all of it was touched, or it "
			  "was swapped out",
			  fmt_bytes(h->live_bytes).s, fmt_bytes(resident.bytes).s);
	else
		facts_add(t, "explained", "live blocks are %s%s of %s resident memory (%s)",
			  heap_about(h), fmt_bytes(h->live_bytes).s, fmt_bytes(resident.bytes).s,
			  fmt_percent(h->live_bytes, resident.bytes).s);
}

struct table *overview_facts(const struct report *r, const struct limit *limit)
{
	const bool filtered = filter_by_stack(&r->opt.filter) || filter_by_block(&r->opt.filter);
	struct table *t = facts_new(NULL);

	if (!t)
		return NULL;
	report_filter_row(t, &r->opt.filter, report_passes_none(r));
	add_holders(t, r);
	if (!filtered) {
		add_growth(t, r, limit);
		add_churn(t, r);
		add_explained(t, r->heap);
	}
	return t;
}
