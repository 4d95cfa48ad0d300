/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result as a table or a tree: what renderers know how to show.
 *
 * A tree is a table whose rows have a depth; a record (doc_record.h) is a table of one row. Cells
 * hold raw numbers, columns say what those are; how they look is the renderer's affair. Rows come
 * in groups: stored ones are a single group; others are made on demand, group by group, by a `fill`
 * function, so that a million blocks need no million rows. Trouble is sticky: add without checking,
 * ask table_error() once.
 */
#ifndef DOCUMENT_TABLE_H
#define DOCUMENT_TABLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/str.h"
#include "src/base/vec.h"

/* What a column's cells are. JSON keys of the ones with a unit end in it, as the comment says. */
enum unit {
	UNIT_TEXT,
	UNIT_COUNT,
	UNIT_NUMBER,   /* an identity (pid, line): no grouping of digits */
	UNIT_SIGNED,   /* a number that may be negative: the int64_t of `u` */
	UNIT_BYTES,    /* _bytes */
	UNIT_PERCENT,  /* _percent, 0..100 */
	UNIT_DURATION, /* _ns */
	UNIT_TIME,     /* _realtime_ns, since 1970 */
	UNIT_ADDRESS,  /* hexadecimal, a string in JSON */
	UNIT_FLOAT,    /* any other number */
	UNIT_BOOL,
	UNIT_BARS, /* a list of counts */
	/* a list of identities, as UNIT_NUMBER; the first element says how many follow */
	UNIT_NUMBERS,
};

enum column_flags {
	COLUMN_TEXT_ONLY = 1 << 0,
	COLUMN_JSON_ONLY = 1 << 1,
	COLUMN_LABEL =
		1 << 2, /* the last one but for its tail: indented by depth, cut to the line */
	COLUMN_TAIL = 1 << 3, /* right after the label; when room is short the label is cut first */
	/*
	 * a duration that counts from a moment known exactly: 0 shows as "0 s" whatever the clock
	 */
	COLUMN_MOMENT = 1 << 5,
	/* zeros show as "-" in text; a column of nothing else is left out there */
	COLUMN_ZERO_BLANK = 1 << 4,
	/* UNIT_SIGNED: a change, with its sign in text; of bytes where the key ends in "_bytes" */
	COLUMN_CHANGE = 1 << 6,
	/* text whose end says most, as a path's: loses its beginning where a line has no room */
	COLUMN_GIVES_WAY = 1 << 7,
};

struct column {
	const char *key;   /* JSON; NULL with COLUMN_TEXT_ONLY */
	const char *title; /* text; NULL with COLUMN_JSON_ONLY, and where none needs a heading */
	enum unit unit;
	unsigned flags; /* enum column_flags */
};

/* Columns that only one of the forms has. */
#define JSON_COLUMN(key, unit)		{ key, NULL, unit, COLUMN_JSON_ONLY }
#define TEXT_COLUMN(title, unit)	{ NULL, title, unit, COLUMN_TEXT_ONLY }

struct cell {
	bool set; /* else empty: left out of trees' and records' JSON, null in rows */
	union {
		uint64_t u;
		double f; /* UNIT_PERCENT, UNIT_FLOAT */
		const char *text;
		const uint64_t *bars; /* bars_nr of the table; UNIT_NUMBERS: its own number first */
	};
};

enum row_style { ROW_PLAIN, ROW_STRONG, ROW_DIM, ROW_TOTAL };
#define ROW_NR_STYLES (ROW_TOTAL + 1)
enum row_where { ROW_BOTH, ROW_TEXT_ONLY, ROW_JSON_ONLY };

struct row {
	uint32_t depth;
	uint8_t style; /* enum row_style */
	uint8_t where; /* enum row_where */
	bool sentence; /* its label is broken into lines where it is too long, not cut */
	/* lines of its text have at most so many characters, if there is more room too; 0: any */
	uint8_t measure;
};

enum table_shape { TABLE_ROWS, TABLE_RECORD, TABLE_TREE };

struct table {
	const char *key;   /* in JSON; NULL: text only */
	const char *title; /* in text; NULL: none */
	enum table_shape shape;
	bool json_only;
	bool estimated;	   /* figures are of a sample; CSV has a column that says so */
	bool no_margin; /* in text: lines begin in the first column */
	bool fold_chains; /* tree in text: an only child stays at its parent's indentation */
	/* tree in JSON: nested under this key; NULL: flat rows with their depth */
	const char *children_key;
	const struct column *column;
	unsigned nr_columns;
	VEC(struct column) members; /* of a record: `column` points to these */
	unsigned bars_nr; /* length of UNIT_BARS cells */
	uint64_t tick_ns; /* the step of the clock that durations are of; 0: finer than is shown */
	VEC(struct row) rows;
	VEC(struct cell) cells;	 /* nr_columns per row */
	VEC(const char *) notes; /* lines below the table, text only */
	struct arena text, note_text;
	bool failed;
	void (*fill)(struct table *t,
		     uint64_t group); /* adds the rows of a group; NULL: rows are stored */
	uint64_t nr_groups;	      /* with fill */
	void *ctx;		      /* for fill; not owned */
};

/*
 * An empty table, table_free(). Strings and columns are not copied and must outlive it. NULL
 * when out of memory.
 */
struct table *table_new(enum table_shape shape, const char *key, const char *title,
			const struct column *column, unsigned nr_columns);
void table_free(struct table *t);

/* Begin a row; the setters below fill its cells. */
void table_row(struct table *t, uint32_t depth, enum row_style style, enum row_where where);

/* The row begun last is a sentence, in its label alone. */
void table_sentence(struct table *t);

void table_set(struct table *t, unsigned column, uint64_t value);
void table_set_float(struct table *t, unsigned column, double value);
void table_set_bars(struct table *t, unsigned column, const uint64_t *bars);
/* The same of a copy of `nr` numbers. */
void table_copy_bars(struct table *t, unsigned column, const uint64_t *bars, unsigned nr);
/*
 * Text is copied, unless it is constant for as long as the table lives. NULL leaves the cell
 * empty.
 */
void table_set_text(struct table *t, unsigned column, const char *text);
void table_set_const(struct table *t, unsigned column, const char *text);
void table_setf(struct table *t, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void table_vsetf(struct table *t, unsigned column, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));

/*
 * The text of a string, for one of these; what it could not hold for want of memory fails the
 * table.
 */
const char *table_text(struct table *t, const struct str *s);

/*
 * Text that must be read whole: renderers break it at spaces into lines of at most `measure`
 * characters, of fewer where there is less room. A row for text only, of this depth and style; with
 * `here` the row begun last.
 */
void table_wrap(struct table *t, unsigned column, const char *text, unsigned measure,
		uint32_t depth, enum row_style style, bool here);

void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

uint64_t table_groups(const struct table *t);

/* Make the rows of a group the ones in t->rows; texts of other groups' cells are gone. */
void table_load(struct table *t, uint64_t group);

/* Cells of row i of the loaded group, nr_columns of them. */
const struct cell *table_cells(const struct table *t, size_t i);

/* 0 or -ENOMEM. */
int table_error(const struct table *t);

#endif
