/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching in tables: a site is a headline, what happened to its blocks, and its stack.
 */
#include "src/view/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/view/report_priv.h"
#include "src/view/stack_view.h"

#define FRAMES 8	/* callers shown */

struct fmt watch_pace(double pace)
{
	static const struct {
		double seconds;
		const char *unit;
	} units[] = { { 1, "s" }, { 60, "min" }, { 3600, "h" }, { 86400, "day" } };
	struct fmt f;
	unsigned i = 0;

	while (i < 3 && fabs(pace) * units[i].seconds < 10)
		i++;
	snprintf(f.s, sizeof(f.s), "%s%.20s/%s", pace < 0 ? "-" : "",
		 fmt_bytes(estimate_round(fabs(pace) * units[i].seconds)).s, units[i].unit);
	return f;
}

struct fmt watch_forecast(uint64_t left_ns, uint64_t seen_ns, bool *reached)
{
	uint64_t most_ns = growth_forecast_ns(seen_ns);
	struct fmt f;

	*reached = left_ns <= most_ns;
	snprintf(f.s, sizeof(f.s), "%s %.28s", *reached ? "in about" : "within",
		 fmt_duration_rough(*reached ? left_ns : most_ns).s);
	return f;
}

struct fmt watch_range(uint64_t from_ns, uint64_t to_ns, uint64_t tick_ns)
{
	struct fmt f, from = fmt_duration_step(from_ns, tick_ns),
		      to = fmt_duration_step(to_ns, tick_ns);
	char *unit = strchr(from.s, ' ');

	if (from_ns >= to_ns)
		return from;
	if (unit && str_ends(to.s, unit))
		*unit = '\0';		/* once is enough */
	if (from_ns)
		snprintf(f.s, sizeof(f.s), "%.12s to %.12s", from.s, to.s);
	else
		snprintf(f.s, sizeof(f.s), "under %.20s", to.s);
	return f;
}

const char *watch_reason(enum growth_reason reason)
{
	static const char *const text[] = {
		[GROWTH_REASON_NONE] = "",
		[GROWTH_NO_TREND] = "it stays, falls, or goes up and down",
		[GROWTH_ONE_STEP] = "most of it came at one moment",
		[GROWTH_LEVELLED] = "it rose and then levelled off",
		[GROWTH_PEAKS_ONLY] = "only its peaks rise",
		[GROWTH_TURNOVER] = "blocks from before the attach were freed meanwhile, and it "
				    "may only replace them",
	};

	_Static_assert(sizeof(text) / sizeof(*text) == GROWTH_NR_REASONS, "a text for each");
	return text[reason];
}

/* ---- a stack ---- */

enum { STACK_LABEL, STACK_TAIL, STACK_NR };

