/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growth: what share of 1000 series of each shape is called steady growth. Shapes that are none of
 * it must stay below a rate, those that are must reach one; series, trend and helpers to the
 * number. Also of src/analyze/trend.c.
 */
#include "tests/unit/unit.h"

#include <math.h>

#include "src/analyze/growth.h"
#include "src/analyze/trend.h"
#include "tests/unit/uniform.h"

#define SEEDS	1000
#ifdef SANITIZED
#define RUNS	(SEEDS / 4)	/* of these, which take long */
#else
#define RUNS	SEEDS
#endif
#define SECOND	1000000000ull
#define MB	1e6
#define BASE	(100 * MB)

/* ---- series made by number ---- */

static double gauss(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

struct shape {
	double level, a, b;	/* what a shape remembers, what it drew for this seed */
	double amount;		/* megabytes of leak, or a strength */
	double noise;		/* megabytes, standard deviation */
	unsigned n;
};

/* Each gives the megabytes above the base at point i, u = i / n. */
typedef double make(struct shape *s, unsigned i, double u);

static double flat(struct shape *s, unsigned i, double u)
{
	(void)s, (void)i, (void)u;
	return 0;
}

static double leak(struct shape *s, unsigned i, double u)
{
	(void)i;
	return s->amount * u;
}

/* Noise that remembers: AR(1) of unit variance, amount = coefficient. */
static double remember(struct shape *s, unsigned i, double u)
{
	double phi = s->amount;

	(void)u;
	s->level = i ? phi * s->level + gauss() * sqrt(1 - phi * phi) : gauss();
	return s->level;
}

/* 10 MB of leak in such noise. */
static double leak_remember(struct shape *s, unsigned i, double u)
{
	return remember(s, i, u) + 10 * u;
}

static double wander(struct shape *s, unsigned i, double u)
{
	(void)u;
	s->level = i ? s->level + gauss() : 0;
	return s->level;
}

static double one_step(struct shape *s, unsigned i, double u)
{
	s->a = i ? s->a : 0.05 + 0.9 * uniform();
	return u > s->a ? s->amount : 0;
}

static double two_steps(struct shape *s, unsigned i, double u)
{
	s->a = i ? s->a : uniform();
	s->b = i ? s->b : uniform();
	return (u > s->a ? s->amount : 0) + (u > s->b ? s->amount : 0);
}

/* A cache that is full after 5 to 65 % of the time. */
static double cache(struct shape *s, unsigned i, double u)
{
	s->a = i ? s->a : 0.05 + 0.6 * uniform();
	return s->amount * fmin(u / s->a, 1);
}

/* One that fills ever more slowly. */
static double cache_slowing(struct shape *s, unsigned i, double u)
{
	s->a = i ? s->a : 0.03 + 0.17 * uniform();
	return s->amount * (1 - exp(-u / s->a));
}

/* The program's start: within a twentieth of the time. */
static double start(struct shape *s, unsigned i, double u)
{
	(void)s, (void)i;
	return fmin(u * 20, 1) * 80;
}

static double start_then_leak(struct shape *s, unsigned i, double u)
{
	return start(s, i, u) + s->amount * u;
}

/* Teeth of 10 MB, 5 to 25 points each; amount = how much the valleys rise. */
static double teeth(struct shape *s, unsigned i, double u)
{
	double x;

	s->a = i ? s->a : 5 + 20 * uniform();
	s->b = i ? s->b : uniform();
	x = i / s->a + s->b;
	return 10 * (x - floor(x)) + s->amount * u;
}

static double growing_peaks(struct shape *s, unsigned i, double u)
{
	(void)s;
	return 10 * (0.2 + u) * (i % 7) / 6.0;
}

static double waves(struct shape *s, unsigned i, double u)
{
	s->a = i ? s->a : 6.2832 * uniform();
	s->b = i ? s->b : 0.05 + 0.45 * uniform();
	return 5 * sin(6.2832 * u / s->b + s->a);
}

/* A leak at a pace that changes: 0.1 MB in three of ten points. */
static double uneven_leak(struct shape *s, unsigned i, double u)
{
	(void)u;
	s->level = i ? s->level : 0;
	s->level += uniform() < 0.3 ? 0.2 * uniform() : 0;
	return s->level;
}

static double stairs(struct shape *s, unsigned i, double u)
{
	(void)i;
	return floor(u * s->amount);
}

/* 64 bytes every three seconds. */
static double drip(struct shape *s, unsigned i, double u)
{
	(void)s, (void)u;
	return 64 / MB * (i / 3);
}

static struct growth judge(make *f, struct shape s)
{
	struct growth_series series = { 0 };
	struct growth g;

	for (unsigned i = 0; i < s.n; i++) {
		double y = BASE + MB * (f(&s, i, (double)i / s.n) + s.noise * gauss());

		assert_int_equal(growth_add(&series, i * SECOND, y > 0 ? (uint64_t)y : 0), 0);
	}
	assert_int_equal(growth_judge(&series, &g), 0);
	growth_fini(&series);
	return g;
}

struct row {
	const char *name;
	make *f;
	unsigned n;
	double amount, noise;
	unsigned least, most;	/* of SEEDS series, called steady growth */
};

static const struct row rows[] = {
	/* no growth: rarely said to be */
	{ "flat", flat, 250, 0, 0, 0, 0 },
	{ "noise", flat, 250, 0, 1, 0, 5 },
	{ "noise, short", flat, 20, 0, 1, 0, 5 },
	{ "noise, long", flat, 3000, 0, 1, 0, 5 },
	{ "noise that remembers 0.5", remember, 250, 0.5, 0, 0, 5 },
	{ "noise that remembers 0.9", remember, 250, 0.9, 0, 0, 10 },
	{ "noise that remembers 0.9, short", remember, 60, 0.9, 0, 0, 15 },
	{ "noise that remembers 0.97", remember, 250, 0.97, 0, 0, 20 },
	{ "random walk", wander, 250, 0, 0, 0, 50 },
	{ "random walk, long", wander, 1000, 0, 0, 0, 40 },
	{ "one step", one_step, 250, 10, 0, 0, 0 },
	{ "one step in noise", one_step, 250, 10, 1, 0, 2 },
	{ "a small step in noise", one_step, 250, 2, 1, 0, 5 },
	{ "a small step in noise, short", one_step, 60, 2, 1, 0, 10 },
	{ "two steps", two_steps, 250, 10, 0.3, 0, 5 },
	{ "cache", cache, 250, 20, 0, 0, 0 },
	{ "cache in noise", cache, 250, 20, 0.5, 0, 5 },
	{ "small cache in noise", cache, 250, 3, 1, 0, 20 },
	{ "cache that fills ever more slowly", cache_slowing, 250, 20, 0.5, 0, 5 },
	{ "start", start, 250, 0, 1, 0, 5 },
	{ "peaks that grow", growing_peaks, 250, 0, 0, 0, 0 },
	{ "waves", waves, 250, 0, 0.3, 0, 10 },
	{ "shrinks", leak, 250, -20, 1, 0, 0 },
	{ "teeth", teeth, 250, 0, 0, 0, 10 },
	/* growth: nearly always found */
	{ "leak", leak, 250, 10, 0, SEEDS, SEEDS },
	{ "leak of 10 sigma in 20 points", leak, 20, 10, 1, 700, SEEDS },
	{ "leak of 5 sigma in a minute", leak, 60, 5, 1, 930, SEEDS },
	{ "leak of 2 sigma in 4 minutes", leak, 250, 2, 1, 750, SEEDS },
	{ "leak of 2 sigma in a quarter of an hour", leak, 1000, 2, 1, 970, SEEDS },
	{ "leak in noise that remembers 0.7", leak_remember, 250, 0.7, 0, 990, SEEDS },
	{ "start, then a leak", start_then_leak, 250, 5, 0.2, 995, SEEDS },
	{ "teeth whose valleys rise", teeth, 250, 10, 0, 990, SEEDS },
	{ "the same in noise", teeth, 250, 10, 0.5, 980, SEEDS },
	{ "the same, long", teeth, 1000, 5, 0, 980, SEEDS },
	{ "a leak at changing pace", uneven_leak, 250, 0, 0, 990, SEEDS },
	{ "stairs", stairs, 250, 12, 0, SEEDS, SEEDS },
	{ "64 bytes every 3 s", drip, 60, 0, 0, SEEDS, SEEDS },
};

static void rates_are_kept(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t k = 0; k < NR(rows); k++) {
		const struct row *r = &rows[k];
		bool drawn = r->noise > 0 ||
			     (r->f != flat && r->f != leak && r->f != stairs && r->f != drip);
		unsigned steady = 0, seeds = drawn ? RUNS : 1;

		for (unsigned i = 1; i <= seeds; i++) {
			struct shape s = { .amount = r->amount, .noise = r->noise, .n = r->n };

			seed = i * 7919 + r->n;
			steady += judge(r->f, s).verdict == GROWTH_STEADY;
		}
		steady *= SEEDS / seeds;
		if (steady < r->least || steady > r->most) {
			print_error("%s: %u of %u, not %u to %u\n", r->name, steady, SEEDS,
				    r->least, r->most);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* The interval holds the true slope in 19 of 20 cases: 40 000 bytes per second. */
static void intervals_hold_the_slope(void **state)
{
	unsigned found = 0, held = 0;

	(void)state;
	for (unsigned i = 1; i <= RUNS; i++) {
		struct growth g;

		seed = i * 104729;
		g = judge(leak, (struct shape){ .amount = 10, .noise = 1, .n = 250 });
		found += g.verdict == GROWTH_STEADY;
		held += g.slope_low <= 40000 && g.slope_high >= 40000;
		assert_true(g.slope_low <= g.slope && g.slope <= g.slope_high);
	}
	assert_int_equal(found, RUNS);
	assert_in_range(held * (SEEDS / RUNS), 920, 980);
}

static void reasons_are_given(void **state)
{
	static const struct {
		make *f;
		struct shape s;
		enum growth_verdict verdict;
		enum growth_reason reason;
	} cases[] = {
		{ leak, { .amount = 10, .n = 15 }, GROWTH_UNKNOWN, GROWTH_REASON_NONE },
		{ leak, { .amount = 10, .n = 16 }, GROWTH_STEADY, GROWTH_REASON_NONE },
		{ leak, { .amount = -10, .n = 100 }, GROWTH_NONE, GROWTH_NO_TREND },
		{ growing_peaks, { .n = 250 }, GROWTH_NONE, GROWTH_PEAKS_ONLY },
		{ cache_slowing, { .amount = 20, .n = 250 }, GROWTH_NONE, GROWTH_LEVELLED },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct growth g = (seed = 3, judge(cases[i].f, cases[i].s));

		assert_int_equal(g.verdict, cases[i].verdict);
		assert_int_equal(g.reason, cases[i].reason);
	}
}

static void a_short_time_says_nothing(void **state)
{
	struct growth_series s = { 0 };
	struct growth g;

	(void)state;
	assert_int_equal(growth_judge(&s, &g), 0);
	assert_int_equal(g.verdict, GROWTH_UNKNOWN);
	for (unsigned i = 0; i < 100; i++)
		growth_add(&s, i * SECOND / 10, i * 1000);
	growth_judge(&s, &g);
	assert_int_equal(g.verdict, GROWTH_UNKNOWN);
	growth_add(&s, 10 * SECOND, 100000);
	growth_judge(&s, &g);
	assert_int_equal(g.verdict, GROWTH_STEADY);
	assert_true(fabs(g.slope - 10000) < 1e-6);
	assert_int_equal(g.since_ns, 0);
	assert_int_equal(g.until_ns, 10 * SECOND);
	growth_fini(&s);
}

static void a_series_is_thinned(void **state)
{
	struct growth_series s = { 0 };

	(void)state;
	for (unsigned i = 0; i < GROWTH_MAX_POINTS - 1; i++)
		growth_add(&s, i * SECOND, i);
	assert_int_equal(s.points.nr, GROWTH_MAX_POINTS - 1);
	growth_add(&s, (GROWTH_MAX_POINTS - 1) * SECOND, GROWTH_MAX_POINTS - 1);
	assert_int_equal(s.points.nr, GROWTH_MAX_POINTS / 2);
	assert_int_equal(s.looks, 2);
	assert_true(s.points.v[3].bytes == 6.5 && s.points.v[3].low == 6);
	assert_int_equal(s.points.v[3].time_ns, 6 * SECOND + SECOND / 2);
	growth_add(&s, 128 * SECOND, 40);
	assert_int_equal(s.points.nr, GROWTH_MAX_POINTS / 2);
	growth_add(&s, 130 * SECOND, 20);
	assert_int_equal(s.points.nr, GROWTH_MAX_POINTS / 2 + 1);
	assert_true(s.points.v[64].bytes == 30 && s.points.v[64].low == 20);
	assert_int_equal(s.points.v[64].time_ns, 129 * SECOND);
	for (unsigned i = 131; i < 100000; i++)
		growth_add(&s, i * SECOND, i);
	assert_in_range(s.points.nr, GROWTH_MAX_POINTS / 2, GROWTH_MAX_POINTS - 1);
	growth_fini(&s);
}

static void trends_to_the_number(void **state)
{
	static const double t[] = { 0, 1, 2, 3, 4 }, y[] = { 1, 2, 2, 4, 30 },
			    level[] = { 3, 3, 3, 3, 3 };
	struct trend x;

	(void)state;
	/* slopes: 1 .5 1 7.25 | 0 1 9.33 | 2 14 | 26; S = 9, variance (5*4*15 - 2*1*9) / 18 */
	assert_int_equal(trend_fit(t, y, 5, &x), 0);
	assert_true(fabs(x.slope - 1.5) < 1e-12);
	assert_true(fabs(x.z - 8 / sqrt(282 / 18.0)) < 1e-12);
	assert_true(x.memory == 0);
	assert_int_equal(trend_fit(t, level, 5, &x), 0);
	assert_true(x.slope == 0 && x.z == 0 && x.low == 0 && x.high == 0);
	assert_int_equal(trend_fit(t, y, 1, &x), -EINVAL);
	assert_int_equal(trend_fit(t, y, TREND_MAX_POINTS + 1, &x), -EINVAL);
}

static void selection_equals_sorting(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		unsigned n = 1 + (unsigned)(uniform() * 20);
		double v[20], copy[20];

		for (unsigned i = 0; i < n; i++)
			v[i] = floor(uniform() * 8);
		for (unsigned k = 0; k < n; k++) {
			unsigned below = 0, equal = 0;
			double x;

			memcpy(copy, v, sizeof(copy));
			x = trend_select(copy, n, k);
			for (unsigned i = 0; i < n; i++) {
				below += v[i] < x;
				equal += v[i] == x;
			}
			assert_true(below <= k && k < below + equal);
		}
	}
}

static void time_left_is_bytes_by_pace(void **state)
{
	(void)state;
	assert_int_equal(growth_time_left(2000, 1000), 2 * SECOND);
	assert_int_equal(growth_time_left(0, 1000), 0);
	assert_true(growth_time_left(1, 0) == UINT64_MAX);
	assert_true(growth_time_left(1, -5) == UINT64_MAX);
	assert_true(growth_time_left(1ull << 60, 1) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_kept),
		cmocka_unit_test(intervals_hold_the_slope),
		cmocka_unit_test(reasons_are_given),
		cmocka_unit_test(a_short_time_says_nothing),
		cmocka_unit_test(a_series_is_thinned),
		cmocka_unit_test(trends_to_the_number),
		cmocka_unit_test(selection_equals_sorting),
		cmocka_unit_test(time_left_is_bytes_by_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
