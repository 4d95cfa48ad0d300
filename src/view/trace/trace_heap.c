/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes hold of their heaps, by stack, as their own ledgers have it. */
#include <stdlib.h>

#include "src/base/fmt.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"
#include "src/view/stack_view.h"
#include "src/view/trace/trace_sections.h"

/* ---- what was covered ---- */

static const struct column process_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "size_bytes", "bytes", UNIT_BYTES },
	{ "objects", "objects", UNIT_COUNT },
	{ "grown_bytes", "grown by", UNIT_SIGNED, COLUMN_JSON_ONLY },
	{ "old_objects", "older", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "old_bytes", NULL, UNIT_BYTES, COLUMN_JSON_ONLY },
	{ "allocated", "allocated", UNIT_COUNT },
	{ "freed", "freed", UNIT_COUNT },
	{ "untracked_frees", NULL, UNIT_COUNT, COLUMN_JSON_ONLY },
	{ "attached", NULL, UNIT_BOOL, COLUMN_JSON_ONLY },
	{ "why", NULL, UNIT_TEXT, COLUMN_JSON_ONLY },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

enum {
	PROCESS_PID, PROCESS_BYTES, PROCESS_OBJECTS, PROCESS_GROWN, PROCESS_OLD, PROCESS_OLD_BYTES,
	PROCESS_ALLOCATED, PROCESS_FREED, PROCESS_UNTRACKED, PROCESS_ATTACHED, PROCESS_WHY,
	PROCESS_COMMAND
};

static void add_process(struct table *t, const struct trace_heap_result *p, bool ages)
{
	const struct heap_site_sum *all = &p->rows->all;

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, PROCESS_PID, (uint64_t)p->pid);
	table_set_text(t, PROCESS_COMMAND, p->comm);
	if (!p->heap) {
		table_set_text(t, PROCESS_WHY, p->why);
		table_note(t, "process %d is not seen: %s", (int)p->pid, p->why);
		return;
	}
	table_set(t, PROCESS_BYTES, all->bytes);
	table_set(t, PROCESS_OBJECTS, all->objects);
	table_set(t, PROCESS_GROWN, (uint64_t)all->grown_bytes);
	if (ages) {
		table_set(t, PROCESS_OLD, all->old_objects);
		table_set(t, PROCESS_OLD_BYTES, all->old_bytes);
	}
	table_set(t, PROCESS_ALLOCATED, all->allocated);
	table_set(t, PROCESS_FREED, all->freed);
	table_set(t, PROCESS_UNTRACKED, p->heap->untracked_frees);
	table_set(t, PROCESS_ATTACHED, p->heap->began == HEAP_BEGAN_ATTACH);
}

static void add_processes(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "heap_processes", "Heaps of processes",
					process_columns, NR_COLUMNS(process_columns));
	uint64_t untracked = 0;
	bool attached = false;

	for (size_t i = 0; table && i < t->nr_heaps; i++) {
		const struct heap *h = t->heaps[i].heap;

		add_process(table, &t->heaps[i], t->older_ns);
		attached |= h && h->began == HEAP_BEGAN_ATTACH;
		untracked += h ? h->untracked_frees : 0;
	}
	if (table && attached && untracked)
		table_note(table, "of what was allocated since the attach; %s of older blocks",
			   fmt_many(untracked, "free").s);
	else if (table && attached)
		table_note(table, "of what was allocated since the attach");
	doc_add(d, table);
}

/* ---- stacks ---- */

enum {
	STACK_BYTES, STACK_OBJECTS, STACK_GROWN, STACK_GROWN_BYTES, STACK_GROWN_OBJECTS, STACK_OLD,
	STACK_OLD_BYTES, STACK_ALLOCATED, STACK_FREED, STACK_PID, STACK_FOLDED, STACK_LABEL,
	STACK_TAIL, STACK_NR
};

