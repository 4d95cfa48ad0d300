/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites in the report: stacks one by one, of the heap and of mmap. A stack's headline is the frame
 * that answers for it.
 */
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/analyze/lifetimes.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/view/report_priv.h"
#include "src/view/stack_view.h"

#define TEXT_FRAMES 8 /* callers shown unless --depth says otherwise */

/* ---- stacks ---- */

enum {
	SITE_NUMBER,
	SITE_LIVE_BYTES,
	SITE_LIVE_BLOCKS,
	SITE_LIVE_ERROR,
	SITE_PEAK_BYTES,
	SITE_PEAK_BLOCKS,
	SITE_ALLOCATED,
	SITE_FREED,
	SITE_ALLOCS,
	SITE_FREES,
	SITE_TEMPORARY,
	SITE_TEMPORARY_PERCENT,
	SITE_MEAN,
	SITE_MAX,
	SITE_FAILED,
	SITE_ZERO,
	SITE_HUGE,
	SITE_FIRST,
	SITE_LAST,
	SITE_SAMPLES_IN,
	SITE_SAMPLES_OUT,
	SITE_LIFETIMES,
	SITE_CUT,
	SITE_FRAME,
	SITE_INLINED = SITE_FRAME + 6,
	SITE_ROLE,
	SITE_BYTES,
	SITE_SHARE,
	SITE_COUNT,
	SITE_LABEL,
	SITE_TAIL,
	SITE_NR,
};

