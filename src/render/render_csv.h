/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of documents as comma-separated values. */
#ifndef RENDER_RENDER_CSV_H
#define RENDER_RENDER_CSV_H

#include <stdio.h>

#include "src/base/str.h"
#include "src/document/doc.h"

/*
 * Write the table, tree or series of that key; NULL: the first table that is no record. 0, -ENOENT
 * (there is none), or -errno.
 */
int doc_print_csv(const struct doc *d, const char *table, FILE *out);

/* Is there a table of that name, or any? */
bool doc_csv_has(const struct doc *d, const char *table);

/* Append the keys that it knows: "lines, sites". */
void doc_csv_tables(const struct doc *d, struct str *names);

#endif
