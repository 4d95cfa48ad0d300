/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program can still reach: following the graph from the roots with all threads.
 *
 * First over pointers to starts and guesses that hold (reached), to the end; blocks that only other
 * pointers lead to from there are possible, and so is what hangs on those. `class` must be all
 * REACH_DEFINITE; what stays so is lost.
 */
#ifndef ANALYZE_REACH_REACH_MARK_H
#define ANALYZE_REACH_REACH_MARK_H

#include "src/analyze/reach/reach.h"
#include "src/analyze/reach/reach_graph.h"

/*
 * Fills r->class and, where there, r->parent; adds to the counts of read and unread bytes. 0 or
 * -ENOMEM.
 */
int reach_mark(const struct reach_graph *g, const struct memory *m, const struct reach_options *o,
	       unsigned nr_threads, struct reach *r);

/*
 * Blocks still REACH_DEFINITE into definite and indirect, and the latter's parents. 0 or -ENOMEM.
 * Serial.
 */
int reach_lose(const struct reach_graph *g, const struct memory *m, uint64_t tag_mask,
	       struct reach *r);

#endif
