/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series: a matrix of values, folded to a given width for drawing.
 */
#include "src/document/series.h"

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

static size_t stretch_of(const struct series *s, size_t point, size_t nr)
{
	double from = (double)series_get(s, 0, 0), to = (double)series_get(s, s->nr - 1, 0);
	double at = (double)series_get(s, point, 0);
	size_t i = to > from ? (size_t)((at - from) / (to - from) * (double)nr) : 0;

	return i < nr ? i : nr - 1;
}

uint64_t series_fold(const struct series *s, uint64_t *out, size_t nr)
{
	uint64_t highest = 0, last = 0;
	size_t done = 0;

	for (size_t i = 0; i < nr; i++)
		out[i] = 0;
	for (size_t i = 0; i < s->nr && nr; i++) {
		size_t at = stretch_of(s, i, nr);
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
