/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables: rows in one array, cells in another, text in an arena.
 */
#include "src/document/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct table *table_new(enum table_shape shape, const char *key, const char *title,
			const struct column *column, unsigned nr_columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->shape = shape;
	t->key = key;
	t->title = title;
	t->column = column;
	t->nr_columns = nr_columns;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	vec_fini(&t->members);
	vec_fini(&t->rows);
	vec_fini(&t->cells);
	vec_fini(&t->notes);
	arena_fini(&t->text);
	arena_fini(&t->note_text);
	free(t);
}

void table_row(struct table *t, uint32_t depth, enum row_style style, enum row_where where)
{
	if (t->failed)
		return;
	if (vec_push(&t->rows, (struct row){ .depth = depth, .style = style, .where = where }) ||
	    vec_resize(&t->cells, t->rows.nr * t->nr_columns))
		t->failed = true;
}

void table_sentence(struct table *t)
{
	if (!t->failed && t->rows.nr)
		t->rows.v[t->rows.nr - 1].sentence = true;
}

/* Cell of the row begun last; NULL after trouble. */
static struct cell *cell_of(struct table *t, unsigned column)
{
	struct cell *c;

	if (t->failed || !t->rows.nr || column >= t->nr_columns)
		return NULL;
	c = &t->cells.v[(t->rows.nr - 1) * t->nr_columns + column];
	c->set = true;
	return c;
}

void table_set(struct table *t, unsigned column, uint64_t value)
{
	struct cell *c = cell_of(t, column);

	if (c)
		c->u = value;
}

void table_set_float(struct table *t, unsigned column, double value)
{
	struct cell *c = cell_of(t, column);

	if (c)
		c->f = value;
}

void table_set_bars(struct table *t, unsigned column, const uint64_t *bars)
{
	struct cell *c = cell_of(t, column);

	if (c)
		c->bars = bars;
}

void table_copy_bars(struct table *t, unsigned column, const uint64_t *bars, unsigned nr)
{
	uint64_t *copy = arena_alloc(&t->text, nr * sizeof(*copy));

	if (!copy) {
		t->failed = true;
		return;
	}
	memcpy(copy, bars, nr * sizeof(*copy));
	table_set_bars(t, column, copy);
}

void table_set_const(struct table *t, unsigned column, const char *text)
{
	struct cell *c = text ? cell_of(t, column) : NULL;

	if (c)
		c->text = text;
}

void table_set_text(struct table *t, unsigned column, const char *text)
{
	const char *copy = text ? arena_strdup(&t->text, text) : NULL;

	if (text && !copy)
		t->failed = true;
	table_set_const(t, column, copy);
}

const char *table_text(struct table *t, const struct str *s)
{
	if (str_error(s))
		t->failed = true;
	return str_text(s);
}

static const char *format(struct table *t, struct arena *arena, const char *fmt, va_list args)
{
	char *text;
	const char *copy;

	if (vasprintf(&text, fmt, args) < 0) {
		t->failed = true;
		return NULL;
	}
	copy = arena_strdup(arena, text);
	free(text);
	if (!copy)
		t->failed = true;
	return copy;
}

void table_vsetf(struct table *t, unsigned column, const char *fmt, va_list args)
{
	table_set_const(t, column, format(t, &t->text, fmt, args));
}

void table_setf(struct table *t, unsigned column, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	table_vsetf(t, column, fmt, args);
	va_end(args);
}

void table_wrap(struct table *t, unsigned column, const char *text, unsigned measure,
		uint32_t depth, enum row_style style, bool here)
{
	if (!here)
		table_row(t, depth, style, ROW_TEXT_ONLY);
	table_setf(t, column, "%s", text);
	table_sentence(t);
	if (!t->failed && t->rows.nr)
		t->rows.v[t->rows.nr - 1].measure = (uint8_t)measure;
}

void table_note(struct table *t, const char *fmt, ...)
{
	const char *text;
	va_list args;

	va_start(args, fmt);
	text = format(t, &t->note_text, fmt, args);
	va_end(args);
	if (text && vec_push(&t->notes, text))
		t->failed = true;
}

uint64_t table_groups(const struct table *t)
{
	return t->fill ? t->nr_groups : 1;
}

void table_load(struct table *t, uint64_t group)
{
	if (!t->fill)
		return;
	t->rows.nr = 0;
	t->cells.nr = 0;
	arena_fini(&t->text);
	t->fill(t, group);
	if (t->failed)
		t->rows.nr = 0;
}

const struct cell *table_cells(const struct table *t, size_t i)
{
	return &t->cells.v[i * t->nr_columns];
}

int table_error(const struct table *t)
{
	return t->failed ? -ENOMEM : 0;
}
