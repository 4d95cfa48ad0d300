/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trends: all pairs of at most 128 points, so 8128 slopes at most.
 *
 * The variance of Kendall's S is reduced by ties and raised by (1 + r) / (1 - r) for noise whose
 * neighbours correlate by r, which is estimated from what remains when the trend is taken off, less
 * its bias (an AR(1) process; Kulkarni and von Storch 1995, Hamed and Rao 1998). The interval of
 * the slope is that of Sen 1968 with the same variance.
 */
#include "src/analyze/trend.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/real.h"

#define CONFIDENCE_Z	1.96	/* 95 % */
#define MAX_MEMORY	0.99

/*
 * Puts what is less than the pivot, or is it if with_pivot, before the rest; returns where that
 * begins. No branch depends on a value: half of them would be predicted wrong.
 */
static inline unsigned split(double *v, unsigned from, unsigned to, double pivot, bool with_pivot)
{
	for (unsigned i = from; i < to; i++) {
		double x = v[i];

		v[i] = v[from];
		v[from] = x;
		from += with_pivot ? x <= pivot : x < pivot;
	}
	return from;
}

double trend_select(double *v, unsigned n, unsigned k)
{
	unsigned from = 0, to = n;

	for (;;) {
		double a = v[from], b = v[from + (to - from) / 2], c = v[to - 1];
		double pivot = real_most(real_least(a, b), real_least(real_most(a, b), c));
		unsigned least = split(v, from, to, pivot, false);

		if (k < least) {
			to = least;
			continue;
		}
		from = split(v, least, to, pivot, true);
		if (k < from)
			return pivot;
	}
}

/* Leaves what is above v[n / 2] behind it, what is below it before it. */
static double median_of(double *v, unsigned n)
{
	double high = trend_select(v, n, n / 2);

	return n % 2 ? high : (trend_select(v, n / 2, n / 2 - 1) + high) / 2;
}

/* Of what median_of() has left. */
static double select_of_halves(double *v, unsigned n, unsigned k)
{
	unsigned half = n / 2;

	return k < half ? trend_select(v, half, k) : trend_select(v + half, n - half, k - half);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Variance of Kendall's S for independent noise with the ties of `y`. */
static double variance(const double *y, unsigned n, double *scratch)
{
	double v = (double)n * (n - 1) * (2.0 * n + 5), ties = 1;

	memcpy(scratch, y, n * sizeof(*y));
	qsort(scratch, n, sizeof(*scratch), compare);
	for (unsigned i = 1; i <= n; i++) {
		if (i < n && scratch[i] == scratch[i - 1]) {
			ties++;
			continue;
		}
		v -= ties * (ties - 1) * (2 * ties + 5);
		ties = 1;
	}
	return v / 18;
}

/* Correlation of neighbours about the trend. */
static double memory(const double *t, const double *y, unsigned n, double slope, double *rest)
{
	double mean = 0, square = 0, product = 0, low = y[0], high = y[0], r;

	for (unsigned i = 0; i < n; i++) {
		rest[i] = y[i] - slope * (t[i] - t[0]);
		mean += rest[i] / n;
		low = real_least(low, y[i]);
		high = real_most(high, y[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		square += (rest[i] - mean) * (rest[i] - mean);
		if (i)
			product += (rest[i] - mean) * (rest[i - 1] - mean);
	}
	if (n <= 8 || square <= 1e-12 * (high - low) * (high - low))
		return 0;	/* nothing but rounding is left */
	r = (product / square + 2.0 / n) / (1 - 4.0 / n);
	return real_least(real_most(r, 0), MAX_MEMORY);
}

/* Rising pairs less falling ones, less one for continuity. */
static double pairs(const double *y, unsigned n)
{
	int s = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i + 1; j < n; j++)
			s += (y[j] > y[i]) - (y[j] < y[i]);
	return s - (s > 0) + (s < 0);
}

double trend_score(const double *y, unsigned n)
{
	double scratch[TREND_MAX_POINTS], v = variance(y, n, scratch);

	return v > 0 ? pairs(y, n) / sqrt(v) : 0;
}

int trend_fit(const double *t, const double *y, unsigned n, struct trend *out)
{
	unsigned nr = n * (n - 1) / 2, k = 0;
	double *slope, sd, reach;

	if (n < 2 || n > TREND_MAX_POINTS)
		return -EINVAL;
	slope = malloc((nr + n) * sizeof(*slope));
	if (!slope)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i + 1; j < n; j++)
			slope[k++] = t[j] > t[i] ? (y[j] - y[i]) / (t[j] - t[i]) : 0;
	out->slope = median_of(slope, nr);
	out->memory = memory(t, y, n, out->slope, slope + nr);
	sd = sqrt(variance(y, n, slope + nr) * (1 + out->memory) / (1 - out->memory));
	out->z = sd > 0 ? pairs(y, n) / sd : 0;
	reach = CONFIDENCE_Z * sd / 2;
	out->low = select_of_halves(slope, nr, (unsigned)real_most(nr / 2.0 - reach, 0));
	out->high = select_of_halves(slope, nr, (unsigned)real_least(nr / 2.0 + reach, nr - 1));
	free(slope);
	return 0;
}

void trend_line_or_step(const double *t, const double *y, unsigned n, double *line, double *step)
{
	double st = 0, sy = 0, stt = 0, sty = 0, syy = 0, left = 0, best = 0;

	for (unsigned i = 0; i < n; i++) {
		st += (t[i] - t[0]) / n;
		sy += (y[i] - y[0]) / n;
	}
	for (unsigned i = 0; i < n; i++) {
		double dt = t[i] - t[0] - st, dy = y[i] - y[0] - sy;

		stt += dt * dt;
		sty += dt * dy;
		syy += dy * dy;
	}
	*line = stt > 0 ? syy - sty * sty / stt : syy;
	for (unsigned i = 0; i + 1 < n; i++) {
		double gain;

		left += y[i] - y[0] - sy;	/* the right part's sum is -left */
		gain = left * left * (1.0 / (i + 1) + 1.0 / (n - i - 1));
		best = real_most(best, gain);
	}
	*step = syy - best;
}
