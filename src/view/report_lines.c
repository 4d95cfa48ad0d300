/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines in the report: the source lines that hold the memory, whatever stacks lead to them.
 */
#include <string.h>

#include "src/analyze/lines.h"
#include "src/view/report_priv.h"

#define LINES_SHOWN 10 /* in text */

const struct report_titles report_titles[RANK_NR] = {
	[RANK_LIVE] = { "live", "blocks", "Lines by live bytes", "Stacks by live bytes" },
	[RANK_PEAK] = { "at peak", "blocks", "Lines by bytes at the peak",
			"Stacks by bytes at the peak" },
	[RANK_ALLOCATED] = { "allocated", "calls", "Lines by bytes allocated",
			     "Stacks by bytes allocated" },
	[RANK_CALLS] = { "allocated", "calls", "Lines by calls", "Stacks by calls" },
	[RANK_TEMPORARY] = { NULL, "temporary", "Lines by temporary allocations",
			     "Stacks by temporary allocations" },
};

enum {
	LINE_BYTES,
	LINE_SHARE,
	LINE_COUNT,
	LINE_SITES,
	LINE_FRAME,
	LINE_LABEL = LINE_FRAME + 6,
	LINE_TAIL,
	LINE_NR
};

static void line_columns(struct column *c, enum rank_key key)
{
	static const struct column plain[LINE_NR] = {
		[LINE_BYTES] = { "value_bytes", NULL, UNIT_BYTES },
		[LINE_COUNT] = { "value_count", NULL, UNIT_COUNT },
		[LINE_SHARE] = { "share_percent", "share", UNIT_PERCENT },
		[LINE_SITES] = { "sites", "stacks", UNIT_COUNT },
		[LINE_FRAME] = REPORT_FRAME_COLUMNS,
		[LINE_LABEL] = { NULL, "line", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
		[LINE_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
	};

	memcpy(c, plain, sizeof(plain));
	c[LINE_BYTES].title = report_titles[key].bytes;
	c[LINE_COUNT].title = report_titles[key].count;
	if (!report_titles[key].bytes)
		c[LINE_BYTES].flags |= COLUMN_JSON_ONLY;
}

static void add_line(struct table *t, const struct lines *all, const struct line *l,
		     enum rank_key key, uint64_t i)
{
	table_row(t, 0, i ? ROW_PLAIN : ROW_STRONG, i < LINES_SHOWN ? ROW_BOTH : ROW_JSON_ONLY);
	table_set(t, LINE_BYTES, l->weight.bytes);
	table_set(t, LINE_COUNT, l->weight.count);
	table_set_float(t, LINE_SHARE,
			report_percent(rank_value(key, l->weight), rank_value(key, all->total)));
	table_set(t, LINE_SITES, l->nr_sites);
	report_set_frame(t, LINE_FRAME, l->frame);
	report_set_label(t, LINE_LABEL, l->frame);
}

static void fill_line(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;

	add_line(t, &r->lines, &r->lines.line[i], r->opt.sort, i);
}

void report_lines(struct report *r)
{
	enum rank_key key = r->opt.sort;
	struct column *columns;
	struct table *t = table_new(TABLE_ROWS, "lines", NULL, NULL, LINE_NR);

	columns = t ? arena_alloc(&t->note_text, LINE_NR * sizeof(*columns)) : NULL;
	if (!columns || lines_rank(r->heap, &r->selection, r->names, key, r->opt.top, &r->lines)) {
		table_free(t);
		doc_add(&r->doc, NULL);
		return;
	}
	line_columns(columns, key);
	t->column = columns;
	t->title = report_titles[key].lines;
	t->estimated = r->heap->mode == HEAP_SAMPLED;
	t->fill = fill_line;
	t->nr_groups = r->lines.nr;
	t->ctx = r;
	r->left_out[REPORT_LINES] = r->lines.nr_all - r->lines.nr;
	if (!r->lines.nr)
		table_note(t, "nothing to show");
	t->json_only = !r->heap->allocs;
	doc_add(&r->doc, t);
}
