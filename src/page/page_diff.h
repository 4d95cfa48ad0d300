/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison in a page: its stacks with their figures before and after, for the flame graph of
 * what changed.
 */
#ifndef PAGE_PAGE_DIFF_H
#define PAGE_PAGE_DIFF_H

#include "src/analyze/diff/diff.h"
#include "src/page/page.h"

/*
 * Add the parts "about", "profile" and "strings", with the figures that both heaps, before and
 * after, know. The sources are what the user calls the two.
 */
void page_diff(struct page *p, const struct diff *d, const struct heap *const heap[2],
	       const char *const source[2]);

#endif
