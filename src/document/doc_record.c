/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records for programs: the columns are made with the cells. */
#include "src/document/doc_record.h"

struct table *record_new(const char *key)
{
	struct table *t = table_new(TABLE_RECORD, key, NULL, NULL, 0);

	if (t) {
		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	}
	return t;
}

/* The column of a new member, whose cell is empty. */
static unsigned add_column(struct table *t, const char *key, enum unit unit)
{
	const struct column column = JSON_COLUMN(key, unit);

	if (vec_resize(&t->cells, t->members.nr + 1) || vec_push(&t->members, column))
		t->failed = true;
	t->column = t->members.v;
	t->nr_columns = (unsigned)t->members.nr;
	return t->nr_columns - 1;
}

void record_add(struct table *t, const char *key, enum unit unit, uint64_t value)
{
	if (t)
		table_set(t, add_column(t, key, unit), value);
}

void record_float(struct table *t, const char *key, enum unit unit, double value)
{
	if (t)
		table_set_float(t, add_column(t, key, unit), value);
}

void record_text(struct table *t, const char *key, const char *text)
{
	if (t && text)
		table_set_text(t, add_column(t, key, UNIT_TEXT), text);
}
