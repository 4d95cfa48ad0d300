/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event: fields in order, what is inside an object or a list between its two ends. */
#include "src/document/event.h"

#include <errno.h>

static void add(struct event *e, struct field f)
{
	if (vec_push(&e->fields, f))
		e->failed = true;
}

void event_u64(struct event *e, const char *key, enum unit unit, uint64_t value)
{
	add(e, (struct field){ .unit = unit, .key = key, .cell = { .set = true, .u = value } });
}

void event_float(struct event *e, const char *key, double value)
{
	add(e,
	    (struct field){ .unit = UNIT_FLOAT, .key = key, .cell = { .set = true, .f = value } });
}

void event_text(struct event *e, const char *key, const char *text)
{
	const char *copy = text ? arena_strdup(&e->copies, text) : NULL;

	if (text && !copy)
		e->failed = true;
	add(e,
	    (struct field){ .unit = UNIT_TEXT, .key = key, .cell = { .set = copy, .text = copy } });
}

void event_object(struct event *e, const char *key)
{
	add(e, (struct field){ .kind = FIELD_OBJECT, .key = key });
}

void event_list(struct event *e, const char *key)
{
	add(e, (struct field){ .kind = FIELD_LIST, .key = key });
}

void event_filled_list(struct event *e, const char *key, event_fill *fill, const void *arg)
{
	add(e, (struct field){ .kind = FIELD_FILLED_LIST, .key = key, .fill = fill, .arg = arg });
}

void event_end(struct event *e)
{
	add(e, (struct field){ .kind = FIELD_END });
}

static void add_row(struct event *e, const struct table *t, size_t row)
{
	const struct cell *cells = table_cells(t, row);

	for (unsigned i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->column[i];

		if (c->key && !(c->flags & COLUMN_TEXT_ONLY) && cells[i].set)
			add(e, (struct field){ .unit = c->unit, .key = c->key, .cell = cells[i] });
	}
}

void event_group(struct event *e, struct table *t, uint64_t group)
{
	bool below = false;

	table_load(t, group);
	for (size_t i = 0; i < t->rows.nr; i++) {
		if (t->rows.v[i].where == ROW_TEXT_ONLY)
			continue;
		if (!t->rows.v[i].depth) {
			add_row(e, t, i);
			continue;
		}
		if (!below)
			event_list(e, t->children_key);
		below = true;
		event_object(e, NULL);
		add_row(e, t, i);
		event_end(e);
	}
	if (!below)
		event_list(e, t->children_key);
	event_end(e);
	e->failed |= table_error(t) != 0;
}

int event_error(const struct event *e)
{
	return e->failed ? -ENOMEM : str_error(&e->text);
}

void event_fini(struct event *e)
{
	vec_fini(&e->fields);
	str_fini(&e->text);
	arena_fini(&e->copies);
}
