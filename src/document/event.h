/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event: something that happened at a moment, beside documents the other thing that a renderer
 * shows.
 *
 * It has named, typed fields, of which one form makes an object, and a few lines of text, of which
 * the other one makes a message; a table may stand below those. Trouble is sticky: add without
 * checking, event_print_*() says whether all of it is there.
 */
#ifndef DOCUMENT_EVENT_H
#define DOCUMENT_EVENT_H

#include <stdio.h>

#include "src/document/doc.h"

struct event;

/* What a form may not need is made when it does; `arg` must live as long as the event. */
typedef void event_fill(struct event *e, const void *arg);
typedef struct table *event_below(const void *arg);

enum field_kind {
	FIELD_VALUE,
	FIELD_OBJECT,		/* fields follow, up to its FIELD_END */
	FIELD_LIST,		/* the same without keys */
	FIELD_FILLED_LIST,	/* what `fill` adds */
	FIELD_END,
};

struct field {
	enum field_kind kind;
	enum unit unit;		/* FIELD_VALUE; none of the lists */
	const char *key;	/* NULL in lists */
	union {
		struct cell cell;
		struct {
			event_fill *fill;
			const void *arg;
		};
	};
};

struct event {
	VEC(struct field) fields;
	struct str text;	/* lines, each with its line feed; empty: fields only */
	event_below *below;	/* table below the text; NULL: none */
	const void *below_arg;
	struct arena copies;	/* of text */
	bool failed;
};

/* Fields. Keys are not copied; text is, and NULL stays a field without a value. */
void event_u64(struct event *e, const char *key, enum unit unit, uint64_t value);
void event_float(struct event *e, const char *key, double value);
void event_text(struct event *e, const char *key, const char *text);
void event_object(struct event *e, const char *key);
void event_list(struct event *e, const char *key);
void event_filled_list(struct event *e, const char *key, event_fill *fill, const void *arg);
void event_end(struct event *e);

/*
 * Fields of a group of a table of nested rows: cells of the first row, and those of the rows below
 * as a list under the table's children_key. They are the table's, valid until it loads another
 * group. No column may be UNIT_BARS.
 */
void event_group(struct event *e, struct table *t, uint64_t group);

/* 0, or -ENOMEM when something could not be added. */
int event_error(const struct event *e);

void event_fini(struct event *e);

/*
 * Write one JSON object on a line, of the fields; without any nothing. 0 or -errno; -ENOMEM: what
 * is written, if anything, is not all.
 */
int event_print_json(const struct event *e, FILE *out);

/*
 * Write the lines and the table below them, for a person. Lines are broken where they are too long,
 * what follows under the text of the first. 0 or -errno; where memory ran out it says so instead.
 */
int event_print_text(const struct event *e, const struct style *style, FILE *out);

#endif
