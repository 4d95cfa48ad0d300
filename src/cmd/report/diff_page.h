/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm diff --format html: a comparison as a page for a browser. */
#ifndef CMD_REPORT_DIFF_PAGE_H
#define CMD_REPORT_DIFF_PAGE_H

#include "src/session/diff/diff_session.h"

/* What the page is made of, beside what the session hands over. */
struct diff_page {
	const struct heap *heap[2];	/* before, after */
	const char *source[2];	/* what the user named */
	const char *output;	/* NULL: a name of its own; "-": stdout */
};

/* Have a session's result written as a page: options.take, whose argument is a diff_page. */
int diff_page_take(void *page, const struct diff *d, const struct doc *doc, struct err *e);

#endif