/* Those of the kernel's stacks, but for frees that nobody sees: here all are. */
static const struct column stack_columns[STACK_NR] = {
	[STACK_BYTES] = { "size_bytes", "bytes", UNIT_BYTES },
	[STACK_OBJECTS] = { "objects", "objects", UNIT_COUNT },
	[STACK_GROWN] = TEXT_COLUMN("grown by", UNIT_TEXT),
	[STACK_GROWN_BYTES] = JSON_COLUMN("grown_bytes", UNIT_SIGNED),
	[STACK_GROWN_OBJECTS] = JSON_COLUMN("grown_objects", UNIT_SIGNED),
	[STACK_OLD] = { "old_objects", "older", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[STACK_OLD_BYTES] = JSON_COLUMN("old_bytes", UNIT_BYTES),
	[STACK_ALLOCATED] = { "allocated", "allocated", UNIT_COUNT },
	[STACK_FREED] = { "freed", "freed", UNIT_COUNT },
	[STACK_PID] = JSON_COLUMN("pid", UNIT_NUMBER),
	[STACK_FOLDED] = JSON_COLUMN("stack", UNIT_TEXT),
	[STACK_LABEL] = { "caller", "allocated by", UNIT_TEXT, COLUMN_LABEL },
	[STACK_TAIL] = { NULL, "", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

/* A row of one of the heaps. */
struct row_of {
	const struct trace_heap_result *process;
	const struct heap_site_sum *sum;
};

static int by_bytes(const void *a, const void *b)
{
	const struct row_of *x = a, *y = b;

	if (x->sum->bytes != y->sum->bytes)
		return x->sum->bytes > y->sum->bytes ? -1 : 1;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return x->sum->site < y->sum->site ? -1 : x->sum->site > y->sum->site;
}

/* Outermost first, with semicolons. */
static void add_folded(struct table *t, struct names *n, uint32_t node)
{
	VEC(uint32_t) nodes = { 0 };
	struct str s = STR_INIT;
	int rc = 0;

	for (; node && !rc; node = n->heap->nodes[node].parent)
		rc = vec_push(&nodes, node);
	for (size_t i = nodes.nr; i--;) {
		unsigned nr;
		const struct frame_name *f = names_find(n, nodes.v[i], &nr);

		while (nr--) {
			if (s.len)
				str_addc(&s, ';');
			report_frame_label(&s, &f[nr]);
		}
	}
	table_set_text(t, STACK_FOLDED, table_text(t, &s));
	t->failed |= rc;
	vec_fini(&nodes);
	str_fini(&s);
}

static void add_stack(struct table *t, const struct row_of *row, const struct trace_result *r)
{
	static const struct stack_columns places = { .label = STACK_LABEL, .text_only = true };
	const struct heap_site_sum *s = row->sum;
	uint32_t node = row->process->heap->sites[s->site].node;
	const struct frame_name *responsible = names_responsible(row->process->names, node, NULL);
	uint64_t grown = (uint64_t)(s->grown_bytes < 0 ? -s->grown_bytes : s->grown_bytes);

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, STACK_BYTES, s->bytes);
	table_set(t, STACK_OBJECTS, s->objects);
	table_setf(t, STACK_GROWN, "%s%s", s->grown_bytes < 0 ? "-" : s->grown_bytes ? "+" : "",
		   fmt_bytes(grown).s);
	table_set(t, STACK_GROWN_BYTES, (uint64_t)s->grown_bytes);
	table_set(t, STACK_GROWN_OBJECTS, (uint64_t)s->grown_objects);
	if (r->older_ns) {
		table_set(t, STACK_OLD, s->old_objects);
		table_set(t, STACK_OLD_BYTES, s->old_bytes);
	}
	table_set(t, STACK_ALLOCATED, s->allocated);
	table_set(t, STACK_FREED, s->freed);
	table_set(t, STACK_PID, (uint64_t)row->process->pid);
	add_folded(t, row->process->names, node);
	if (responsible)
		report_set_label(t, STACK_LABEL, responsible);
	else
		table_set_const(t, STACK_LABEL, "(no stack)");
	stack_add(t, row->process->names, node, responsible, r->frames, "", &places);
}

static void add_stacks(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "heap_stacks",
					"Outstanding heap memory, by stack", stack_columns,
					STACK_NR);
	VEC(struct row_of) rows = { 0 };
	uint64_t shown = 0;

	for (size_t i = 0; table && i < t->nr_heaps; i++) {
		const struct trace_heap_result *p = &t->heaps[i];

		for (size_t k = 0; p->heap && k < p->rows->rows.nr; k++)
			if (vec_push(&rows, (struct row_of){ p, &p->rows->rows.v[k] }))
				table->failed = true;
	}
	vec_sort(&rows, by_bytes);
	vec_each(&rows, row) {
		if (!table || (t->top && shown++ == t->top))
			break;
		add_stack(table, row, t);
	}
	if (table && t->top && rows.nr > t->top)
		table_note(table, "%s (--top=0 shows all)",
			   fmt_many(rows.nr - t->top, "more row").s);
	vec_fini(&rows);
	doc_add(d, table);
}

void trace_section_heap(struct doc *d, const struct trace_result *t)
{
	add_processes(d, t);
	add_stacks(d, t);
}
