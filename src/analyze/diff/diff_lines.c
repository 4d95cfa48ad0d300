/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines of a function are which: code that was edited above them has moved them.
 *
 * Where both heaps have the same build, equal numbers are the same line and others are not. Else
 * the distance by which most lines of the function have moved tells which is which, then the next
 * one of what is left: lines that nothing tells apart are matched with the nearest.
 */
#include "src/analyze/diff/diff_priv.h"

#include <errno.h>
#include <stdlib.h>

/* Of a function with more different lines, equal numbers alone are matched. */
#define LINES_MAX	100u

struct known_line {
	uint32_t number, line;	/* line: of the comparison, or the local one */
	bool taken;
};

struct matching {
	VEC(struct known_line) theirs, ours;	/* by number */
};

static int by_number(const void *a, const void *b)
{
	const struct known_line *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void take(struct diff_local *l, struct known_line *theirs, struct known_line *ours)
{
	struct diff_line *known = &l->d->lines.v[theirs->line];

	l->lines.v[ours->line].line = theirs->line;
	known->number = ours->number;
	known->side = l->side;
	theirs->taken = ours->taken = true;
}

/* How many lines fit if all have moved by `shift`; taken where `l` is given. */
static unsigned fit(struct matching *m, int64_t shift, struct diff_local *l)
{
	unsigned nr = 0;

	for (size_t i = 0, k = 0; i < m->theirs.nr && k < m->ours.nr;) {
		struct known_line *a = &m->theirs.v[i], *b = &m->ours.v[k];
		int64_t want = (int64_t)a->number + shift;

		if (a->taken || want < (int64_t)b->number) {
			i++;
		} else if (b->taken || want > (int64_t)b->number) {
			k++;
		} else {
			nr++;
			if (l)
				take(l, a, b);
			i++;
			k++;
		}
	}
	return nr;
}

struct shift {
	int64_t by;
	unsigned nr;
	uint64_t where;		/* sum of the first two numbers: the same in both directions */
};

static bool better(const struct shift *a, const struct shift *b)
{
	if (a->nr != b->nr)
		return a->nr > b->nr;
	if (llabs(a->by) != llabs(b->by))
		return llabs(a->by) < llabs(b->by);
	return a->where < b->where;
}

static struct shift best_shift(struct matching *m)
{
	struct shift best = { 0 };

	vec_each(&m->theirs, a)
		vec_each(&m->ours, b) {
			struct shift s = { (int64_t)b->number - (int64_t)a->number, 0,
					   (uint64_t)a->number + b->number };

			if (a->taken || b->taken)
				continue;
			if (best.nr && s.by == best.by)
				continue;
			s.nr = fit(m, s.by, NULL);
			if (!best.nr || better(&s, &best))
				best = s;
		}
	return best;
}

static void drop_taken(struct matching *m)
{
	size_t nr = 0;

	vec_each(&m->theirs, a)
		if (!a->taken)
			m->theirs.v[nr++] = *a;
	m->theirs.nr = nr;
	nr = 0;
	vec_each(&m->ours, b)
		if (!b->taken)
			m->ours.v[nr++] = *b;
	m->ours.nr = nr;
}

/* Lines that are not known (0) are no line that can move. */
static void match(struct diff_local *l, struct matching *m, bool same_build)
{
	vec_sort(&m->theirs, by_number);
	vec_sort(&m->ours, by_number);
	if (same_build || (m->ours.nr && !m->ours.v[0].number) ||
	    (m->theirs.nr && !m->theirs.v[0].number) || m->ours.nr > LINES_MAX ||
	    m->theirs.nr > LINES_MAX) {
		fit(m, 0, l);
		return;
	}
	while (m->theirs.nr && m->ours.nr) {
		fit(m, best_shift(m).by, l);
		drop_taken(m);
	}
}

static int enter_rest(struct diff_local *l, const struct diff_local_function *f)
{
	struct diff_function *known = &l->d->functions.v[f->function];

	for (uint32_t i = f->first_line; i != DIFF_NONE; i = l->lines.v[i].next) {
		struct diff_local_line *line = &l->lines.v[i];

		if (line->line != DIFF_NONE)
			continue;
		if (l->d->lines.nr >= DIFF_NONE - 1)
			return -ENOSPC;
		line->line = (uint32_t)l->d->lines.nr;
		if (vec_push(&l->d->lines,
			     (struct diff_line){ f->function, line->number, l->side,
						 known->first_line }))
			return -ENOMEM;
		known->first_line = line->line;
	}
	return 0;
}

static int match_function(struct diff_local *l, const struct diff_local_function *f,
			  struct matching *m)
{
	const struct diff_function *known = &l->d->functions.v[f->function];
	bool same_build = f->id.build && diff_has_build(l->d, DIFF_NO_SIDE, f->id.build);
	int rc = 0;

	m->theirs.nr = m->ours.nr = 0;
	for (uint32_t i = known->first_line; i != DIFF_NONE && !rc; i = l->d->lines.v[i].next)
		rc = vec_push(&m->theirs, (struct known_line){ l->d->lines.v[i].number, i, false });
	for (uint32_t i = f->first_line; i != DIFF_NONE && !rc; i = l->lines.v[i].next)
		rc = vec_push(&m->ours, (struct known_line){ l->lines.v[i].number, i, false });
	if (rc)
		return rc;
	match(l, m, same_build);
	return enter_rest(l, f);
}

int diff_match_lines(struct diff_local *l)
{
	struct matching m = { 0 };
	int rc = 0;

	vec_each(&l->functions, f)
		if (!rc)
			rc = match_function(l, f, &m);
	vec_fini(&m.theirs);
	vec_fini(&m.ours);
	return rc;
}

int diff_rename(struct diff_local *l, uint32_t local, uint32_t function)
{
	struct diff_local_function *f = &l->functions.v[local];
	struct diff_function *was = &l->d->functions.v[f->function],
			     *known = &l->d->functions.v[function];
	struct matching m = { 0 };
	int rc;

	known->id = f->id;
	known->shown = f->shown;
	known->module_row = f->module_row;
	known->side = l->side;
	known->nr_sides++;
	/* nothing is ever the one that it was entered as */
	was->id = (struct diff_identity){ .offset = UINT64_MAX - f->function };
	was->nr_sides = 0;
	f->function = function;
	for (uint32_t i = f->first_line; i != DIFF_NONE; i = l->lines.v[i].next)
		l->lines.v[i].line = DIFF_NONE;
	rc = match_function(l, f, &m);
	vec_fini(&m.theirs);
	vec_fini(&m.ours);
	return rc;
}
