/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks by thread: how deep they have become; a line for each doubling. */
#include <stdio.h>

#include "src/base/fmt.h"
#include "src/base/vec.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "src/view/trace/trace_segv.h"

void trace_describe_growth(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail)
{
	const char *sort = trace_stack_sort_name((unsigned)r->a[4]);

	(void)tail;
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "instruction", UNIT_ADDRESS, r->a[1]);
	event_u64(e, "depth_bytes", UNIT_BYTES, r->a[2]);
	str_addf(text, "%s deep", fmt_bytes(r->a[2]).s);
	if (r->a[3]) {
		event_u64(e, "stack_limit_bytes", UNIT_BYTES, r->a[3]);
		str_addf(text, ", %s of %s", fmt_percent(r->a[2], r->a[3]).s,
			 fmt_bytes(r->a[3]).s);
	}
	if (sort)
		event_text(e, "stack_sort", sort);
}

static const struct column columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "tid", "tid", UNIT_NUMBER },
	{ "depth_bytes", "deepest", UNIT_BYTES },
	{ "stack_limit_bytes", "limit", UNIT_BYTES },
	TEXT_COLUMN("share", UNIT_TEXT),
	JSON_COLUMN("stack_sort", UNIT_TEXT),
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

struct thread {
	const struct stack_key *key;
	const struct stack_row *row;
};

static int by_depth(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->row->depth != y->row->depth)
		return x->row->depth < y->row->depth ? 1 : -1;
	return x->key->tid < y->key->tid ? -1 : x->key->tid > y->key->tid;
}

static void set_thread(struct table *t, const struct thread *thread)
{
	const struct stack_row *row = thread->row;
	const char *sort = trace_stack_sort_name(row->sort);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, row->tgid);
	table_set(t, 1, thread->key->tid);
	table_set(t, 2, row->depth);
	if (row->limit) {
		table_set(t, 3, row->limit);
		table_set_text(t, 4, fmt_percent(row->depth, row->limit).s);
	}
	if (sort)
		table_set_const(t, 5, sort);
	table_setf(t, 6, "%.*s", TRACE_COMM_BYTES, row->comm);
}

static void add_notes(struct table *t, uint64_t more, uint64_t unknown)
{
	if (more)
		table_note(t, "%s (--top=0 shows all)", fmt_many(more, "more row").s);
	if (unknown)
		table_note(t, "%s more %s on a stack that is not known: of its own making, or "
			      "without a guard", fmt_count(unknown).s,
			   fmt_agree(unknown, "thread ran", "threads ran"));
}

void trace_section_stack(struct doc *d, const struct trace_result *r)
{
	const struct kernel_rows *rows = &r->rows[KERNEL_TABLE_STACKS];
	VEC(struct thread) v = { 0 };
	struct table *t;
	uint64_t shown = 0, unknown = 0;

	if (!rows->nr)
		return;
	t = table_new(TABLE_ROWS, "thread_stacks", "Stacks by thread", columns,
		      sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < rows->nr; i++) {
		struct thread thread = { kernel_rows_key(rows, i), kernel_rows_value(rows, i) };

		if (thread.row->sort == STACK_UNKNOWN)
			unknown++;
		else if (vec_push(&v, thread) && t)
			t->failed = true;
	}
	vec_sort(&v, by_depth);
	vec_each(&v, thread) {
		if (!t || (r->top && shown == r->top))
			break;
		set_thread(t, thread);
		shown++;
	}
	if (t)
		add_notes(t, v.nr - shown, unknown);
	vec_fini(&v);
	doc_add(d, t);
}
