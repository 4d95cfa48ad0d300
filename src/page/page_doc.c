/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A document for a page: sections in order, each a table with its columns and all cells of its
 * rows, or a series. What is for text only and what is for JSON only are both there, and marked.
 */
#include <errno.h>
#include <string.h>

#include "src/base/json.h"
#include "src/page/page_priv.h"
#include "src/render/render_json.h"

static const char *const unit_name[] = {
	[UNIT_TEXT] = "text",	      [UNIT_COUNT] = "count",	[UNIT_NUMBER] = "number",
	[UNIT_SIGNED] = "signed",     [UNIT_BYTES] = "bytes",	[UNIT_PERCENT] = "percent",
	[UNIT_DURATION] = "duration", [UNIT_TIME] = "time",	[UNIT_ADDRESS] = "address",
	[UNIT_FLOAT] = "float",	      [UNIT_BOOL] = "bool",	[UNIT_BARS] = "bars",
	[UNIT_NUMBERS] = "numbers",
};

static const char *const shape_name[] = {
	[TABLE_ROWS] = "rows",
	[TABLE_RECORD] = "record",
	[TABLE_TREE] = "tree",
};

static void put_columns(struct json *j, const struct column *c, unsigned nr)
{
	json_array(j, "columns");
	for (unsigned i = 0; i < nr; i++) {
		json_object_flat(j, NULL);
		json_str(j, "key", c[i].key);
		json_str(j, "title", c[i].title);
		json_str(j, "unit", unit_name[c[i].unit]);
		if (c[i].flags & COLUMN_TEXT_ONLY)
			json_bool(j, "text_only", true);
		if (c[i].flags & COLUMN_JSON_ONLY)
			json_bool(j, "json_only", true);
		if (c[i].flags & COLUMN_LABEL)
			json_bool(j, "label", true);
		if (c[i].flags & COLUMN_TAIL)
			json_bool(j, "tail", true);
		if (c[i].flags & COLUMN_MOMENT)
			json_bool(j, "moment", true);
		if (c[i].flags & COLUMN_ZERO_BLANK)
			json_bool(j, "zero_blank", true);
		json_end(j);
	}
	json_end(j);
}

/* [depth, style, where, cells ...] */
static void put_row(struct json *j, const struct table *t, size_t i)
{
	const struct row *row = &t->rows.v[i];
	const struct cell *cells = table_cells(t, i);

	json_array_flat(j, NULL);
	json_u64(j, NULL, row->depth);
	json_u64(j, NULL, row->style);
	json_u64(j, NULL, row->where);
	for (unsigned c = 0; c < t->nr_columns; c++) {
		if (cells[c].set)
			render_json_cell(j, NULL, t->column[c].unit, &cells[c], t->bars_nr);
		else
			json_null(j, NULL);
	}
	json_end(j);
}

static void put_table(struct json *j, struct table *t)
{
	json_str(j, "shape", shape_name[t->shape]);
	json_bool(j, "json_only", t->json_only);
	json_u64(j, "tick_ns", t->tick_ns);
	put_columns(j, t->column, t->nr_columns);
	json_array(j, "rows");
	for (uint64_t g = 0; g < table_groups(t); g++) {
		table_load(t, g);
		for (size_t i = 0; i < t->rows.nr; i++)
			put_row(j, t, i);
	}
	json_end(j);
	json_array(j, "notes");
	for (size_t i = 0; i < t->notes.nr; i++)
		json_str(j, NULL, t->notes.v[i]);
	json_end(j);
}

static void put_events(struct json *j, const struct series *s)
{
	json_array(j, "events");
	for (size_t r = 0; r < s->rows.nr; r++) {
		const struct series_row *row = &s->rows.v[r];

		json_object(j, NULL);
		json_str(j, "name", row->name);
		json_array_flat(j, "time_ns");
		for (size_t i = 0; i < row->events.nr; i++)
			json_u64(j, NULL, row->events.v[i].time_ns);
		json_end(j);
		json_array_flat(j, "count");
		for (size_t i = 0; i < row->events.nr; i++)
			json_u64(j, NULL, row->events.v[i].count);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_series(struct json *j, const struct series *s)
{
	json_str(j, "shape", "series");
	json_bool(j, "json_only", s->json_only);
	json_u64(j, "tick_ns", s->tick_ns);
	put_columns(j, s->column, s->nr_columns);
	json_array(j, "values");
	for (unsigned c = 0; c < s->nr_columns; c++) {
		json_array_flat(j, NULL);
		for (size_t i = 0; i < s->nr; i++)
			json_u64(j, NULL, series_get(s, i, c));
		json_end(j);
	}
	json_end(j);
	if (s->mark < s->nr)
		json_u64(j, "mark", s->mark);
	put_events(j, s);
}

static bool is_left_out(const char *key, const char *const *leave_out)
{
	for (; key && leave_out && *leave_out; leave_out++)
		if (!strcmp(key, *leave_out))
			return true;
	return false;
}

static void put_section(struct json *j, const struct section *s)
{
	json_object(j, NULL);
	json_str(j, "key", s->table ? s->table->key : s->series->key);
	json_str(j, "title", s->table ? s->table->title : s->series->title);
	if (s->table)
		put_table(j, s->table);
	else
		put_series(j, s->series);
	json_end(j);
}

void page_doc(struct page *p, const char *part, const struct doc *d, const char *const *leave_out)
{
	FILE *f = page_part(p, part);
	struct json j;
	int failed = 0;

	if (!f)
		return;
	json_init(&j, f);
	json_object(&j, NULL);
	json_str(&j, "schema", d->schema);
	json_array(&j, "sections");
	for (size_t i = 0; i < d->sections.nr; i++) {
		const struct section *s = &d->sections.v[i];

		if (is_left_out(s->table ? s->table->key : s->series->key, leave_out))
			continue;
		put_section(&j, s);
		failed |= s->table && table_error(s->table);
	}
	json_end(&j);
	json_end(&j);
	if (json_finish(&j) && !p->rc)
		p->rc = -EIO;
	if (failed && !p->rc)
		p->rc = -ENOMEM;
	page_part_end(p, f);
}
