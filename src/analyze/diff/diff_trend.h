/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line through the figures of each row over many heaps: how fast it grows, how well the line
 * fits, and whether it grows steadily.
 */
#ifndef ANALYZE_DIFF_DIFF_TREND_H
#define ANALYZE_DIFF_DIFF_TREND_H

#include "src/analyze/diff/diff.h"

#define DIFF_TREND_MIN	3u	/* heaps */

struct diff_trend {
	uint32_t row;
	/* per unit of time: the median of the slopes between all pairs of heaps */
	double slope;
	double r_squared;	/* of the best line (least squares): 1 = all points are on it */
	int64_t first, last;
	/* it rises beyond chance (Mann, Kendall; 95 %); of fewer than five heaps: at each step */
	bool steady;
};

struct diff_trends {
	struct diff_trend *v;	/* steepest growth first, steepest fall last */
	uint32_t nr, nr_all;	/* listed; that changed */
};

/*
 * The `top` first rows (0: all) of a list whose figure by `key` changed over all heaps, which
 * were at the times `t`, rising. DIFF_TREND_MIN heaps or more. 0 or -ENOMEM.
 */
int diff_trends_rank(const struct diff *d, enum diff_list list, enum diff_key key, const double *t,
		     uint64_t top, struct diff_trends *out);
void diff_trends_fini(struct diff_trends *r);

/* The same of the totals. */
int diff_trend_total(const struct diff *d, enum diff_key key, const double *t,
		     struct diff_trend *out);

#endif
