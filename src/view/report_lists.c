/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists in the report: threads, blocks, modules, and the heap over time.
 */
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/view/report_priv.h"

/* ---- over time ---- */

static const struct column history_columns[] = {
	{ "time_ns", NULL, UNIT_DURATION },  { "live_bytes", NULL, UNIT_BYTES },
	{ "live_blocks", NULL, UNIT_COUNT }, { "allocs", NULL, UNIT_COUNT },
	{ "rss_bytes", NULL, UNIT_BYTES },
};

enum {
	POINT_TIME_NS,
	POINT_SITE,
	POINT_LIVE_BYTES,
	POINT_LIVE_BLOCKS,
	POINT_NR,
};

static const struct column site_history_columns[POINT_NR] = {
	[POINT_TIME_NS] = { "time_ns", NULL, UNIT_DURATION },
	[POINT_SITE] = { "site", NULL, UNIT_NUMBER },
	[POINT_LIVE_BYTES] = { "live_bytes", NULL, UNIT_BYTES },
	[POINT_LIVE_BLOCKS] = { "live_blocks", NULL, UNIT_COUNT },
};

static void fill_site_point(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;
	const struct heap_site_point *p = &r->heap->site_points[i];

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, POINT_TIME_NS, heap_tick_time(r->heap, p->time_ns));
	table_set(t, POINT_SITE, p->site);
	table_set(t, POINT_LIVE_BYTES, p->live_bytes);
	table_set(t, POINT_LIVE_BLOCKS, p->live_blocks);
}

/* The end is known finer than by steps of the agent's clock; the peak's is that of the totals. */
static uint64_t point_time(const struct heap *h, const struct history *y, size_t i)
{
	uint64_t ns = y->point[i].time_ns, run_ns = report_run_ns(h);

	return run_ns && ns >= h->taken_ns && i > y->peak ? run_ns : heap_tick_time(h, ns);
}

void report_history(struct report *r)
{
	const struct history *y = &r->history;
	struct series *s = series_new("history", "Live bytes over time", history_columns,
				      NR_COLUMNS(history_columns), y->nr);
	struct table *t = table_new(TABLE_ROWS, "site_history", NULL, site_history_columns,
				    POINT_NR);

	for (size_t i = 0; s && i < y->nr; i++) {
		const struct heap_point *p = &y->point[i];

		series_set(s, i, 0, point_time(r->heap, y, i));
		series_set(s, i, 1, p->live_bytes);
		series_set(s, i, 2, p->live_blocks);
		series_set(s, i, 3, p->allocs);
		series_set(s, i, 4, p->rss_bytes);
	}
	if (s) {
		s->tick_ns = r->heap->tick_ns;
		s->estimated = r->heap->mode == HEAP_SAMPLED;
		s->mark = y->peak;
		s->mark_key = "peak_index";
		s->mark_name = "peak";
		/*
		 * no sample was taken meanwhile: beginning, peak and end would be drawn as if
		 * nothing had been between
		 */
		s->json_only = r->heap->nr_points < 2 || !r->heap->peak_bytes;
	}
	if (s && report_kernel_marks(s, r->heap)) {
		series_free(s);
		s = NULL;
	}
	doc_add_series(&r->doc, s);
	if (t) {
		t->json_only = true;
		t->estimated = r->heap->mode == HEAP_SAMPLED;
		t->fill = fill_site_point;
		t->nr_groups = r->heap->nr_site_points;
		t->ctx = r;
	}
	doc_add(&r->doc, t);
	report_usage(r);
	report_marks(r);
	report_kernel_bins(r);
}

/* ---- threads ---- */

enum {
	THREAD_TID,
	THREAD_NAME,
	THREAD_ALIVE,
	THREAD_START_NS,
	THREAD_ALLOCS,
	THREAD_FREES,
	THREAD_ALLOCATED_BYTES,
	THREAD_FREED_BYTES,
	THREAD_NR,
};

static const struct column thread_columns[THREAD_NR] = {
	[THREAD_TID] = { "tid", "tid", UNIT_NUMBER },
	[THREAD_NAME] = { "name", "thread", UNIT_TEXT },
	[THREAD_ALIVE] = { "alive", "alive", UNIT_BOOL },
	[THREAD_START_NS] = { "start_ns", "since", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[THREAD_ALLOCS] = { "allocs", "allocs", UNIT_COUNT },
	[THREAD_FREES] = { "frees", "frees", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[THREAD_ALLOCATED_BYTES] = { "allocated_bytes", "allocated", UNIT_BYTES },
	[THREAD_FREED_BYTES] = { "freed_bytes", "freed", UNIT_BYTES, COLUMN_ZERO_BLANK },
};

#define MAX_THREADS 64 /* in text */

/*
 * The up to `top` threads that allocated most, in order; among equals the one that came first.
 * Returns how many.
 */
static uint32_t top_threads(const struct heap *h, uint64_t top, uint32_t *shown)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < h->nr_threads; i++) {
		uint32_t at = nr;

		while (at && h->threads[i].bytes_in > h->threads[shown[at - 1]].bytes_in)
			at--;
		if (at >= top)
			continue;
		nr += nr < top;
		memmove(&shown[at + 1], &shown[at], (nr - at - 1) * sizeof(*shown));
		shown[at] = i;
	}
	return nr;
}

