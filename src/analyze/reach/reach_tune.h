/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach_run() with its inner limits set by hand, for tests and the bench.
 */
#ifndef ANALYZE_REACH_REACH_TUNE_H
#define ANALYZE_REACH_REACH_TUNE_H

#include "src/analyze/reach/reach.h"

struct reach_tune {
	/*
	 * kept; the pointers of blocks beyond are read again when needed. 0: as memory allows
	 * (doc/leaks.md)
	 */
	uint64_t max_edges;
};

int reach_run_tuned(const struct heap *h, const struct memory *m, const struct reach_options *o,
		    const struct reach_tune *tune, struct reach *r, struct err *e);

#endif
