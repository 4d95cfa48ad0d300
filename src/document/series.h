/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result as a series: values over time. The second renderable shape beside tables.
 */
#ifndef DOCUMENT_SERIES_H
#define DOCUMENT_SERIES_H

#include "src/document/table.h"

/* Events below the values, on the same axis of time. */
struct series_event {
	uint64_t time_ns, count;
};

struct series_row {
	const char *name;		/* at most 10 characters; not copied */
	VEC(struct series_event) events;
};

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
	bool estimated;	       /* as a table's */
	bool json_only;	       /* too few points for a picture */
	VEC(struct series_row) rows;   /* of events, which text shows as marks */
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

/* Add a row of events: its number, or -ENOMEM. Add events to it: 0 or -ENOMEM. */
int series_add_row(struct series *s, const char *name);
int series_mark(struct series *s, unsigned row, uint64_t time_ns, uint64_t count);

/*
 * A row as `nr` columns of equal width in time: how many events are in each. What is outside of the
 * series' times is in the first or last one.
 */
void series_fold_row(const struct series *s, unsigned row, uint64_t *out, size_t nr);

#endif
