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

#include "src/analyze/diff/diff_shift.h"

/* Of a function with more lines, equal numbers alone are matched. */
#define LINES_MAX	DIFF_SHIFT_LINES

struct known_line {
	uint32_t number, line;	/* line: of the comparison, or the local one */
	bool taken;
};

struct matching {
	VEC(struct known_line) theirs, ours;	/* by number */
	VEC(uint32_t) numbers;			/* those of theirs, then those of ours */
	struct diff_shifts shifts;
};

static void matching_fini(struct matching *m)
{
	vec_fini(&m->theirs);
	vec_fini(&m->ours);
	vec_fini(&m->numbers);
	diff_shifts_fini(&m->shifts);
}

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

/* Take the lines that fit if all have moved by `shift`. */
static void fit(struct matching *m, int64_t shift, struct diff_local *l)
{
	for (size_t i = 0, k = 0; i < m->theirs.nr && k < m->ours.nr;) {
		struct known_line *a = &m->theirs.v[i], *b = &m->ours.v[k];
		int64_t want = (int64_t)a->number + shift;

		if (a->taken || want < (int64_t)b->number) {
			i++;
		} else if (b->taken || want > (int64_t)b->number) {
			k++;
		} else {
			take(l, a, b);
			i++;
			k++;
		}
	}
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

static int begin_shifts(struct matching *m)
{
	m->numbers.nr = 0;
	vec_each(&m->theirs, a)
		if (vec_push(&m->numbers, a->number))
			return -ENOMEM;
	vec_each(&m->ours, b)
		if (vec_push(&m->numbers, b->number))
			return -ENOMEM;
	return diff_shifts_begin(&m->shifts, m->numbers.v, m->theirs.nr,
				 m->numbers.v + m->theirs.nr, m->ours.nr);
}

/* Lines that are not known (0) are no line that can move. 0 or -ENOMEM. */
static int match(struct diff_local *l, struct matching *m, bool same_build)
{
	int rc;

	vec_sort(&m->theirs, by_number);
	vec_sort(&m->ours, by_number);
	if (same_build || (m->ours.nr && !m->ours.v[0].number) ||
	    (m->theirs.nr && !m->theirs.v[0].number) || m->ours.nr > LINES_MAX ||
	    m->theirs.nr > LINES_MAX) {
		fit(m, 0, l);
		return 0;
	}
	rc = m->theirs.nr && m->ours.nr ? begin_shifts(m) : 0;
	while (!rc && m->theirs.nr && m->ours.nr) {
		int64_t by = diff_shifts_best(&m->shifts);

		fit(m, by, l);
		drop_taken(m);
		diff_shifts_take(&m->shifts, by);
	}
	return rc;
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
	rc = match(l, m, same_build);
	return rc ? rc : enter_rest(l, f);
}

int diff_match_lines(struct diff_local *l)
{
	struct matching m = { 0 };
	int rc = 0;

	vec_each(&l->functions, f)
		if (!rc)
			rc = match_function(l, f, &m);
	matching_fini(&m);
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
	matching_fini(&m);
	return rc;
}
