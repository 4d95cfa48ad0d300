/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap as a page for a browser: one HTML file with its code (web/), its style and its data, which
 * asks nothing of a network. Data are parts, each compressed and written at once, so that no part
 * is ever whole in memory: doc/page.md has their forms.
 *
 *     struct page p;
 *     page_begin(&p, out, "title");
 *     page_doc(&p, "report", &doc); ...        each part once
 *     page_heap(&p, &source);
 *     rc = page_end(&p);
 *
 * Trouble is sticky: page_end() has it.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/analyze/filter.h"
#include "src/document/doc.h"
#include "src/names/names.h"

/* Live blocks in a page; of more, the largest. */
#define PAGE_MAX_BLOCKS 200000u

struct page {
	FILE *out;
	int rc;
};

/* What the build lacked to make pages: "esbuild, libjs-dygraphs"; NULL = pages can be made. */
const char *page_missing(void);

/* The title may be any text. Where page_missing() names something, data are all there is. */
void page_begin(struct page *p, FILE *out, const char *title);

/*
 * Add a document as text and JSON have it, all cells of all rows, but for the tables with these
 * keys (NULL at the end; NULL = all tables).
 */
void page_doc(struct page *p, const char *part, const struct doc *d, const char *const *leave_out);

struct page_source {
	const struct heap *heap;
	struct names *names;
	const struct selection *selection;
	const char *name; /* what the user named: a file or a process; NULL = not known */
	bool lines;	  /* with lines of source files, where they can be read */
};

/* Add what views of a heap need: stacks with their figures, sites, live blocks, the series. */
void page_heap(struct page *p, const struct page_source *s);

/* 0, or -errno of what went wrong first: -ENOMEM, -ENOSPC, of writing. */
int page_end(struct page *p);

#endif
