/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distances by how many lines fit, while lines are taken off. */
#include "src/analyze/diff/diff_shift.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void diff_shifts_fini(struct diff_shifts *s)
{
	vec_fini(&s->theirs);
	vec_fini(&s->ours);
	vec_fini(&s->shifts);
	vec_fini(&s->of_pair);
	vec_fini(&s->pairs);
	vec_fini(&s->ranks);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool before(const struct diff_shifts *s, const struct diff_shift_rank *a,
		   const struct diff_shift_rank *b)
{
	int64_t by = s->shifts.v[a->shift].by, other = s->shifts.v[b->shift].by;

	if (a->nr != b->nr)
		return a->nr > b->nr;
	if (llabs(by) != llabs(other))
		return llabs(by) < llabs(other);
	return by > other;
}

static void sink(struct diff_shifts *s, size_t at)
{
	struct diff_shift_rank *v = s->ranks.v;

	for (;;) {
		size_t child = 2 * at + 1;
		struct diff_shift_rank moved = v[at];

		if (child >= s->ranks.nr)
			return;
		if (child + 1 < s->ranks.nr && before(s, &v[child + 1], &v[child]))
			child++;
		if (!before(s, &v[child], &v[at]))
			return;
		v[at] = v[child];
		v[child] = moved;
		at = child;
	}
}

/* ---- all distances --------------------------------------------------------------------------- */

static int by_distance(const void *a, const void *b)
{
	const struct diff_shift_pair *x = a, *y = b;

	return (x->by > y->by) - (x->by < y->by);
}

static int make_shifts(struct diff_shifts *s)
{
	if (vec_resize(&s->pairs, s->theirs.nr * s->ours.nr) ||
	    vec_resize(&s->of_pair, s->pairs.nr))
		return -ENOMEM;
	for (size_t i = 0; i < s->pairs.nr; i++)
		s->pairs.v[i] = (struct diff_shift_pair){
			(int64_t)s->ours.v[i % s->ours.nr].number -
				(int64_t)s->theirs.v[i / s->ours.nr].number,
			(uint32_t)i
		};
	vec_sort(&s->pairs, by_distance);
	vec_each(&s->pairs, p) {
		uint32_t theirs = s->theirs.v[p->pair / s->ours.nr].nr,
			 ours = s->ours.v[p->pair % s->ours.nr].nr;

		if ((!s->shifts.nr || vec_last(&s->shifts)->by != p->by) &&
		    vec_push(&s->shifts, (struct diff_shift){ p->by, 0 }))
			return -ENOMEM;
		vec_last(&s->shifts)->nr += lesser(theirs, ours);
		s->of_pair.v[p->pair] = (uint32_t)s->shifts.nr - 1;
	}
	return 0;
}

static int make_ranks(struct diff_shifts *s)
{
	if (vec_resize(&s->ranks, s->shifts.nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->shifts.nr; i++)
		s->ranks.v[i] = (struct diff_shift_rank){ i, s->shifts.v[i].nr };
	for (size_t i = s->ranks.nr / 2; i-- > 0;)
		sink(s, i);
	return 0;
}

int diff_shifts_begin(struct diff_shifts *s, const uint32_t *theirs, size_t nr_theirs,
		      const uint32_t *ours, size_t nr_ours)
{
	int rc = 0;

	s->theirs.nr = s->ours.nr = s->shifts.nr = s->ranks.nr = 0;
	for (size_t i = 0; i < nr_theirs && !rc; i++)
		if (i && theirs[i] == theirs[i - 1])
			vec_last(&s->theirs)->nr++;
		else
			rc = vec_push(&s->theirs, (struct diff_shift_number){ theirs[i], 1 });
	for (size_t i = 0; i < nr_ours && !rc; i++)
		if (i && ours[i] == ours[i - 1])
			vec_last(&s->ours)->nr++;
		else
			rc = vec_push(&s->ours, (struct diff_shift_number){ ours[i], 1 });
	if (!rc)
		rc = make_shifts(s);
	return rc ? rc : make_ranks(s);
}

/* ---- while lines are taken off --------------------------------------------------------------- */

/* The first pair of lines at a distance, from one of theirs on; false: none is left. */
static bool next_pair(const struct diff_shifts *s, int64_t by, size_t *i, size_t *k)
{
	while (*i < s->theirs.nr && *k < s->ours.nr) {
		const struct diff_shift_number *a = &s->theirs.v[*i], *b = &s->ours.v[*k];
		int64_t want = (int64_t)a->number + by;

		if (want == (int64_t)b->number && a->nr && b->nr)
			return true;
		if (want <= (int64_t)b->number)
			++*i;
		else
			++*k;
	}
	return false;
}

static const struct diff_shift *find(const struct diff_shifts *s, int64_t by)
{
	size_t low = 0, high = s->shifts.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->shifts.v[middle].by < by)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->shifts.nr && s->shifts.v[low].by == by ? &s->shifts.v[low] : NULL;
}

/* Of the same way forward and back: which one has its first lines nearer to the beginning? */
static int64_t forward_or_back(const struct diff_shifts *s, const struct diff_shift *forward)
{
	const struct diff_shift *back = find(s, -forward->by);
	size_t i = 0, k = 0, m = 0, n = 0;

	if (!forward->by || !back || back->nr != forward->nr)
		return forward->by;
	next_pair(s, forward->by, &i, &k);
	next_pair(s, back->by, &m, &n);
	return (uint64_t)s->theirs.v[m].number + s->ours.v[n].number <
			       (uint64_t)s->theirs.v[i].number + s->ours.v[k].number
		       ? back->by : forward->by;
}

int64_t diff_shifts_best(struct diff_shifts *s)
{
	while (s->ranks.nr && s->ranks.v[0].nr) {
		struct diff_shift_rank *top = &s->ranks.v[0];
		const struct diff_shift *is = &s->shifts.v[top->shift];

		if (top->nr == is->nr)
			return forward_or_back(s, is);
		top->nr = is->nr;	/* lines of it have been taken off */
		sink(s, 0);
	}
	return 0;
}

/* So many of a line are left. */
static void leave(struct diff_shifts *s, size_t i, size_t k, bool theirs, uint32_t left)
{
	struct diff_shift_number *line = theirs ? &s->theirs.v[i] : &s->ours.v[k];
	size_t nr = theirs ? s->ours.nr : s->theirs.nr;

	for (size_t other = 0; other < nr; other++) {
		size_t pair = theirs ? i * s->ours.nr + other : other * s->ours.nr + k;
		uint32_t beside = theirs ? s->ours.v[other].nr : s->theirs.v[other].nr;

		s->shifts.v[s->of_pair.v[pair]].nr -= lesser(line->nr, beside) -
						      lesser(left, beside);
	}
	line->nr = left;
}

void diff_shifts_take(struct diff_shifts *s, int64_t by)
{
	for (size_t i = 0, k = 0; next_pair(s, by, &i, &k); i++) {
		uint32_t nr = lesser(s->theirs.v[i].nr, s->ours.v[k].nr);

		leave(s, i, k, true, s->theirs.v[i].nr - nr);
		leave(s, i, k, false, s->ours.v[k].nr - nr);
	}
}