static void add_thread(struct table *t, const struct heap *h, const struct heap_thread *th,
		       enum row_where where)
{
	table_row(t, 0, ROW_PLAIN, where);
	table_set(t, THREAD_TID, th->tid);
	table_set_const(t, THREAD_NAME, th->name);
	/* what is left of one that has ended does not say who was there to the end */
	if (!th->alive || h->end == HEAP_RUNNING)
		table_set(t, THREAD_ALIVE, th->alive);
	table_set(t, THREAD_START_NS, heap_tick_time(h, th->start_ns));
	table_set(t, THREAD_ALLOCS, th->allocs);
	table_set(t, THREAD_FREES, th->frees);
	table_set(t, THREAD_ALLOCATED_BYTES, th->bytes_in);
	table_set(t, THREAD_FREED_BYTES, th->bytes_out);
}

/* In text the threads that allocated most; JSON has all in order of appearance. */
void report_threads(struct report *r)
{
	const struct heap *h = r->heap;
	uint64_t top = r->opt.top && r->opt.top < MAX_THREADS ? r->opt.top : MAX_THREADS;
	struct table *t = table_new(TABLE_ROWS, "threads", "Threads by bytes allocated",
				    thread_columns, THREAD_NR);
	uint32_t shown[MAX_THREADS], nr = top_threads(h, top, shown);

	if (t) {
		t->tick_ns = h->tick_ns;
		t->estimated = h->mode == HEAP_SAMPLED;
		for (uint32_t i = 0; i < nr; i++)
			if (h->threads[shown[i]].allocs || h->threads[shown[i]].frees)
				add_thread(t, h, &h->threads[shown[i]], ROW_TEXT_ONLY);
		for (uint32_t i = 0; i < h->nr_threads; i++)
			add_thread(t, h, &h->threads[i], ROW_JSON_ONLY);
		if (nr < h->nr_threads)
			table_note(t, "%s (--json has all)",
				   fmt_many(h->nr_threads - nr, "more thread").s);
	}
	doc_add(&r->doc, t);
}

/* ---- blocks ---- */

enum {
	BLOCK_NUMBER,
	BLOCK_SIZE,
	BLOCK_ADDRESS,
	BLOCK_ENTRY,
	BLOCK_AGE,
	BLOCK_BIRTH,
	BLOCK_BORN,
	BLOCK_THREAD,
	BLOCK_THREAD_NAME,
	BLOCK_TID,
	BLOCK_SITE,
	BLOCK_WEIGHT,
	BLOCK_FRAME,
	BLOCK_LABEL = BLOCK_FRAME + 6,
	BLOCK_TAIL,
	BLOCK_NR
};

