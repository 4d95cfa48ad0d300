/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two heaps compared: the head, with what was compared and the totals. */
#include "src/view/diff/diff_view.h"

#include <string.h>

#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/diff/diff_view_priv.h"
#include "src/view/import/import_facts.h"
#include "src/view/report_priv.h"

/* ---- what was compared ----------------------------------------------------------------------- */

static const char *const side_name[2] = { "before", "after" };

enum {
	CAPTURE_SIDE,
	CAPTURE_SOURCE,
	CAPTURE_PID,
	CAPTURE_COMM,
	CAPTURE_EXE,
	CAPTURE_CMDLINE,
	CAPTURE_TAKEN,
	CAPTURE_RUN,
	CAPTURE_MODE,
	CAPTURE_SEARCHED,
	CAPTURE_SUPPRESSED_BYTES,
	CAPTURE_SUPPRESSED_BLOCKS,
	CAPTURE_NR
};

static const struct column capture_columns[CAPTURE_NR] = {
	[CAPTURE_SIDE] = JSON_COLUMN("side", UNIT_TEXT),
	[CAPTURE_SOURCE] = JSON_COLUMN("source", UNIT_TEXT),
	[CAPTURE_PID] = JSON_COLUMN("pid", UNIT_NUMBER),
	[CAPTURE_COMM] = JSON_COLUMN("comm", UNIT_TEXT),
	[CAPTURE_EXE] = JSON_COLUMN("exe", UNIT_TEXT),
	[CAPTURE_CMDLINE] = JSON_COLUMN("cmdline", UNIT_TEXT),
	[CAPTURE_TAKEN] = JSON_COLUMN("taken_realtime_ns", UNIT_TIME),
	[CAPTURE_RUN] = JSON_COLUMN("run_ns", UNIT_DURATION),
	[CAPTURE_MODE] = JSON_COLUMN("mode", UNIT_TEXT),
	[CAPTURE_SEARCHED] = JSON_COLUMN("searched", UNIT_BOOL),
	[CAPTURE_SUPPRESSED_BYTES] = JSON_COLUMN("suppressed_bytes", UNIT_BYTES),
	[CAPTURE_SUPPRESSED_BLOCKS] = JSON_COLUMN("suppressed_blocks", UNIT_COUNT),
};

static void add_captures(struct diff_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "captures", NULL, capture_columns, CAPTURE_NR);

	for (unsigned i = 0; t && i < 2; i++) {
		const struct heap *h = v->side[i].heap;

		table_row(t, 0, ROW_PLAIN, ROW_JSON_ONLY);
		table_set_const(t, CAPTURE_SIDE, side_name[i]);
		table_set_text(t, CAPTURE_SOURCE, v->side[i].source);
		table_set(t, CAPTURE_PID, h->pid);
		table_set_text(t, CAPTURE_COMM, h->comm);
		table_set_text(t, CAPTURE_EXE, h->exe);
		table_set_text(t, CAPTURE_CMDLINE, h->cmdline);
		table_set(t, CAPTURE_TAKEN, h->start_realtime_ns + h->taken_ns);
		table_set(t, CAPTURE_RUN, report_run_ns(h));
		table_set_const(t, CAPTURE_MODE, h->kmod.logged		  ? "log"
						 : h->mode == HEAP_SAMPLED ? "sampled"
									   : "exact");
		table_set(t, CAPTURE_SEARCHED, h->search.how != HEAP_SEARCH_NONE);
		if (h->search.how != HEAP_SEARCH_NONE) {
			table_set(t, CAPTURE_SUPPRESSED_BYTES, v->side[i].suppressed.bytes);
			table_set(t, CAPTURE_SUPPRESSED_BLOCKS, v->side[i].suppressed.blocks);
		}
	}
	if (t)
		t->json_only = true;
	doc_add(&v->doc, t);
}

static void add_selection(struct diff_view *v)
{
	struct table *t = record_new("selection");

	record_text(t, "sort", diff_key_name[v->opt.key]);
	if (v->opt.top)
		record_count(t, "top", v->opt.top);
	report_filter_record(t, &v->opt.filter);
	doc_add(&v->doc, t);
}

static void add_head(struct diff_view *v)
{
	struct table *t = facts_new(NULL);

	for (unsigned i = 0; t && i < 2; i++) {
		const struct heap *h = v->side[i].heap;
		struct str end = STR_INIT;

		if (h->import.tool) {
			import_process(&end, h);
			facts_add(t, side_name[i], "%s: %s", v->side[i].source,
				  table_text(t, &end));
			str_fini(&end);
			continue;
		}
		report_end_text(&end, h);
		facts_add(t, side_name[i], "%s: %s, pid %u, %s %s to %s, %s", v->side[i].source,
			  h->comm, h->pid,
			  h->began == HEAP_BEGAN_ATTACH ? "watched for" : "ran",
			  report_run_time(h).s, fmt_time(h->start_realtime_ns + h->taken_ns).s,
			  table_text(t, &end));
		str_fini(&end);
	}
	if (t)
		report_filter_row(t, &v->opt.filter, false);
	doc_add(&v->doc, t);
}

