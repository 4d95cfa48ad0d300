/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts for people: two columns without headings. */
#include "src/document/facts.h"

#include <stdarg.h>

static const struct column columns[] = {
	[FACT_NAME] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[FACT_TEXT] = TEXT_COLUMN(NULL, UNIT_TEXT),
};

struct table *facts_new(const char *title)
{
	return table_new(TABLE_ROWS, NULL, title, columns, sizeof(columns) / sizeof(*columns));
}

static void add_row(struct table *t, const char *name)
{
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_set_const(t, FACT_NAME, name);
}

void facts_add(struct table *t, const char *name, const char *fmt, ...)
{
	va_list args;

	if (!t)
		return;
	add_row(t, name);
	va_start(args, fmt);
	table_vsetf(t, FACT_TEXT, fmt, args);
	va_end(args);
}

void facts_text(struct table *t, const char *name, const struct str *s)
{
	if (!t)
		return;
	add_row(t, name);
	table_set_text(t, FACT_TEXT, table_text(t, s));
}

void facts_wrap(struct table *t, const char *name, const char *text, unsigned measure)
{
	if (!t)
		return;
	add_row(t, name);
	table_wrap(t, FACT_TEXT, text, measure, 0, ROW_PLAIN, true);
}
