/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for each order: qsort() has no argument for it. */
#include "src/analyze/trace/trace_rank.h"

#include <stdlib.h>

static int compare(uint64_t x, uint64_t y, const struct trace_row *a, const struct trace_row *b)
{
	if (x != y)
		return x < y ? 1 : -1;
	if (a->sum.events != b->sum.events)
		return a->sum.events < b->sum.events ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_count(const void *a, const void *b)
{
	const struct trace_row *x = *(const struct trace_row *const *)a,
			       *y = *(const struct trace_row *const *)b;

	return compare(x->sum.events, y->sum.events, x, y);
}

static int by_bytes(const void *a, const void *b)
{
	const struct trace_row *x = *(const struct trace_row *const *)a,
			       *y = *(const struct trace_row *const *)b;

	return compare(x->sum.bytes, y->sum.bytes, x, y);
}

static int by_time(const void *a, const void *b)
{
	const struct trace_row *x = *(const struct trace_row *const *)a,
			       *y = *(const struct trace_row *const *)b;

	return compare(x->sum.ns, y->sum.ns, x, y);
}

const struct trace_row **trace_rank(const struct trace_row *rows, size_t nr,
				    enum trace_sort sort)
{
	static int (*const orders[])(const void *, const void *) = {
		[TRACE_BY_COUNT] = by_count,
		[TRACE_BY_BYTES] = by_bytes,
		[TRACE_BY_TIME] = by_time,
	};
	const struct trace_row **list = calloc(nr ? nr : 1, sizeof(*list));

	_Static_assert(sizeof(orders) / sizeof(*orders) == TRACE_NR_SORTS, "one for each");
	if (!list)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		list[i] = &rows[i];
	qsort(list, nr, sizeof(*list), orders[sort]);
	return list;
}
