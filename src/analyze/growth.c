/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growth: a series is judged as a whole, then without its first quarter, so that what a program
 * does at its start hides no leak. A stretch is steady growth when
 *
 *   - it rises beyond doubt: by the Mann-Kendall test, its second half alone too; or (noise that
 *     wanders, saw-teeth) because the floors of its eight parts rise evenly: their increments' mean
 *     is more than four standard errors above zero, which one, two or three steps never are;
 *   - a straight line fits better than one step;
 *   - its end does not contradict: the second half is not clearly slower than the first, the last
 *     third rises at two fifths of the whole's pace at least, as far as one can tell;
 *   - its lowest points rise as well.
 */
#include "src/analyze/growth.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/analyze/trend.h"
#include "src/base/real.h"

#define MIN_Z		3.3	/* one false alarm in 2000 */
#define MIN_HALF_Z	1.64	/* of the second half: one in 20 */
#define PARTS		8
#define MIN_T		4.0	/* of seven increments */
#define T_95		2.447	/* Student's t, 6 degrees of freedom, 95 % */
#define STILL		0.4	/* of the whole's pace, in the last third */
#define FLOOR		0.4	/* of the whole's pace, of the lowest points */
#define MIN_SHARE	0.05	/* of the whole range, that evenly rising floors rise */
#define FLOOR_QUANTILE	10	/* a part's floor: one point in ten is below */
#define YEARS_100	3.15576e18	/* ns */
#define FORECAST	100	/* times as long as the growth was seen */

_Static_assert(GROWTH_MAX_POINTS <= TREND_MAX_POINTS && GROWTH_MAX_POINTS % 2 == 0,
	       "all points at once");

/* ---- the series ---- */

static struct growth_point join(struct growth_point a, struct growth_point b)
{
	return (struct growth_point){
		.time_ns = a.time_ns + (b.time_ns - a.time_ns) / 2,
		.bytes = (a.bytes + b.bytes) / 2,
		.low = real_least(a.low, b.low),
	};
}

static void halve(struct growth_series *s)
{
	for (size_t i = 0; i < s->points.nr / 2; i++)
		s->points.v[i] = join(s->points.v[2 * i], s->points.v[2 * i + 1]);
	s->points.nr /= 2;
	s->looks *= 2;
}

int growth_add(struct growth_series *s, uint64_t time_ns, double bytes)
{
	struct growth_point *o = &s->open;
	struct growth_point done;
	int rc;

	if (!s->looks)
		s->looks = 1;
	if (!s->nr_open) {
		*o = (struct growth_point){ .low = bytes };
		s->open_ns = time_ns;
	}
	o->time_ns += time_ns - s->open_ns;
	o->bytes += bytes;
	o->low = real_least(o->low, bytes);
	if (++s->nr_open < s->looks)
		return 0;
	done = (struct growth_point){
		.time_ns = s->open_ns + o->time_ns / s->nr_open,
		.bytes = o->bytes / s->nr_open,
		.low = o->low,
	};
	s->nr_open = 0;
	rc = vec_push(&s->points, done);
	if (!rc && s->points.nr == GROWTH_MAX_POINTS)
		halve(s);
	return rc;
}

void growth_fini(struct growth_series *s)
{
	vec_fini(&s->points);
	*s = (struct growth_series){ 0 };
}

/* ---- one stretch ---- */

struct stretch {
	double t[GROWTH_MAX_POINTS];	/* seconds */
	double y[GROWTH_MAX_POINTS], low[GROWTH_MAX_POINTS];
	unsigned n;
	struct trend trend;
	/* of its parts */
	double floor_slope, floor_error, floor_t;	/* mean, standard error, their ratio */
	double least_slope;	/* of the lowest points */
	double range;		/* highest less lowest point */
};

static void fill_stretch(struct stretch *x, const struct growth_point *p, unsigned n)
{
	double least = p[0].bytes, most = p[0].bytes;

	x->n = n;
	for (unsigned i = 0; i < n; i++) {
		least = real_least(least, p[i].bytes);
		most = real_most(most, p[i].bytes);
		x->t[i] = (double)(p[i].time_ns - p[0].time_ns) / 1e9;
		x->y[i] = p[i].bytes;
		x->low[i] = p[i].low;
	}
	x->range = most - least;
}

/* Time and floor of part k, and its least value. */
static void part_of(const struct stretch *x, unsigned k, double *t, double *floor, double *least)
{
	unsigned from = k * x->n / PARTS, to = (k + 1) * x->n / PARTS;
	double v[GROWTH_MAX_POINTS];

	*t = 0;
	for (unsigned i = from; i < to; i++) {
		v[i - from] = x->low[i];
		*t += x->t[i] / (to - from);
	}
	*floor = trend_select(v, to - from, (to - from) / FLOOR_QUANTILE);
	*least = trend_select(v, to - from, 0);
}