static const struct column block_columns[BLOCK_NR] = {
	[BLOCK_NUMBER] = { "number", "#", UNIT_NUMBER },
	[BLOCK_SIZE] = { "size_bytes", "size", UNIT_BYTES },
	[BLOCK_ADDRESS] = { "address", "address", UNIT_ADDRESS },
	[BLOCK_ENTRY] = { "entry", "entry", UNIT_TEXT },
	[BLOCK_AGE] = { "age_ns", "age", UNIT_DURATION },
	[BLOCK_BIRTH] = JSON_COLUMN("birth_ns", UNIT_DURATION),
	[BLOCK_BORN] = { "born_realtime_ns", "allocated at", UNIT_TIME },
	[BLOCK_THREAD] = JSON_COLUMN("thread", UNIT_TEXT),
	[BLOCK_THREAD_NAME] = JSON_COLUMN("thread_name", UNIT_TEXT),
	[BLOCK_TID] = JSON_COLUMN("tid", UNIT_NUMBER),
	[BLOCK_SITE] = JSON_COLUMN("site", UNIT_NUMBER),
	[BLOCK_WEIGHT] = JSON_COLUMN("stands_for_blocks", UNIT_FLOAT),
	[BLOCK_FRAME] = REPORT_FRAME_COLUMNS,
	[BLOCK_LABEL] = { NULL, "line", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[BLOCK_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void fill_block(struct table *t, uint64_t i)
{
	struct report *r = t->ctx;
	const struct heap *h = r->heap;
	const struct heap_block *b = &h->blocks[r->block[i]];
	const struct frame_name *f = names_responsible(r->names, h->sites[b->site].node, NULL);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, BLOCK_NUMBER, i + 1);
	table_set(t, BLOCK_SIZE, b->size_bytes);
	table_set(t, BLOCK_ADDRESS, b->address);
	table_set_const(t, BLOCK_ENTRY, kind_name(b->kind));
	table_set(t, BLOCK_AGE, report_age(h, h->taken_ns, b->birth_ns));
	table_set(t, BLOCK_BIRTH, heap_tick_time(h, b->birth_ns));
	table_set(t, BLOCK_BORN, h->start_realtime_ns + b->birth_ns);
	if (b->thread < h->nr_threads) {
		table_set_const(t, BLOCK_THREAD, h->threads[b->thread].name);
		table_set_const(t, BLOCK_THREAD_NAME, h->threads[b->thread].name);
		table_set(t, BLOCK_TID, h->threads[b->thread].tid);
	}
	table_set(t, BLOCK_SITE, b->site);
	table_set_float(t, BLOCK_WEIGHT, estimate_weight(h, b->size_bytes));
	report_set_frame(t, BLOCK_FRAME, f);
	report_set_label(t, BLOCK_LABEL, f);
}

void report_blocks(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "blocks", "Live blocks, largest first",
				    block_columns, BLOCK_NR);
	uint64_t all = r->selection.nr_blocks;

	r->left_out[REPORT_BLOCKS] = all - r->nr_blocks;
	if (t) {
		t->tick_ns = r->heap->tick_ns;
		t->fill = fill_block;
		t->nr_groups = r->nr_blocks;
		t->ctx = r;
		if (r->nr_blocks < all)
			table_note(t, "%s more blocks (--top 0 shows all)",
				   fmt_count(all - r->nr_blocks).s);
		else if (!all)
			table_note(t, "none");
		if (r->heap->mode == HEAP_SAMPLED)
			table_note(t, "sampled: each stands for others of its kind");
	}
	doc_add(&r->doc, t);
}

/* ---- modules ---- */

#define J COLUMN_JSON_ONLY

enum {
	MODULE_PATH,
	MODULE_BUILD_ID,
	MODULE_START,
	MODULE_END,
	MODULE_BIAS,
	MODULE_LOAD_NS,
	MODULE_UNLOAD_NS,
	MODULE_NR,
};

static const struct column module_columns[MODULE_NR] = {
	[MODULE_PATH] = { "path", "module", UNIT_TEXT, COLUMN_GIVES_WAY },
	[MODULE_BUILD_ID] = { "build_id", "build id", UNIT_TEXT, COLUMN_ZERO_BLANK },
	[MODULE_START] = { "start", NULL, UNIT_ADDRESS, J },
	[MODULE_END] = { "end", NULL, UNIT_ADDRESS, J },
	[MODULE_BIAS] = { "bias", NULL, UNIT_ADDRESS, J },
	[MODULE_LOAD_NS] = { "load_ns", NULL, UNIT_DURATION, J },
	[MODULE_UNLOAD_NS] = { "unload_ns", NULL, UNIT_DURATION, J },
};

/*
 * JSON has every module; text those that names were missing in, which is known when all above has
 * been written: so rows are made on demand and this comes last.
 */
static void fill_module(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;
	const struct heap_module *m = &r->heap->modules[i + 1];
	bool unnamed = names_unnamed(r->names, (uint32_t)i + 1);
	char id[2 * HEAP_BUILD_ID_MAX + 1];

	for (unsigned k = 0; k < m->build_id_len; k++)
		snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
	table_row(t, 0, ROW_PLAIN, unnamed ? ROW_BOTH : ROW_JSON_ONLY);
	table_set_const(t, MODULE_PATH, m->path);
	if (m->build_id_len)
		table_set_text(t, MODULE_BUILD_ID, id);
	table_set(t, MODULE_START, m->start);
	table_set(t, MODULE_END, m->end);
	table_set(t, MODULE_BIAS, m->bias);
	table_set(t, MODULE_LOAD_NS, heap_tick_time(r->heap, m->load_ns));
	if (m->unload_ns)
		table_set(t, MODULE_UNLOAD_NS, heap_tick_time(r->heap, m->unload_ns));
}

void report_modules(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "modules",
				    "Modules without names for what is shown above (install their "
				    "-dbgsym packages, or use --debuginfod)",
				    module_columns, MODULE_NR);

	if (t) {
		t->fill = fill_module;
		t->nr_groups = r->heap->nr_modules ? r->heap->nr_modules - 1 : 0;
		t->ctx = r;
	}
	doc_add(&r->doc, t);
}
