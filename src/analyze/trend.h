/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a series of numbers rise? Statistics that outliers do not mislead: the median of all slopes
 * (Theil, Sen) and the count of rising pairs (Mann, Kendall), with allowance for ties and for noise
 * that remembers (autocorrelation).
 */
#ifndef ANALYZE_TREND_H
#define ANALYZE_TREND_H

#define TREND_MAX_POINTS 128

struct trend {
	double slope;		/* of y per unit of t: median over all pairs */
	double low, high;	/* 95 % interval of it */
	/* rising pairs less falling ones, in standard deviations; positive = rises */
	double z;
	double memory;		/* correlation of neighbours about the trend, 0..0.99 */
};

/* The trend of 2..TREND_MAX_POINTS points, t rising. 0, -EINVAL, -ENOMEM. */
int trend_fit(const double *t, const double *y, unsigned n, struct trend *out);

/*
 * Its z without allowance for noise that remembers: never less far from 0. Much cheaper.
 * 2..TREND_MAX_POINTS points.
 */
double trend_score(const double *y, unsigned n);

/* The k-th smallest (from 0) of n values, which are reordered. */
double trend_select(double *v, unsigned n, unsigned k);

/*
 * Squared distances from the points of the best line (least squares) and of the best single step,
 * in *line and *step. 2..n points.
 */
void trend_line_or_step(const double *t, const double *y, unsigned n, double *line, double *step);

#endif
