/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of plain text for the text renderer: cells, cutting, graphs. Whatever comes from outside
 * goes through utf8_add_clean() (src/base/utf8.h), which leaves only printable characters; widths
 * count characters.
 */
#ifndef RENDER_PLAIN_H
#define RENDER_PLAIN_H

#include "src/base/str.h"
#include "src/document/doc.h"

/* Columns that clean text takes. */
unsigned plain_width(const char *text);

/*
 * Append clean text, cut to `width` columns at its end (at its front) with a mark where
 * something is missing.
 */
void plain_cut(struct str *s, const char *text, unsigned width, const struct style *style);
void plain_cut_front(struct str *s, const char *text, unsigned width, const struct style *style);

/* Append a cell as a person reads it. */
void plain_cell(struct str *s, const struct table *t, unsigned column, const struct cell *c,
		const struct style *style);

/* Append counts as one character each, by their share of the largest. */
void plain_bars(struct str *s, const uint64_t *v, unsigned nr, const struct style *style);

/* Write the heading of a section. 0 or -ENOMEM. */
int plain_title(const char *title, const struct style *style, FILE *out);

/*
 * Is there enough of a series for plain_graph() to draw? That draws column 1 over time, the mark
 * pointed at, and a line of marks for each row of events. 0 or -ENOMEM.
 */
bool plain_has_graph(const struct series *s);
int plain_graph(const struct series *s, const struct style *style, FILE *out);

#endif
