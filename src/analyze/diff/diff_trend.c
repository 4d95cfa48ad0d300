/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines through the figures of rows. */
#include "src/analyze/diff/diff_trend.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/trend.h"
#include "src/base/vec.h"

#define BEYOND_CHANCE	1.96	/* standard deviations */
#define FEW		5u	/* of fewer points no order is beyond chance */

static double squared_distances(const double *y, unsigned n)
{
	double mean = 0, sum = 0;

	for (unsigned i = 0; i < n; i++)
		mean += y[i] / n;
	for (unsigned i = 0; i < n; i++)
		sum += (y[i] - mean) * (y[i] - mean);
	return sum;
}

static bool rises_always(const double *y, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (y[i] <= y[i - 1])
			return false;
	return true;
}

static int fit(const double *t, const double *y, unsigned n, struct diff_trend *out)
{
	double all = squared_distances(y, n), line, step;
	struct trend trend;
	int rc = trend_fit(t, y, n, &trend);

	if (rc)
		return rc;
	trend_line_or_step(t, y, n, &line, &step);
	out->slope = trend.slope;
	out->r_squared = all > 0 && line < all ? 1 - line / all : 0;
	out->steady = trend.slope > 0 &&
		      (n < FEW ? rises_always(y, n) : trend.z > BEYOND_CHANCE);
	return 0;
}

int diff_trend_total(const struct diff *d, enum diff_key key, const double *t,
		     struct diff_trend *out)
{
	unsigned n = diff_sides(d);
	double y[DIFF_MAX_SIDES];

	for (unsigned i = 0; i < n; i++)
		y[i] = (double)diff_total(d, i)[diff_metric_of(key)];
	*out = (struct diff_trend){ .first = diff_total(d, 0)[diff_metric_of(key)],
				    .last = diff_total(d, n - 1)[diff_metric_of(key)] };
	return fit(t, y, n, out);
}

/* Has the row's figure changed at all? */
static bool figures_of(const struct diff *d, enum diff_list list, uint32_t row,
		       enum diff_metric m, double *y)
{
	bool changed = false;

	for (unsigned i = 0; i < diff_sides(d); i++) {
		y[i] = (double)diff_values(d, list, row, i)[m];
		changed |= y[i] != y[0];
	}
	return changed;
}

static int steepest_first(const void *a, const void *b)
{
	const struct diff_trend *x = a, *y = b;

	if (x->slope != y->slope)
		return x->slope < y->slope ? 1 : -1;
	if (x->last - x->first != y->last - y->first)
		return x->last - x->first < y->last - y->first ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

int diff_trends_rank(const struct diff *d, enum diff_list list, enum diff_key key, const double *t,
		     uint64_t top, struct diff_trends *out)
{
	enum diff_metric m = diff_metric_of(key);
	VEC(struct diff_trend) all = { 0 };
	unsigned n = diff_sides(d);
	double y[DIFF_MAX_SIDES];
	int rc = 0;

	*out = (struct diff_trends){ 0 };
	for (uint32_t i = 0; i < diff_rows(d, list) && !rc; i++) {
		struct diff_trend row = { .row = i, .first = diff_values(d, list, i, 0)[m],
					  .last = diff_values(d, list, i, n - 1)[m] };

		if (!figures_of(d, list, i, m, y))
			continue;
		rc = fit(t, y, n, &row);
		if (!rc)
			rc = vec_push(&all, row);
	}
	if (rc) {
		vec_fini(&all);
		return rc;
	}
	vec_sort(&all, steepest_first);
	out->v = all.v;
	out->nr_all = (uint32_t)all.nr;
	out->nr = top && top < all.nr ? (uint32_t)top : (uint32_t)all.nr;
	return 0;
}

void diff_trends_fini(struct diff_trends *r)
{
	free(r->v);
	*r = (struct diff_trends){ 0 };
}