static const struct column site_columns[SITE_NR] = {
	[SITE_NUMBER] = JSON_COLUMN("site", UNIT_NUMBER),
	[SITE_LIVE_BYTES] = JSON_COLUMN("live_bytes", UNIT_BYTES),
	[SITE_LIVE_BLOCKS] = JSON_COLUMN("live_blocks", UNIT_COUNT),
	[SITE_LIVE_ERROR] = JSON_COLUMN("live_error_bytes", UNIT_BYTES),
	[SITE_PEAK_BYTES] = JSON_COLUMN("peak_bytes", UNIT_BYTES),
	[SITE_PEAK_BLOCKS] = JSON_COLUMN("peak_blocks", UNIT_COUNT),
	[SITE_ALLOCATED] = JSON_COLUMN("allocated_bytes", UNIT_BYTES),
	[SITE_FREED] = JSON_COLUMN("freed_bytes", UNIT_BYTES),
	[SITE_ALLOCS] = JSON_COLUMN("allocs", UNIT_COUNT),
	[SITE_FREES] = JSON_COLUMN("frees", UNIT_COUNT),
	[SITE_TEMPORARY] = JSON_COLUMN("temporary", UNIT_COUNT),
	[SITE_TEMPORARY_PERCENT] = JSON_COLUMN("temporary_percent", UNIT_PERCENT),
	[SITE_MEAN] = JSON_COLUMN("mean_bytes", UNIT_BYTES),
	[SITE_MAX] = JSON_COLUMN("max_bytes", UNIT_BYTES),
	[SITE_FAILED] = JSON_COLUMN("failed", UNIT_COUNT),
	[SITE_ZERO] = JSON_COLUMN("zero_size", UNIT_COUNT),
	[SITE_HUGE] = JSON_COLUMN("huge", UNIT_COUNT),
	[SITE_FIRST] = JSON_COLUMN("first_ns", UNIT_DURATION),
	[SITE_LAST] = JSON_COLUMN("last_ns", UNIT_DURATION),
	[SITE_SAMPLES_IN] = JSON_COLUMN("samples_in", UNIT_COUNT),
	[SITE_SAMPLES_OUT] = JSON_COLUMN("samples_out", UNIT_COUNT),
	[SITE_LIFETIMES] = JSON_COLUMN("lifetimes", UNIT_BARS),
	[SITE_CUT] = JSON_COLUMN("frames_left_out", UNIT_COUNT),
	[SITE_FRAME] = REPORT_FRAME_COLUMNS,
	[SITE_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL),
	[SITE_ROLE] = JSON_COLUMN("role", UNIT_TEXT),
	[SITE_BYTES] = TEXT_COLUMN(NULL, UNIT_BYTES),
	[SITE_SHARE] = { "share_percent", "share", UNIT_PERCENT },
	[SITE_COUNT] = TEXT_COLUMN(NULL, UNIT_COUNT),
	[SITE_LABEL] = { NULL, "stack", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[SITE_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

/* What is known of every site, from its counters. */
static void set_counters(struct table *t, const struct report *r, const struct heap_site *s)
{
	uint64_t lifetimes[HEAP_NR_LIFETIMES];
	const struct heap *h = r->heap;

	table_set(t, SITE_PEAK_BYTES, s->peak_bytes > 0 ? (uint64_t)s->peak_bytes : 0);
	table_set(t, SITE_PEAK_BLOCKS, s->peak_blocks > 0 ? (uint64_t)s->peak_blocks : 0);
	if (heap_import_allocated(h)) {
		table_set(t, SITE_ALLOCATED, s->bytes_in);
		table_set(t, SITE_FREED, s->bytes_out);
		table_set(t, SITE_ALLOCS, s->allocs);
		table_set(t, SITE_FREES, s->frees);
	}
	table_set(t, SITE_TEMPORARY, s->temporary);
	table_set_float(t, SITE_TEMPORARY_PERCENT, report_percent(s->temporary, s->allocs));
	table_set(t, SITE_MEAN, s->allocs ? s->bytes_in / s->allocs : 0);
	table_set(t, SITE_MAX, s->max_bytes);
	table_set(t, SITE_FAILED, s->failed);
	table_set(t, SITE_ZERO, s->zero_size);
	table_set(t, SITE_HUGE, s->huge);
	table_set(t, SITE_FIRST, heap_tick_time(h, s->first_ns));
	table_set(t, SITE_LAST, heap_tick_time(h, s->last_ns));
	if (h->mode == HEAP_SAMPLED) {
		table_set(t, SITE_SAMPLES_IN, s->samples_in);
		table_set(t, SITE_SAMPLES_OUT, s->samples_out);
	}
	heap_lifetimes_get(h, s, lifetimes);
	table_copy_bars(t, SITE_LIFETIMES, lifetimes, HEAP_NR_LIFETIMES);
}

static void detail(struct table *t, struct str *s)
{
	table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
	table_sentence(t);
	table_set_text(t, SITE_LABEL, table_text(t, s));
	str_clear(s);
}

/* "allocated from 20 ms to 580 ms", both counted from where its tracking began. */
static void add_made(struct str *d, const struct heap *h, const struct heap_site *s)
{
	uint64_t first_ns = heap_tick_time(h, s->first_ns), last_ns = heap_tick_time(h, s->last_ns);

	if (last_ns <= first_ns)
		str_addf(d, "allocated %s", report_after(h, s->first_ns).s);
	else
		str_addf(d, "allocated from %s to %s",
			 first_ns < h->tick_ns ? "the start" : report_duration(h, first_ns).s,
			 report_duration(h, last_ns).s);
}

/* What the headline does not say. */
static void add_detail(struct table *t, const struct report *r, const struct heap_site *s,
		       uint32_t number)
{
	const struct heap *h = r->heap;
	uint64_t lifetimes[HEAP_NR_LIFETIMES];
	bool timed = heap_import_history(h);
	struct str d = STR_INIT;
	unsigned median;

	heap_lifetimes_get(h, s, lifetimes);
	median = lifetime_quantile(lifetimes, 50);
	if (heap_import_allocated(h))
		str_addf(&d, "%s, %s, mean %s", fmt_many(s->allocs, "call").s,
			 fmt_bytes(s->bytes_in).s,
			 fmt_bytes(s->allocs ? s->bytes_in / s->allocs : 0).s);
	if (timed)
		str_addf(&d, ", max %s", fmt_bytes(s->max_bytes).s);
	if (s->temporary)
		str_addf(&d, ", %s temporary", fmt_percent(s->temporary, s->allocs).s);
	if (d.len)
		detail(t, &d);
	if (timed)
		add_made(&d, h, s);
	if (median + 1 < HEAP_NR_LIFETIMES)
		str_addf(&d, "; %s freed, median lifetime under %s", fmt_count(s->frees).s,
			 report_duration(h, lifetime_from_ns(h, median + 1)).s);
	else if (median < HEAP_NR_LIFETIMES)
		str_addf(&d, "; %s freed, median lifetime over %s", fmt_count(s->frees).s,
			 report_duration(h, lifetime_from_ns(h, median)).s);
	if (d.len)
		detail(t, &d);
	report_unusual(&d, s->failed, s->zero_size, s->huge);
	if (d.len)
		detail(t, &d);
	if (r->site_error_bytes) {
		str_addf(&d, "from %s", fmt_many(s->samples_in, "sample").s);
		if (r->site_error_bytes[number] > 0)
			str_addf(&d, "; live within %s in 19 of 20 cases",
				 fmt_bytes(estimate_round(r->site_error_bytes[number])).s);
		detail(t, &d);
	}
	str_fini(&d);
}

static void add_stack(struct table *t, struct report *r, const struct stack_cut *cut, uint32_t node,
		      const struct frame_name *responsible)
{
	const struct stack_columns columns = {
		.frame = SITE_FRAME,
		.inlined = SITE_INLINED,
		.role = SITE_ROLE,
		.label = SITE_LABEL,
		.cut = stack_cut_off(cut, r->depth[node]),
		.most = cut->frames,
	};

	stack_add(t, r->names, node, responsible, r->opt.depth_given ? r->opt.depth : TEXT_FRAMES,
		  " (--depth 0 shows all)", &columns);
}

static void add_site(struct table *t, struct report *r, const struct heap_site *s,
		     struct weight live, struct weight weight, uint64_t total, enum rank_key key)
{
	const struct frame_name *f = names_responsible(r->names, s->node, NULL);

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, SITE_LIVE_BYTES, live.bytes);
	table_set(t, SITE_LIVE_BLOCKS, live.count);
	table_set(t, SITE_BYTES, weight.bytes);
	table_set(t, SITE_COUNT, weight.count);
	table_set_float(t, SITE_SHARE, report_percent(rank_value(key, weight), total));
	report_set_frame(t, SITE_FRAME, f);
	report_set_label(t, SITE_LABEL, f);
}

static void set_cut(struct table *t, const struct report *r, const struct stack_cut *cut,
		    uint32_t node)
{
	if (stack_cut_off(cut, r->depth[node]))
		table_set(t, SITE_CUT, stack_cut_off(cut, r->depth[node]));
}

static void fill_site(struct table *t, uint64_t i)
{
	struct report *r = t->ctx;
	uint32_t number = r->sites.site[i];
	const struct heap_site *s = &r->heap->sites[number];
	const struct frame_name *f = names_responsible(r->names, s->node, NULL);

	add_site(t, r, s, rank_weight(r->heap, &r->selection, RANK_LIVE, number),
		 rank_weight(r->heap, &r->selection, r->opt.sort, number),
		 rank_value(r->opt.sort, r->sites.total), r->opt.sort);
	table_set(t, SITE_NUMBER, number);
	set_cut(t, r, &r->cut, s->node);
	if (r->site_error_bytes)
		table_set(t, SITE_LIVE_ERROR, estimate_round(r->site_error_bytes[number]));
	if (!r->selection.from_blocks) {
		set_counters(t, r, s);
		add_detail(t, r, s, number);
	}
	add_stack(t, r, &r->cut, s->node, f);
}

static struct table *stacks_table(struct report *r, const char *key, const char *title,
				  enum rank_key sort)
{
	struct table *t = table_new(TABLE_TREE, key, title, NULL, SITE_NR);
	struct column *columns = t ? arena_alloc(&t->note_text, sizeof(site_columns)) : NULL;

	if (!columns) {
		table_free(t);
		return NULL;
	}
	memcpy(columns, site_columns, sizeof(site_columns));
	columns[SITE_BYTES].title = report_titles[sort].bytes;
	columns[SITE_COUNT].title = report_titles[sort].count;
	if (!report_titles[sort].bytes)
		columns[SITE_BYTES].flags = COLUMN_JSON_ONLY;
	t->column = columns;
	t->children_key = "frames";
	t->bars_nr = HEAP_NR_LIFETIMES;
	t->ctx = r;
	return t;
}

void report_sites(struct report *r)
{
	struct table *t = stacks_table(r, "sites", report_titles[r->opt.sort].stacks, r->opt.sort);

	if (t) {
		t->estimated = r->heap->mode == HEAP_SAMPLED;
		t->fill = fill_site;
		t->nr_groups = r->sites.nr;
		r->left_out[REPORT_SITES] = r->sites.nr_all + r->sites.nr_idle - r->sites.nr;
		if (r->sites.nr < r->sites.nr_all)
			table_note(t, "%s (--top 0 shows all)",
				   fmt_many(r->sites.nr_all - r->sites.nr, "more stack").s);
		else if (!r->sites.nr)
			table_note(t, "nothing to show");
		t->json_only = !r->heap->allocs && !r->heap->failed;
	}
	doc_add(&r->doc, t);
}

/* ---- stacks of mmap ---- */

static void fill_map_site(struct table *t, uint64_t i)
{
	struct report *r = t->ctx;
	uint32_t number = r->map_sites.site[i];
	const struct heap_site *s = &r->heap->map_sites[number];
	struct weight live = { s->live_bytes > 0 ? (uint64_t)s->live_bytes : 0,
			       s->live_blocks > 0 ? (uint64_t)s->live_blocks : 0 };

	add_site(t, r, s, live, live, r->map_sites.total.bytes, RANK_LIVE);
	table_set(t, SITE_NUMBER, number);
	set_counters(t, r, s);
	set_cut(t, r, &r->map_cut, s->node);
	add_stack(t, r, &r->map_cut, s->node, names_responsible(r->names, s->node, NULL));
}

void report_map_sites(struct report *r)
{
	struct table *t = stacks_table(r, "map_sites", "Stacks of mmap by bytes mapped", RANK_LIVE);

	if (t) {
		t->fill = fill_map_site;
		t->nr_groups = r->map_sites.nr;
		r->left_out[REPORT_MAP_SITES] = r->map_sites.nr_all - r->map_sites.nr;
		t->json_only = r->map_sites.total.bytes == 0; /* nothing mapped any more */
		if (r->map_sites.nr < r->map_sites.nr_all)
			table_note(
				t, "%s (--top 0 shows all)",
				fmt_many(r->map_sites.nr_all - r->map_sites.nr, "more stack").s);
	}
	doc_add(&r->doc, t);
}
