/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison in a page: its stacks with their figures before and after, for the flame graph of
 * what changed.
 */
#ifndef PAGE_PAGE_DIFF_H
#define PAGE_PAGE_DIFF_H

#include "src/analyze/diff/diff.h"
#include "src/page/page.h"

/* Add the parts "about", "profile" and "strings". The names are what the user calls the two. */
void page_diff(struct page *p, const struct diff *d, const char *before, const char *after,
	       const char *comm);

#endif
