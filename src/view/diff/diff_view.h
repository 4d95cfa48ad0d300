/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two heaps compared, as a document: what must be known first, totals, what exceeds a limit, what
 * changed by line, function, module and stack.
 */
#ifndef VIEW_DIFF_DIFF_VIEW_H
#define VIEW_DIFF_DIFF_VIEW_H

#include "src/analyze/diff/diff.h"
#include "src/analyze/diff/diff_condition.h"
#include "src/analyze/leaks.h"
#include "src/document/doc.h"

#define DIFF_SCHEMA "pmm-diff/1.0"

struct diff_view_options {
	enum diff_key key;
	uint64_t top;		/* rows shown of each list, 0: all */
	uint64_t depth;		/* frames shown of a stack in text, 0: all */
	struct filter filter;
	bool judged;		/* there were conditions */
};

/* One of the two heaps, and what the user calls it. */
struct diff_view_side {
	const struct heap *heap;
	const char *source;
	struct leak_sum suppressed;	/* lost, and taken out of the heap before */
};

struct diff_view {
	const struct diff *diff;
	struct diff_view_side side[2];
	struct diff_view_options opt;
	const struct diff_failures *failures;
	struct diff_ranking rows[DIFF_NR_LISTS];
	struct doc doc;
};

/*
 * Make the document v->doc; all that is given must outlive it. diff_view_fini() in any case. 0 or
 * -ENOMEM.
 */
int diff_view_init(struct diff_view *v, const struct diff *d, const struct diff_view_side side[2],
		   const struct diff_view_options *opt, const struct diff_failures *failures);
void diff_view_fini(struct diff_view *v);

#endif
