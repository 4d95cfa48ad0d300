/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts for people: two columns without headings. */
#include "src/document/facts.h"

static const struct column columns[] = {
	[FACT_NAME] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[FACT_TEXT] = TEXT_COLUMN(NULL, UNIT_TEXT),
};

struct table *facts_new(const char *title)
{
	return table_new(TABLE_ROWS, NULL, title, columns, sizeof(columns) / sizeof(*columns));
}

void facts_row(struct table *t, const char *name)
{
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_set_const(t, FACT_NAME, name);
}
