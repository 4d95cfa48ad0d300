/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series: a matrix of values, folded to a given width for drawing.
 */
#include "src/document/series.h"

#include <errno.h>
#include <stdlib.h>

struct series *series_new(const char *key, const char *title, const struct column *column,
			  unsigned nr_columns, size_t nr)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->key = key;
	s->title = title;
	s->column = column;
	s->nr_columns = nr_columns;
	s->nr = nr;
	s->mark = SIZE_MAX;
	s->value = calloc(nr ? nr : 1, nr_columns * sizeof(*s->value));
	if (!s->value) {
		free(s);
		return NULL;
	}
	return s;
}

void series_free(struct series *s)
{
	if (!s)
		return;
	vec_each (&s->rows, row)
		vec_fini(&row->events);
	vec_fini(&s->rows);
	free(s->value);
	free(s);
}

void series_set(struct series *s, size_t point, unsigned column, uint64_t value)
{
	s->value[point * s->nr_columns + column] = value;
}

uint64_t series_get(const struct series *s, size_t point, unsigned column)
{
	return s->value[point * s->nr_columns + column];
}

/* The column of a time. */
static size_t stretch_of(const struct series *s, uint64_t time_ns, size_t nr)
{
	double from = (double)series_get(s, 0, 0), to = (double)series_get(s, s->nr - 1, 0);
	double at = ((double)time_ns - from) / (to - from) * (double)nr;

	if (!(to > from) || !(at > 0))
		return 0;
	return at < (double)nr ? (size_t)at : nr - 1;
}

uint64_t series_fold(const struct series *s, uint64_t *out, size_t nr)
{
	uint64_t highest = 0, last = 0;
	size_t done = 0;

	for (size_t i = 0; i < nr; i++)
		out[i] = 0;
	for (size_t i = 0; i < s->nr && nr; i++) {
		size_t at = stretch_of(s, series_get(s, i, 0), nr);
		uint64_t value = series_get(s, i, 1);

		for (; done <= at; done++)
			out[done] = last;
		if (value > out[at])
			out[at] = value;
		if (value > highest)
			highest = value;
		last = value;
	}
	for (; done < nr; done++)
		out[done] = last;
	return highest;
}

int series_add_row(struct series *s, const char *name)
{
	return vec_push(&s->rows, (struct series_row){ .name = name }) ? -ENOMEM
								      : (int)s->rows.nr - 1;
}

int series_mark(struct series *s, unsigned row, uint64_t time_ns, uint64_t count)
{
	return vec_push(&s->rows.v[row].events, (struct series_event){ time_ns, count });
}

void series_fold_row(const struct series *s, unsigned row, uint64_t *out, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = 0;
	if (!s->nr || !nr)
		return;
	vec_each (&s->rows.v[row].events, e)
		out[stretch_of(s, e->time_ns, nr)] += e->count;
}