struct table *watch_stack(const struct heap *h, struct names *n, uint32_t site)
{
	static const struct column columns[STACK_NR] = {
		[STACK_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
		[STACK_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
	};
	static const struct stack_columns where = { .label = STACK_LABEL, .text_only = true };
	struct table *t = table_new(TABLE_TREE, NULL, NULL, columns, STACK_NR);
	const struct frame_name *f = names_responsible(n, h->sites[site].node, NULL);

	if (!t)
		return NULL;
	table_row(t, 1, ROW_STRONG, ROW_BOTH);
	report_set_label(t, STACK_LABEL, f);
	stack_add(t, n, h->sites[site].node, f, FRAMES, "", &where);
	return t;
}

/* ---- the sites at the end ---- */

enum {
	SITE_NUMBER,
	SITE_EXPIRED_BYTES,
	SITE_EXPIRED_BLOCKS,
	SITE_LABEL,
	SITE_TAIL,
	SITE_NR,
};

static const struct column site_columns[SITE_NR] = {
	[SITE_NUMBER] = { NULL, "#", UNIT_NUMBER, COLUMN_TEXT_ONLY | COLUMN_ZERO_BLANK },
	[SITE_EXPIRED_BYTES] = TEXT_COLUMN("expired", UNIT_BYTES),
	[SITE_EXPIRED_BLOCKS] = TEXT_COLUMN("blocks", UNIT_COUNT),
	[SITE_LABEL] = { NULL, "stack", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[SITE_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

struct sites {
	const struct heap *heap;
	struct names *names;
	const struct watch_site *site;
	uint64_t left_bytes;
};

static void detail(struct table *t, struct str *s)
{
	table_row(t, 1, ROW_DIM, ROW_BOTH);
	table_sentence(t);
	table_set_text(t, SITE_LABEL, table_text(t, s));
	str_clear(s);
}

void watch_doubt(struct str *s, const struct evidence *x)
{
	uint64_t born = 0;

	for (unsigned i = 0; i < EVIDENCE_PARTS; i++)
		born += x->born[i];
	if (!(x->has & EVIDENCE_MANY))
		str_addf(s, "%s %s too few to tell", fmt_many(born, "block").s,
			 fmt_agree(born, "is", "are"));
	else if (!(x->has & EVIDENCE_KEPT) && !x->freed_aged)
		str_add(s, "it is not known whether older blocks were freed for it");
	else if (!(x->has & EVIDENCE_KEPT))
		str_addf(s, "%s that lived as long %s freed", fmt_many(x->freed_aged, "block").s,
			 fmt_agree(x->freed_aged, "was", "were"));
	else if (!(x->has & EVIDENCE_SPREAD))
		str_add(s, "it does not grow all of the time");
	else if (!(x->has & EVIDENCE_PACE))
		str_add(s, "it slows down, as a cache that fills up");
	else if (!(x->has & EVIDENCE_LONG))
		str_addf(s, "a cache that fills does the same: likely a leak after %s",
			 fmt_duration_given(x->long_ns).s);
}

/* Is it a leak that grows? */
static void add_evidence(struct table *t, const struct evidence *x)
{
	struct str d = STR_INIT;

	if (x->has == EVIDENCE_ALL) {
		str_add(&d, "likely a leak: it grows steadily, does not slow down, and its old "
			    "blocks are not freed");
	} else if (x->has) {
		str_add(&d, "may be a leak: ");
		watch_doubt(&d, x);
	}
	if (x->has)
		detail(t, &d);
	str_fini(&d);
}

static void add_growth(struct table *t, const struct watch_site *w, uint64_t left_bytes)
{
	const struct growth *g = &w->growth;
	uint64_t left_ns = growth_time_left(left_bytes, g->slope);
	struct str d = STR_INIT;
	bool reached;

	str_addf(&d, "GROWS steadily by %s ", watch_pace(g->slope).s);
	str_addf(&d, "(%s to ", watch_pace(g->slope_low).s);
	str_addf(&d, "%s in 19 of 20 cases)", watch_pace(g->slope_high).s);
	detail(t, &d);
	add_evidence(t, &w->evidence);
	if (left_bytes != UINT64_MAX && left_ns != UINT64_MAX) {
		struct fmt when = watch_forecast(left_ns, g->until_ns - g->since_ns, &reached);

		str_addf(&d, reached ? "at this pace it alone uses up what the limit leaves %s"
				     : "alone it will not use up what the limit leaves %s",
			 when.s);
		detail(t, &d);
	}
	str_fini(&d);
}

static void add_details(struct table *t, const struct sites *x, const struct watch_site *w)
{
	const struct heap_site *s = &x->heap->sites[w->row.site];
	const struct expiry_row *r = &w->row;
	struct str d = STR_INIT;

	str_addf(&d, "live: %s, %s", fmt_many(r->live.blocks, "block").s,
		 fmt_bytes(r->live.bytes).s);
	if (r->live.blocks)
		str_addf(&d, ", the oldest %s old", report_duration(x->heap, r->oldest_ns).s);
	detail(t, &d);
	str_addf(&d, "%s of %s, ", fmt_many(s->allocs, "allocation").s,
		 fmt_bytes(s->bytes_in).s);
	if (s->frees)
		str_addf(&d, "%s of %s", fmt_many(s->frees, "free").s,
			 fmt_bytes(s->bytes_out).s);
	else
		str_add(&d, "no frees");
	detail(t, &d);
	if (r->ever.blocks) {
		str_addf(&d, "expired so far: %s, %s; freed after that: ",
			 fmt_many(r->ever.blocks, "block").s, fmt_bytes(r->ever.bytes).s);
		if (r->freed.blocks)
			str_addf(&d, "%s, %s", fmt_many(r->freed.blocks, "block").s,
				 fmt_bytes(r->freed.bytes).s);
		else
			str_add(&d, "none");
		detail(t, &d);
	}
	if (r->lifetime.nr) {
		str_addf(&d, "freed: lived min %s, ",
			 watch_range(r->lifetime.min.from_ns, r->lifetime.min.to_ns,
				     x->heap->tick_ns)
				 .s);
		str_addf(&d, "mean %s, ",
			 watch_range(r->lifetime.mean.from_ns, r->lifetime.mean.to_ns,
				     x->heap->tick_ns)
				 .s);
		str_addf(&d, "max %s",
			 watch_range(r->lifetime.max.from_ns, r->lifetime.max.to_ns,
				     x->heap->tick_ns)
				 .s);
		detail(t, &d);
	}
	if (w->growth.verdict == GROWTH_STEADY) {
		add_growth(t, w, x->left_bytes);
	} else if (w->growth.reason == GROWTH_TURNOVER) {
		str_addf(&d, "grows, but %s", watch_reason(GROWTH_TURNOVER));
		detail(t, &d);
	}
	str_fini(&d);
}

static void add_site(struct table *t, const struct sites *x, const struct watch_site *w)
{
	static const struct stack_columns where = { .label = SITE_LABEL, .text_only = true };
	const struct expiry_row *r = &w->row;
	uint32_t node = x->heap->sites[r->site].node;
	const struct frame_name *f = names_responsible(x->names, node, NULL);

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, SITE_NUMBER, r->number);
	table_set(t, SITE_EXPIRED_BYTES, r->expired.bytes);
	table_set(t, SITE_EXPIRED_BLOCKS, r->expired.blocks);
	report_set_label(t, SITE_LABEL, f);
	add_details(t, x, w);
	stack_add(t, x->names, node, f, FRAMES, "", &where);
}

struct table *watch_sites(const struct heap *h, struct names *n, const struct watch_site *site,
			  size_t nr, size_t nr_all, uint64_t left_bytes)
{
	struct table *t = table_new(TABLE_TREE, NULL, "Sites", site_columns, SITE_NR);
	struct sites x = { .heap = h, .names = n, .site = site, .left_bytes = left_bytes };

	if (!t)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		add_site(t, &x, &site[i]);
	if (nr < nr_all)
		table_note(t, "%s more sites (--top 0 shows all)", fmt_count(nr_all - nr).s);
	return t;
}
