/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a tree of processes was looked at, in words and as JSON: the same for all documents
 * on trees.
 */
#ifndef VIEW_COVERAGE_VIEW_H
#define VIEW_COVERAGE_VIEW_H

#include "src/analyze/coverage.h"
#include "src/document/doc.h"

/* What was done to those that were looked at, as a participle. */
struct coverage_words {
	const char *looked;	/* "searched for leaks" */
	const char *briefly;	/* "searched" */
	bool blocks;		/* how many of their blocks were looked at is not said elsewhere */
};

/*
 * Add rows to a table of facts: the first says how many, the others which were left out and why.
 * `told`: those that were not tracked are reported elsewhere.
 */
void coverage_rows(struct table *t, struct coverage *c, const struct coverage_words *words,
		   bool told);

/*
 * Append "2 programs were not tracked: busybox (static), sudo (set-user-ID)"; nothing when there
 * are none.
 */
void coverage_untracked(struct str *s, struct coverage *c);

/* " to the end" where some of what was not looked at was for a time, else ""; c may be NULL. */
const char *coverage_to_end(const struct coverage *c);

/* JSON: the record "tree", and the lists "untracked" and "not_looked_at". */
void coverage_record(struct doc *d, struct coverage *c);

#endif
