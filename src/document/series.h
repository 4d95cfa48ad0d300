/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result as a series: values over time. The second renderable shape beside tables.
 */
#ifndef DOCUMENT_SERIES_H
#define DOCUMENT_SERIES_H

#include "src/document/table.h"

struct series {
	const char *key, *title;
	const struct column
		*column; /* [0] is time (UNIT_DURATION), rising; [1] is what text draws */
	unsigned nr_columns;
	size_t nr;
	uint64_t *value;       /* nr_columns per point */
	size_t mark;	       /* the point that matters most (the peak), >= nr: none */
	const char *mark_key;  /* JSON name of its index */
	const char *mark_name; /* what text calls it */
	bool json_only;	       /* too few points for a picture */
	/* the step of the clock that its times are of; 0: finer than is shown */
	uint64_t tick_ns;
};

/*
 * A series of nr points, all 0, series_free(). Strings and columns are not copied. NULL when out
 * of memory.
 */
struct series *series_new(const char *key, const char *title, const struct column *column,
			  unsigned nr_columns, size_t nr);
void series_free(struct series *s);

void series_set(struct series *s, size_t point, unsigned column, uint64_t value);
uint64_t series_get(const struct series *s, size_t point, unsigned column);

/*
 * The series as `nr` columns of equal width in time: out[i] is the highest value of column 1 in
 * that stretch, counting the one it began with. Returns the highest of all.
 */
uint64_t series_fold(const struct series *s, uint64_t *out, size_t nr);

#endif
