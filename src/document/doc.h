/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report: tables and series in order. Every renderer shows every document: N reports + M
 * renderers, not N x M.
 */
#ifndef DOCUMENT_DOC_H
#define DOCUMENT_DOC_H

#include <stdio.h>

#include "src/document/series.h"
#include "src/document/table.h"

struct section {
	struct table *table; /* one of the two */
	struct series *series;
};

struct doc {
	const char *schema; /* "pmm-report/1.2": NAME/MAJOR.MINOR, see doc/json.md */
	VEC(struct section) sections;
	bool one_line;	    /* as JSON: one of a stream of lines */
	bool failed;
};

struct style {
	unsigned width; /* columns of a line */
	bool colour;	/* escape sequences may be used */
	bool utf8;	/* else plain ASCII */
};

/*
 * Take over a table or series; NULL (out of memory when it was made) and trouble inside it fail
 * the document.
 */
void doc_add(struct doc *d, struct table *t);
void doc_add_series(struct doc *d, struct series *s);

/* 0 or -ENOMEM. */
int doc_error(const struct doc *d);

void doc_fini(struct doc *d);

/* Write for a person. Nothing from outside reaches a terminal raw. 0 or -errno. */
int doc_print_text(const struct doc *d, const struct style *style, FILE *out);

/*
 * Write one JSON object: "schema", then a member per table or series that has a key. 0 or
 * -errno.
 */
int doc_print_json(const struct doc *d, FILE *out);

#endif