/* Increments from part to part per second: their mean and its standard error. */
static int measure_parts(struct stretch *x)
{
	double t[PARTS], floor[PARTS], least[PARTS], d[PARTS - 1], mean = 0, square = 0;
	struct trend lowest;
	int rc;

	for (unsigned k = 0; k < PARTS; k++)
		part_of(x, k, &t[k], &floor[k], &least[k]);
	for (unsigned k = 0; k + 1 < PARTS; k++) {
		d[k] = (floor[k + 1] - floor[k]) / real_most(t[k + 1] - t[k], 1e-9);
		mean += d[k] / (PARTS - 1);
	}
	for (unsigned k = 0; k + 1 < PARTS; k++)
		square += (d[k] - mean) * (d[k] - mean);
	x->floor_slope = mean;
	x->floor_error = sqrt(square / (PARTS - 2) / (PARTS - 1));
	x->floor_t = mean / real_most(x->floor_error, 1e-9 * fabs(mean) + 1e-30);
	rc = trend_fit(t, least, PARTS, &lowest);
	x->least_slope = lowest.slope;
	return rc;
}

/*
 * Is its second half as certain and not clearly slower than the first, and does its last third rise
 * about as fast as the whole?
 */
static int still_rises(const struct stretch *x, bool by_trend, struct growth *g, bool *still)
{
	unsigned half = x->n / 2, third = x->n - x->n / 3;
	struct trend first, second, late;
	int rc = trend_fit(x->t, x->y, half, &first);

	if (!rc)
		rc = trend_fit(x->t + half, x->y + half, x->n - half, &second);
	if (!rc)
		rc = trend_fit(x->t + third, x->low + third, x->n - third, &late);
	if (rc)
		return rc;
	*still = (!by_trend || second.z > MIN_HALF_Z) &&
		 (second.slope >= STILL * first.slope || second.high >= first.low) &&
		 late.high >= STILL * g->slope;
	g->late_slope = late.slope;
	return 0;
}

/* Do the floors rise evenly, and by something that is not lost in the range? */
static bool floors_rise(const struct stretch *x)
{
	return x->floor_t > MIN_T && x->floor_slope * x->t[x->n - 1] >= MIN_SHARE * x->range;
}

static int judge(struct stretch *x, struct growth *g)
{
	bool by_trend, evenly, still = false;
	double line, step;
	int rc = measure_parts(x);

	g->verdict = GROWTH_NONE;
	g->reason = GROWTH_NO_TREND;
	evenly = !rc && floors_rise(x);
	if (rc || (!evenly && trend_score(x->y, x->n) < MIN_Z))
		return rc;
	rc = trend_fit(x->t, x->y, x->n, &x->trend);
	if (rc)
		return rc;
	by_trend = x->trend.z > MIN_Z && x->trend.low > 0;
	g->slope = by_trend || !evenly ? x->trend.slope : x->floor_slope;
	g->slope_low = by_trend ? x->trend.low : x->floor_slope - T_95 * x->floor_error;
	g->slope_high = by_trend ? x->trend.high : x->floor_slope + T_95 * x->floor_error;
	trend_line_or_step(x->t, x->low, x->n, &line, &step);
	rc = still_rises(x, by_trend && !evenly, g, &still);
	if (line > step && !evenly)
		g->reason = step < line / 4 ? GROWTH_ONE_STEP : GROWTH_LEVELLED;
	else if (!still)
		g->reason = GROWTH_LEVELLED;
	else if (x->least_slope < FLOOR * g->slope)
		g->reason = GROWTH_PEAKS_ONLY;
	else if (by_trend || evenly)
		g->verdict = GROWTH_STEADY;
	return rc;
}

/* ---- the series judged ---- */

int growth_judge(const struct growth_series *s, struct growth *out)
{
	const struct growth_point *p = s->points.v;
	unsigned n = (unsigned)s->points.nr;
	struct stretch x;
	int rc = 0;

	*out = (struct growth){ 0 };
	if (!n)
		return 0;
	out->since_ns = p[0].time_ns;
	out->until_ns = p[n - 1].time_ns;
	for (unsigned i = 0; !rc && i < 2; i++) {
		unsigned from = i * n / 4;
		struct growth g = { .since_ns = p[from].time_ns, .until_ns = p[n - 1].time_ns };

		if (n - from < GROWTH_MIN_POINTS || g.until_ns - g.since_ns < GROWTH_MIN_NS)
			break;
		fill_stretch(&x, p + from, n - from);
		rc = judge(&x, &g);
		if (i == 0 || g.verdict == GROWTH_STEADY)
			*out = g;
		if (g.verdict == GROWTH_STEADY)
			break;
	}
	if (out->verdict != GROWTH_STEADY)
		out->slope = out->slope_low = out->slope_high = out->late_slope = 0;
	else
		out->reason = GROWTH_REASON_NONE;
	return rc;
}

uint64_t growth_time_left(uint64_t left_bytes, double bytes_per_second)
{
	double ns = bytes_per_second > 0 ? (double)left_bytes / bytes_per_second * 1e9 : YEARS_100;

	return ns < YEARS_100 ? (uint64_t)ns : UINT64_MAX;
}

uint64_t growth_forecast_ns(uint64_t seen_ns)
{
	return seen_ns < UINT64_MAX / FORECAST ? seen_ns * FORECAST : UINT64_MAX;
}
