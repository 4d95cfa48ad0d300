/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address ranges that may overlap, each with a number: which is the narrowest around an address?
 *
 * Sorted by start, each entry also knowing how far the ones up to it reach, so that a search goes
 * back only while an earlier range can still hold the address; at most BACK_MAX steps.
 */
#include "src/symbol/ranges.h"

#define BACK_MAX	4096

int ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t value)
{
	if (lo >= hi)
		return 0;
	return vec_push(&r->list, (struct range){ .lo = lo, .hi = hi, .value = value });
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->hi != y->hi)
		return x->hi > y->hi ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

void ranges_sort(struct ranges *r)
{
	uint64_t reach = 0;

	vec_sort(&r->list, by_start);
	vec_each(&r->list, e) {
		if (e->hi > reach)
			reach = e->hi;
		e->reach = reach;
	}
}

const struct range *ranges_find(const struct ranges *r, uint64_t address)
{
	size_t i = vec_while(&r->list, e, e->lo <= address);
	const struct range *best = NULL;

	for (size_t steps = 0; i && steps < BACK_MAX; steps++) {
		const struct range *e = &r->list.v[--i];

		if (e->reach <= address)
			break;
		if (address < e->hi && (!best || e->hi - e->lo <= best->hi - best->lo))
			best = e;
	}
	return best;
}

void ranges_fini(struct ranges *r)
{
	vec_fini(&r->list);
}
