/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the totals by process, chosen by kind and sorted by time. */
#include "src/view/trace/trace_waits.h"

#include "src/base/fmt.h"

static const struct column columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "event", "event", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "total_ns", "time", UNIT_DURATION },
	{ "average_ns", "average", UNIT_DURATION },
	{ "longest_ns", "longest", UNIT_DURATION },
	{ "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

static bool is_one_of(const enum trace_kind *kinds, unsigned nr, uint32_t kind)
{
	while (nr && kinds[nr - 1] != kind)
		nr--;
	return nr;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_row *const *x = a, *const *y = b;

	if ((*x)->sum.ns != (*y)->sum.ns)
		return (*x)->sum.ns < (*y)->sum.ns ? 1 : -1;
	if ((*x)->id != (*y)->id)
		return (*x)->id < (*y)->id ? -1 : 1;
	return (*x)->kind < (*y)->kind ? -1 : (*x)->kind > (*y)->kind;
}

static void add_row(struct table *t, const struct trace_row *row)
{
	const struct trace_sum *s = &row->sum;

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, row->id);
	table_set_const(t, 1, trace_kinds[row->kind].name);
	table_set(t, 2, s->events);
	table_set(t, 3, s->ns);
	table_set(t, 4, s->ns / s->events);
	table_set(t, 5, s->max_ns);
	if (trace_kinds[row->kind].bytes >= 0)
		table_set(t, 6, s->bytes);
	table_setf(t, 7, "%.*s", TRACE_COMM_BYTES, row->comm);
}

bool trace_any(const struct trace_result *t, const enum trace_kind *kinds, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (t->totals->kind[kinds[i]].sum.events)
			return true;
	return false;
}

void trace_waits(struct doc *d, const struct trace_result *t, const char *key, const char *title,
		 const enum trace_kind *kinds, unsigned nr)
{
	VEC(const struct trace_row *) rows = { 0 };
	struct table *table;

	if (!trace_any(t, kinds, nr))
		return;
	table = table_new(TABLE_ROWS, key, title, columns, sizeof(columns) / sizeof(*columns));
	vec_each(&t->totals->processes, row)
		if (is_one_of(kinds, nr, row->kind) && vec_push(&rows, row) && table)
			table->failed = true;
	vec_sort(&rows, by_time);
	for (size_t i = 0; table && i < rows.nr && (!t->top || i < t->top); i++)
		add_row(table, rows.v[i]);
	if (table && t->top && rows.nr > t->top)
		table_note(table, "%s (--top=0 shows all)",
			   fmt_many(rows.nr - t->top, "more row").s);
	if (table && t->min_ns)
		table_note(table, "without what took less than %s, which is counted only",
			   fmt_duration(t->min_ns).s);
	vec_fini(&rows);
	doc_add(d, table);
}