/* ---- totals ---------------------------------------------------------------------------------- */

enum {
	TOTAL_WHAT,
	TOTAL_BEFORE_BYTES,
	TOTAL_AFTER_BYTES,
	TOTAL_CHANGE_BYTES,
	TOTAL_GROWTH,
	TOTAL_RATIO,
	TOTAL_BEFORE_COUNT,
	TOTAL_AFTER_COUNT,
	TOTAL_CHANGE_COUNT,
	TOTAL_NR
};

static const struct column total_columns[TOTAL_NR] = {
	[TOTAL_WHAT] = { "what", NULL, UNIT_TEXT },
	[TOTAL_BEFORE_BYTES] = { "before_bytes", "before", UNIT_BYTES },
	[TOTAL_AFTER_BYTES] = { "after_bytes", "after", UNIT_BYTES },
	[TOTAL_CHANGE_BYTES] = { "change_bytes", "change", UNIT_SIGNED, COLUMN_CHANGE },
	[TOTAL_GROWTH] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[TOTAL_RATIO] = JSON_COLUMN("ratio", UNIT_FLOAT),
	[TOTAL_BEFORE_COUNT] = { "before_count", "blocks, calls", UNIT_COUNT },
	[TOTAL_AFTER_COUNT] = { "after_count", "after", UNIT_COUNT },
	[TOTAL_CHANGE_COUNT] = { "change_count", "change", UNIT_SIGNED, COLUMN_CHANGE },
};

static void add_total(struct table *t, const struct diff *d, enum diff_key key)
{
	const int64_t *a = diff_total(d, 0), *b = diff_total(d, 1);
	enum diff_metric bytes = diff_bytes_of(key), count = diff_count_of(key),
			 m = diff_metric_of(key);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set_const(t, TOTAL_WHAT, diff_key_name[key]);
	if (bytes != DIFF_NR_METRICS) {
		table_set(t, TOTAL_BEFORE_BYTES, (uint64_t)a[bytes]);
		table_set(t, TOTAL_AFTER_BYTES, (uint64_t)b[bytes]);
		table_set(t, TOTAL_CHANGE_BYTES, (uint64_t)(b[bytes] - a[bytes]));
	}
	table_setf(t, TOTAL_GROWTH, "%s", diff_growth(a[m], b[m]).s);
	if (a[m] > 0)
		table_set_float(t, TOTAL_RATIO, (double)b[m] / (double)a[m]);
	if (key == DIFF_PEAK)	/* blocks are known as far as sites account for the peak */
		return;
	table_set(t, TOTAL_BEFORE_COUNT, (uint64_t)a[count]);
	table_set(t, TOTAL_AFTER_COUNT, (uint64_t)b[count]);
	table_set(t, TOTAL_CHANGE_COUNT, (uint64_t)(b[count] - a[count]));
}

static void add_totals(struct diff_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "totals", NULL, total_columns, TOTAL_NR);

	for (unsigned key = 0; t && key < DIFF_NR_KEYS; key++)
		if (key == DIFF_LIVE || (!filter_by_block(&v->opt.filter) && key != DIFF_CALLS &&
					 diff_known(v->side[0].heap, key) &&
					 diff_known(v->side[1].heap, key)))
			add_total(t, v->diff, key);
	doc_add(&v->doc, t);
}

int diff_view_init(struct diff_view *v, const struct diff *d, const struct diff_view_side side[2],
		   const struct diff_view_options *opt, const struct diff_failures *failures)
{
	int rc = 0;

	*v = (struct diff_view){ .diff = d, .side = { side[0], side[1] }, .opt = *opt,
				 .failures = failures };
	v->doc.schema = DIFF_SCHEMA;
	for (unsigned i = 0; i < DIFF_NR_LISTS && !rc; i++)
		rc = diff_rank(d, i, opt->key, 0, 1, opt->top, &v->rows[i]);
	if (rc)
		return rc;
	add_captures(v);
	add_selection(v);
	add_head(v);
	diff_warnings(v);
	add_totals(v);
	diff_failed(v);
	diff_lists(v);
	return doc_error(&v->doc);
}

void diff_view_fini(struct diff_view *v)
{
	doc_fini(&v->doc);
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		diff_ranking_fini(&v->rows[i]);
}
