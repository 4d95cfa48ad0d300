/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that change mappings, and time lost in the kernel, in the report: by line. */
#include <string.h>

#include "src/view/kernel/report_kernel_priv.h"
#include "src/view/stack_view.h"

enum {
	LINE_COUNT,
	LINE_FAILED,
	LINE_BYTES,
	LINE_TIME,
	LINE_LONGEST,
	LINE_SHARE,
	LINE_STACKS,
	LINE_EVENT,
	LINE_FRAME,
	LINE_INLINED = LINE_FRAME + 6,
	LINE_ROLE,
	LINE_LABEL,
	LINE_TAIL,
	LINE_NR,
};

static const struct column line_columns[LINE_NR] = {
	[LINE_COUNT] = { "count", "count", UNIT_COUNT },
	[LINE_FAILED] = { "failed", "failed", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[LINE_BYTES] = { "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	[LINE_TIME] = { "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[LINE_LONGEST] = { "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[LINE_SHARE] = { "run_percent", "of the run", UNIT_PERCENT },
	[LINE_STACKS] = { "stacks", "stacks", UNIT_COUNT },
	[LINE_EVENT] = { "event", "event", UNIT_TEXT },
	[LINE_FRAME] = REPORT_FRAME_COLUMNS,
	[LINE_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL),
	[LINE_ROLE] = JSON_COLUMN("role", UNIT_TEXT),
	[LINE_LABEL] = { NULL, "by", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[LINE_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void add_line(struct table *t, struct report *r, const struct kernel_line *l, bool waits)
{
	static const struct stack_columns columns = {
		.frame = LINE_FRAME,
		.inlined = LINE_INLINED,
		.role = LINE_ROLE,
		.label = LINE_LABEL,
	};

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, LINE_COUNT, l->sum.events);
	table_set(t, LINE_BYTES, l->sum.bytes);
	table_set(t, LINE_STACKS, l->nr_stacks);
	report_kernel_set_event(t, LINE_EVENT, l->kind);
	if (waits) {
		table_set(t, LINE_TIME, l->sum.ns);
		table_set(t, LINE_LONGEST, l->sum.max_ns);
		table_set_float(t, LINE_SHARE, report_percent(l->sum.ns, report_run_ns(r->heap)));
	} else {
		table_set(t, LINE_FAILED, l->sum.failed);
	}
	report_set_frame(t, LINE_FRAME, l->frame);
	report_set_label(t, LINE_LABEL, l->frame);
	stack_add(t, r->names, l->node, l->frame, report_kernel_depth(r),
		  " (--depth 0 shows all)", &columns);
}

static void fill_call(struct table *t, uint64_t i)
{
	struct report *r = t->ctx;

	add_line(t, r, &r->kernel_calls.line[i], false);
}

static void fill_wait(struct table *t, uint64_t i)
{
	struct report *r = t->ctx;

	add_line(t, r, &r->kernel_waits.line[i], true);
}

static void add_lines(struct report *r, const char *key, const char *title, bool waits)
{
	struct table *t = table_new(TABLE_TREE, key, title, NULL, LINE_NR);
	struct column *columns = t ? arena_alloc(&t->note_text, sizeof(line_columns)) : NULL;
	struct kernel_lines *l = waits ? &r->kernel_waits : &r->kernel_calls;

	if (!columns || kernel_lines_rank(r->heap, r->names,
					  waits ? KERNEL_PART_WAITS : KERNEL_PART_CALLS,
					  r->opt.top, l)) {
		table_free(t);
		doc_add(&r->doc, NULL);
		return;
	}
	memcpy(columns, line_columns, sizeof(line_columns));
	if (waits) {
		columns[LINE_FAILED].flags = COLUMN_JSON_ONLY;
	} else {
		columns[LINE_COUNT].title = "calls";
		columns[LINE_TIME].flags = columns[LINE_LONGEST].flags = COLUMN_JSON_ONLY;
		columns[LINE_SHARE].flags = COLUMN_JSON_ONLY;
	}
	t->column = columns;
	t->children_key = "frames";
	t->ctx = r;
	t->fill = waits ? fill_wait : fill_call;
	t->nr_groups = l->nr;
	report_kernel_cut(r, t, waits ? REPORT_KERNEL_WAITS : REPORT_KERNEL_CALLS, l->nr,
			  l->nr_all, "line");
	doc_add(&r->doc, t);
}

void report_kernel_calls(struct report *r)
{
	add_lines(r, "kernel_calls", "Calls that change mappings, by line", false);
}

void report_kernel_waits(struct report *r)
{
	add_lines(r, "kernel_waits", "Time lost in the kernel, by line", true);
}
