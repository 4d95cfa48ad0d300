/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts for people: a table of lines, each a name and a sentence. JSON has none of it.
 *
 * Facts are NULL when out of memory; the functions accept that, and doc_add() fails the document.
 */
#ifndef DOCUMENT_FACTS_H
#define DOCUMENT_FACTS_H

#include "src/document/table.h"

enum { FACT_NAME, FACT_TEXT };

/* An empty table, table_free(). The title is not copied; NULL: none. NULL when out of memory. */
struct table *facts_new(const char *title);

/* Add a line. The name is not copied. */
void facts_add(struct table *t, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of a sentence that is made already; what it could not hold for want of memory fails. */
void facts_text(struct table *t, const char *name, const struct str *s);

/* The same, in lines of at most `measure` characters. */
void facts_wrap(struct table *t, const char *name, const char *text, unsigned measure);

#endif
