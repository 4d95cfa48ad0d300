/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report was asked for and what that leaves out: for programs, which cannot see it from a
 * list alone.
 */
#include "src/view/report_priv.h"

enum {
	ASKED_SORT,
	ASKED_SHAPE,
	ASKED_TOP,
	ASKED_DEPTH,
	ASKED_FUNCTION,
	ASKED_FILE,
	ASKED_MODULE,
	ASKED_THREAD,
	ASKED_SIZE_MIN,
	ASKED_SIZE_MAX,
	ASKED_AGE_MIN,
	ASKED_AGE_MAX,
	ASKED_NR
};

static const struct column asked_columns[ASKED_NR] = {
	[ASKED_SORT] = JSON_COLUMN("sort", UNIT_TEXT),
	[ASKED_SHAPE] = JSON_COLUMN("shape", UNIT_TEXT),
	[ASKED_TOP] = JSON_COLUMN("top", UNIT_COUNT),
	[ASKED_DEPTH] = JSON_COLUMN("depth", UNIT_COUNT),
	[ASKED_FUNCTION] = JSON_COLUMN("function", UNIT_TEXT),
	[ASKED_FILE] = JSON_COLUMN("file", UNIT_TEXT),
	[ASKED_MODULE] = JSON_COLUMN("module", UNIT_TEXT),
	[ASKED_THREAD] = JSON_COLUMN("thread", UNIT_TEXT),
	[ASKED_SIZE_MIN] = JSON_COLUMN("size_min_bytes", UNIT_BYTES),
	[ASKED_SIZE_MAX] = JSON_COLUMN("size_max_bytes", UNIT_BYTES),
	[ASKED_AGE_MIN] = JSON_COLUMN("age_min_ns", UNIT_DURATION),
	[ASKED_AGE_MAX] = JSON_COLUMN("age_max_ns", UNIT_DURATION),
};

static void set_range(struct table *t, unsigned column, const struct fmt_range *range)
{
	table_set(t, column, range->min);
	if (range->max != UINT64_MAX)
		table_set(t, column + 1, range->max);
}

static void set_filter(struct table *t, const struct filter *f)
{
	table_set_text(t, ASKED_FUNCTION, f->function);
	table_set_text(t, ASKED_FILE, f->file);
	table_set_text(t, ASKED_MODULE, f->module);
	table_set_text(t, ASKED_THREAD, f->thread);
	if (f->by_size)
		set_range(t, ASKED_SIZE_MIN, &f->size_bytes);
	if (f->by_age)
		set_range(t, ASKED_AGE_MIN, &f->age_ns);
}

void report_selection(struct report *r)
{
	static const char *const shape[] = {
		[REPORT_LIST] = "stacks",
		[REPORT_TOP_DOWN] = "top-down",
		[REPORT_BOTTOM_UP] = "bottom-up",
	};
	struct table *t = table_new(TABLE_RECORD, "selection", NULL, asked_columns,
				    NR_COLUMNS(asked_columns));

	if (t) {
		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(t, ASKED_SORT, rank_key_name[r->opt.sort]);
		table_set_const(t, ASKED_SHAPE, shape[r->opt.shape]);
		if (r->opt.top)
			table_set(t, ASKED_TOP, r->opt.top);
		if (r->opt.depth)
			table_set(t, ASKED_DEPTH, r->opt.depth);
		set_filter(t, &r->opt.filter);
	}
	doc_add(&r->doc, t);
}

/* In the order of enum report_list. */
static const struct column left_out_columns[REPORT_NR_LISTS] = {
	[REPORT_LINES] = JSON_COLUMN("lines", UNIT_COUNT),
	[REPORT_FUNCTIONS] = JSON_COLUMN("functions", UNIT_COUNT),
	[REPORT_BLOCKS] = JSON_COLUMN("blocks", UNIT_COUNT),
	[REPORT_SITES] = JSON_COLUMN("sites", UNIT_COUNT),
	[REPORT_TREE] = JSON_COLUMN("tree", UNIT_COUNT),
	[REPORT_MAP_SITES] = JSON_COLUMN("map_sites", UNIT_COUNT),
};

void report_left_out(struct report *r)
{
	struct table *t = table_new(TABLE_RECORD, "left_out", NULL, left_out_columns,
				    NR_COLUMNS(left_out_columns));

	if (t) {
		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		for (unsigned i = 0; i < REPORT_NR_LISTS; i++)
			table_set(t, i, r->left_out[i]);
	}
	doc_add(&r->doc, t);
}
