/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults by whose memory they are of, where that is known: processes with a ledger. */
#include "src/analyze/trace/kernel_fault_rank.h"
#include "src/base/fmt.h"
#include "src/view/report_priv.h"
#include "src/view/trace/trace_sections.h"

#define TOUCHERS_SHOWN	3

enum {
	BLOCK_PID, BLOCK_FAULTS, BLOCK_RECORDS, BLOCK_FIRST, BLOCK_MAJOR, BLOCK_SWAP_INS, BLOCK_OF,
	BLOCK_MEMORY, BLOCK_FRAME, BLOCK_LABEL = BLOCK_FRAME + 6, BLOCK_TAIL, BLOCK_NR
};

static const struct column block_columns[BLOCK_NR] = {
	[BLOCK_PID] = { "pid", "pid", UNIT_NUMBER },
	[BLOCK_FAULTS] = { "faults", "faults", UNIT_COUNT },
	[BLOCK_RECORDS] = JSON_COLUMN("records", UNIT_COUNT),
	[BLOCK_FIRST] = { "first_touches", "first", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[BLOCK_MAJOR] = { "major", "major", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[BLOCK_SWAP_INS] = { "swap_ins", "swap-ins", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[BLOCK_OF] = JSON_COLUMN("of", UNIT_TEXT),
	[BLOCK_MEMORY] = JSON_COLUMN("memory", UNIT_TEXT),
	[BLOCK_FRAME] = REPORT_FRAME_COLUMNS,
	[BLOCK_LABEL] = { NULL, "allocated by", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[BLOCK_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static bool is_owned(const struct kernel_fault_line *l)
{
	return l->of == HEAP_KERNEL_OF_BLOCK || l->of == HEAP_KERNEL_OF_MAPPING;
}

static void set_faults(struct table *t, const struct kernel_faults *f)
{
	table_set(t, BLOCK_FAULTS, f->faults);
	table_set(t, BLOCK_RECORDS, f->records);
	table_set(t, BLOCK_FIRST, kernel_faults_first(f));
	table_set(t, BLOCK_MAJOR, f->major);
	table_set(t, BLOCK_SWAP_INS, f->swap_ins);
}

static void set_label(struct table *t, const char *before, const struct frame_name *f)
{
	struct str s = STR_INIT;

	str_add(&s, before);
	if (f)
		report_frame_label(&s, f);
	else
		str_add(&s, "[stack unknown]");
	table_set_text(t, BLOCK_LABEL, table_text(t, &s));
	if (f && f->file)
		table_setf(t, BLOCK_TAIL, "%s:%u", report_basename(f->file), f->line);
	str_fini(&s);
}

static void add_line(struct table *t, pid_t pid, const struct kernel_fault_lines *all,
		     const struct kernel_fault_line *l)
{
	bool mapping = l->of == HEAP_KERNEL_OF_MAPPING;

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, BLOCK_PID, (uint64_t)pid);
	set_faults(t, &l->faults);
	table_set_const(t, BLOCK_OF, is_owned(l) ? mapping ? "mapping" : "block" : "nothing");
	if (!is_owned(l)) {
		table_set_const(t, BLOCK_MEMORY, fault_area_name(l->area));
		table_setf(t, BLOCK_LABEL, "in no block: %s", fault_area_text(l->area));
		return;
	}
	if (l->frame)
		report_set_frame(t, BLOCK_FRAME, l->frame);
	set_label(t, mapping ? "mapped by " : "", l->frame);
	for (uint32_t i = 0; i < l->nr_touchers && i < TOUCHERS_SHOWN; i++) {
		const struct kernel_toucher *x = &all->touchers.v[l->first_toucher + i];

		table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
		table_set(t, BLOCK_FAULTS, x->faults.faults);
		set_label(t, "touched by ", x->frame);
	}
}

static void add_process(struct table *t, const struct trace_block_result *p, uint64_t top)
{
	struct kernel_fault_lines lines = { 0 };
	uint64_t shown = 0;

	if (kernel_fault_lines_rank(p->heap, p->names, &lines))
		t->failed = true;
	vec_each(&lines.lines, l) {
		if (top && shown++ == top)
			break;
		add_line(t, p->pid, &lines, l);
	}
	if (top && lines.lines.nr > top)
		table_note(t, "process %d: %s more rows (--top=0 shows all)", (int)p->pid,
			   fmt_count(lines.lines.nr - top).s);
	kernel_fault_lines_fini(&lines);
}

void trace_fault_blocks(struct doc *d, const struct trace_result *t)
{
	struct table *table;

	if (!t->nr_blocks)
		return;
	table = table_new(TABLE_ROWS, "fault_sites",
			  "Page faults by the line that allocated the memory", block_columns,
			  BLOCK_NR);
	for (size_t i = 0; table && i < t->nr_blocks; i++)
		add_process(table, &t->blocks[i], t->top);
	if (table)
		table_note(table, "of processes that pmm tracks; estimated from faults that have a "
			   "stack, and without those that its agent caused");
	doc_add(d, table);
}
