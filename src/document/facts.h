/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts for people: a table of lines, each a name and a sentence. JSON has none of it.
 */
#ifndef DOCUMENT_FACTS_H
#define DOCUMENT_FACTS_H

#include "src/document/table.h"

enum { FACT_NAME, FACT_TEXT };

/* An empty table, table_free(). The title is not copied; NULL: none. NULL when out of memory. */
struct table *facts_new(const char *title);

/* Begin a line; the name is not copied. Its sentence is set as the cell FACT_TEXT. */
void facts_row(struct table *t, const char *name);

#endif
