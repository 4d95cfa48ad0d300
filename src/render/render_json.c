/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON renderer: records become objects, rows arrays of objects, trees objects with an array of
 * children or rows with their depth, series objects of arrays.
 */
#include "src/render/render_json.h"

#include <errno.h>

#include "src/document/doc.h"

/* Where a walk over all rows of all groups stands; all zero: before the first. */
struct at {
	const struct row *row;
	const struct cell *cells;
	uint64_t group;
	size_t next;
	bool loaded;
};

static bool next_row(struct table *t, struct at *at)
{
	for (; at->group < table_groups(t); at->group++, at->next = 0, at->loaded = false) {
		if (!at->loaded)
			table_load(t, at->group);
		at->loaded = true;
		while (at->next < t->rows.nr) {
			at->row = &t->rows.v[at->next];
			at->cells = table_cells(t, at->next++);
			if (at->row->where != ROW_TEXT_ONLY)
				return true;
		}
	}
	return false;
}

static void bars(struct json *j, const char *key, const uint64_t *v, unsigned nr)
{
	json_array_flat(j, key);
	for (unsigned i = 0; i < nr; i++)
		json_u64(j, NULL, v[i]);
	json_end(j);
}

void render_json_cell(struct json *j, const char *key, enum unit unit, const struct cell *c,
		      unsigned nr_bars)
{
	switch (unit) {
	case UNIT_TEXT:
		json_str(j, key, c->set ? c->text : NULL);
		break;
	case UNIT_PERCENT:
	case UNIT_FLOAT:
		json_double(j, key, c->f);
		break;
	case UNIT_ADDRESS:
		json_hex(j, key, c->u);
		break;
	case UNIT_BOOL:
		json_bool(j, key, c->u != 0);
		break;
	case UNIT_BARS:
		bars(j, key, c->bars, nr_bars);
		break;
	case UNIT_NUMBERS:
		bars(j, key, c->bars + 1, (unsigned)c->bars[0]);
		break;
	case UNIT_SIGNED:
		json_i64(j, key, (int64_t)c->u);
		break;
	case UNIT_COUNT:
	case UNIT_NUMBER:
	case UNIT_BYTES:
	case UNIT_DURATION:
	case UNIT_TIME:
		json_u64(j, key, c->u);
		break;
	}
}

static void members(struct json *j, const struct table *t, const struct cell *cells)
{
	for (unsigned i = 0; i < t->nr_columns; i++) {
		const struct column *col = &t->column[i];

		if (!col->key || (col->flags & COLUMN_TEXT_ONLY))
			continue;
		if (cells[i].set)
			render_json_cell(j, col->key, col->unit, &cells[i], t->bars_nr);
		else if (t->shape == TABLE_ROWS)
			json_null(j, col->key);
	}
}

static void rows(struct json *j, struct table *t)
{
	json_array(j, t->key);
	for (struct at at = { 0 }; next_row(t, &at);) {
		json_object_flat(j, NULL);
		members(j, t, at.cells);
		json_end(j);
	}
	json_end(j);
}

static void record(struct json *j, struct table *t)
{
	struct at at = { 0 };

	json_object(j, t->key);
	if (next_row(t, &at))
		members(j, t, at.cells);
	json_end(j);
}

/* Two levels: rows of depth 0, and all below them in an array. */
static void nested_tree(struct json *j, struct table *t)
{
	bool open = false;

	json_array(j, t->key);
	for (struct at at = { 0 }; next_row(t, &at);) {
		if (at.row->depth && open) {
			json_object_flat(j, NULL);
			members(j, t, at.cells);
			json_end(j);
			continue;
		}
		if (open) {
			json_end(j);
			json_end(j);
		}
		json_object(j, NULL);
		members(j, t, at.cells);
		json_array(j, t->children_key);
		open = true;
	}
	if (open) {
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/*
 * Rows with their depth, parents first: a row's parent is the nearest one above it with a
 * smaller depth.
 */
static void flat_tree(struct json *j, struct table *t)
{
	json_array(j, t->key);
	for (struct at at = { 0 }; next_row(t, &at);) {
		json_object_flat(j, NULL);
		json_u64(j, "depth", at.row->depth);
		members(j, t, at.cells);
		json_end(j);
	}
	json_end(j);
}

static void series(struct json *j, const struct series *s)
{
	json_object(j, s->key);
	for (unsigned c = 0; c < s->nr_columns; c++) {
		json_array_flat(j, s->column[c].key);
		for (size_t i = 0; i < s->nr; i++)
			json_u64(j, NULL, series_get(s, i, c));
		json_end(j);
	}
	if (s->mark < s->nr)
		json_u64(j, s->mark_key, s->mark);
	json_end(j);
}

int doc_print_json(const struct doc *d, FILE *out)
{
	struct json j;
	int rc, failed = 0;

	json_init(&j, out);
	(d->one_line ? json_object_flat : json_object)(&j, NULL);
	json_str(&j, "schema", d->schema);
	for (size_t i = 0; i < d->sections.nr; i++) {
		const struct section *s = &d->sections.v[i];

		if (s->series && s->series->key)
			series(&j, s->series);
		if (!s->table || !s->table->key)
			continue;
		if (s->table->shape == TABLE_RECORD)
			record(&j, s->table);
		else if (s->table->shape == TABLE_TREE && s->table->children_key)
			nested_tree(&j, s->table);
		else if (s->table->shape == TABLE_TREE)
			flat_tree(&j, s->table);
		else
			rows(&j, s->table);
		failed |= table_error(s->table);
	}
	json_end(&j);
	rc = json_finish(&j);
	return rc ? rc : failed;
}
