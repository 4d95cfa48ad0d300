/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process: its lists' life and order.
 */
#include "src/model/memory.h"

void memory_fini(struct memory *m)
{
	vec_fini(&m->roots);
	vec_fini(&m->words);
	vec_fini(&m->owned);
	vec_fini(&m->code);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By start, the longest first, so that what is within another range is cut away whole. */
static int by_range(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;
	int order = compare_u64(x->start, y->start);

	return order ? order : compare_u64(y->end, x->end);
}

static int by_span(const void *a, const void *b)
{
	const struct memory_span *x = a, *y = b;
	int order = compare_u64(x->start, y->start);

	return order ? order : compare_u64(y->end, x->end);
}

int memory_order(struct memory *m)
{
	uint64_t covered = 0;
	size_t nr = 0;

	vec_sort(&m->roots, by_range);
	vec_each(&m->roots, range) {
		struct memory_range r = *range;

		if (r.start < covered)
			r.start = covered;
		if (r.start >= r.end)
			continue;
		covered = r.end;
		m->roots.v[nr++] = r;
	}
	m->roots.nr = nr;
	vec_sort(&m->code, by_span);
	covered = nr = 0;
	vec_each(&m->code, span) {
		struct memory_span s = *span;

		if (s.start < covered)
			s.start = covered;
		if (s.start >= s.end)
			continue;
		covered = s.end;
		m->code.v[nr++] = s;
	}
	m->code.nr = nr;
	return 0;
}
