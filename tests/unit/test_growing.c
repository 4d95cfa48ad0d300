/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing: a process watched from the middle of its life; turnover of blocks that nobody knew is no
 * growth, a leak beside it is. And what one heap tells of its past. Also of src/analyze/trend.c.
 * Also of src/analyze/growing_past.c.
 */
#include <math.h>

#include "src/analyze/growing.h"
#include "src/base/str.h"
#include "tests/unit/recipe_heap.h"

#define SECOND 1000000000ull

static const struct growth *judged(struct growing *g)
{
	static struct growth out;

	assert_int_equal(growing_judge(g, &out), 0);
	return &out;
}

/* 100 blocks of 1000 bytes a second replace old ones. */
static void turnover_is_no_growth(void **state)
{
	struct growing g = { 0 };

	(void)state;
	for (unsigned t = 0; t < 120; t++)
		growing_totals(&g, t * SECOND, t * 100000, t * 100, t * 100);
	assert_int_equal(judged(&g)->verdict, GROWTH_NONE);
	growing_fini(&g);
}

/* The same, and 5 blocks more a second: 5000 bytes per second. */
static void a_leak_beside_turnover_is_found(void **state)
{
	struct growing g = { 0 };

	(void)state;
	for (unsigned t = 0; t < 120; t++)
		growing_totals(&g, t * SECOND, t * 105000, t * 105, t * 100);
	assert_int_equal(judged(&g)->verdict, GROWTH_STEADY);
	assert_true(fabs(judged(&g)->slope - 5000) < 0.01);
	growing_fini(&g);
}

/*
 * 10 blocks of 1000 bytes a second at one site while `gone` unknown blocks are freed a second, and
 * so many at the last look.
 */
static struct growth one_site_and(double gone, uint64_t at_last)
{
	struct growing g = { 0 };
	struct growth out = { 0 };

	for (unsigned t = 0; t < 60; t++) {
		struct heap *h = heap_new();

		free(h->sites);
		h->nr_sites = 2;
		h->sites = calloc(2, sizeof(*h->sites));
		h->sites[1].number = 7;
		h->sites[1].live_blocks = 10 * t;
		h->sites[1].live_bytes = 10000 * t;
		h->taken_ns = t * SECOND;
		growing_totals(&g, t * SECOND, 10000 * t, 10 * t,
			       (uint64_t)(gone * t) + (t == 59 ? at_last : 0));
		assert_int_equal(growing_look(&g, h), 0);
		assert_int_equal(growing_judge_site(&g, h, 1, &out), 0);
		heap_free(h);
	}
	growing_fini(&g);
	return out;
}

static struct growth one_site(double gone)
{
	return one_site_and(gone, 0);
}

static void a_site_grows_unless_unknown_blocks_go(void **state)
{
	struct growth g = one_site(0);

	(void)state;
	assert_int_equal(g.verdict, GROWTH_STEADY);
	assert_true(fabs(g.slope - 10000) < 0.01);
	g = one_site(4);
	assert_int_equal(g.verdict, GROWTH_STEADY);
	g = one_site(6);
	assert_int_equal(g.verdict, GROWTH_NONE);
	assert_int_equal(g.reason, GROWTH_TURNOVER);
	g = one_site(5);			/* just half as many as grew */
	assert_int_equal(g.verdict, GROWTH_NONE);
	g = one_site(4.98);
	assert_int_equal(g.verdict, GROWTH_STEADY);
	g = one_site_and(0, 600);		/* at once, in the end */
	assert_int_equal(g.verdict, GROWTH_NONE);
	g = one_site_and(0, 200);
	assert_int_equal(g.verdict, GROWTH_STEADY);
}

static void only_so_many_sites_are_followed(void **state)
{
	struct growing g = { 0 };
	struct heap *h = heap_new();

	(void)state;
	free(h->sites);
	h->nr_sites = GROWING_MAX_SITES + 10;
	h->sites = calloc(h->nr_sites, sizeof(*h->sites));
	for (uint32_t i = 1; i < h->nr_sites; i++) {
		h->sites[i].number = i;
		h->sites[i].live_bytes = h->sites[i].live_blocks = 1;
	}
	for (unsigned t = 0; t < 3; t++) {
		h->taken_ns = t * SECOND;
		growing_look(&g, h);
		assert_int_equal(g.sites.nr, GROWING_MAX_SITES);
		assert_int_equal(g.nr_left_out, 9);
	}
	heap_free(h);
	growing_fini(&g);
}

/* ---- the past of one heap ---- */

static struct growth past(const char *recipe, const char *site)
{
	struct heap *h = recipe_heap(recipe);
	struct growing g = { 0 };
	struct growth out;

	assert_int_equal(growing_past(&g, h), 0);
	assert_int_equal(growing_judge_site(&g, h, recipe_site(h, site), &out), 0);
	growing_fini(&g);
	heap_free(h);
	return out;
}

/* Births say nothing of a site that frees: what lives is always young. */
static void births_of_what_is_freed_say_nothing(void **state)
{
	static const char recipe[] = "process taken=60s end=running\n"
				     "site main>a size=100 allocs=70 frees=10 first=0s last=60s\n"
				     "site main>b size=100 allocs=63 frees=3 first=0s last=60s\n";

	(void)state;
	assert_int_equal(past(recipe, "a").verdict, GROWTH_UNKNOWN);
	assert_int_equal(past(recipe, "b").verdict, GROWTH_STEADY);
}

/* 60 blocks born in a minute that pmm was attached for, while so many unknown ones were freed. */
static struct growth attached(enum heap_began began, uint64_t gone)
{
	struct heap *h = recipe_heap("process taken=70s end=running\nsite main>a size=100 "
				     "allocs=60 first=10s last=70s\n");
	struct growing g = { 0 };
	struct growth out;

	h->began = began;
	h->attach_ns = 10 * SECOND;
	h->untracked_frees = gone;
	assert_int_equal(growing_past(&g, h), 0);
	assert_int_equal(growing_judge_site(&g, h, 1, &out), 0);
	growing_fini(&g);
	heap_free(h);
	return out;
}

/*
 * What is born may replace what was there before: half as many frees make it doubtful, from births
 * too.
 */
static void births_may_replace_unknown_blocks(void **state)
{
	(void)state;
	assert_int_equal(attached(HEAP_BEGAN_ATTACH, 0).verdict, GROWTH_STEADY);
	assert_int_equal(attached(HEAP_BEGAN_ATTACH, 25).verdict, GROWTH_STEADY);
	assert_int_equal(attached(HEAP_BEGAN_ATTACH, 35).verdict, GROWTH_NONE);
	assert_int_equal(attached(HEAP_BEGAN_ATTACH, 35).reason, GROWTH_TURNOVER);
	assert_int_equal(attached(HEAP_BEGAN_FORK, 60).reason, GROWTH_TURNOVER);
	/* blocks below --min-size */
	assert_int_equal(attached(HEAP_BEGAN_EXEC, 60).verdict, GROWTH_STEADY);
}

/* Of 600 blocks a tenth was sampled: growth is that of all. Fifteen samples say nothing. */
static void births_of_samples_stand_for_all(void **state)
{
	static const char recipe[] =
		"process taken=60s end=running\nwatch mode=sampled sample=1000\n"
		"site main>a size=100 allocs=600 blocks=60 samples-in=60 first=0s last=60s\n"
		"site main>b size=100 allocs=150 blocks=15 samples-in=16 samples-out=1 first=0s "
		"last=60s\n";

	(void)state;
	assert_int_equal(past(recipe, "a").verdict, GROWTH_STEADY);
	assert_in_range((uint64_t)past(recipe, "a").slope, 970, 1030);
	assert_int_equal(past(recipe, "b").verdict, GROWTH_UNKNOWN);
}

/*
 * A capture's series count where there are any: this site frees as much as it lives, and grows by
 * 1000 bytes a second.
 */
static void series_of_a_capture_tell_growth(void **state)
{
	struct str recipe = STR_INIT;
	struct growth g;

	(void)state;
	str_add(&recipe, "process taken=40s end=running\nsite main>a size=1000 allocs=1000 "
			 "frees=960 first=0s last=40s\n");
	for (unsigned t = 0; t <= 40; t++)
		str_addf(&recipe, "site-point %us main>a live=%u blocks=%u\n", t, 1000 * t, t);
	g = past(str_text(&recipe), "a");
	assert_int_equal(g.verdict, GROWTH_STEADY);
	assert_in_range((uint64_t)(g.slope + 0.5), 1000, 1000);
	str_fini(&recipe);
}

/*
 * The slope of a capture's whole heap: 105 blocks of 1000 bytes more a second, while `gone` unknown
 * ones are freed in the 40 seconds of it.
 */
static struct growth past_heap(unsigned gone, unsigned taken)
{
	struct growing g = { 0 };
	struct growth out;
	struct heap *h = heap_new();

	h->attach_ns = 10 * SECOND;
	h->taken_ns = taken * SECOND;
	h->untracked_frees = gone;
	h->nr_points = 51;
	h->points = calloc(h->nr_points, sizeof(*h->points));
	for (unsigned t = 0; t <= 50; t++)
		h->points[t] = (struct heap_point){ .time_ns = t * SECOND,
						    .live_bytes = t * 105000,
						    .live_blocks = t * 105 };
	assert_int_equal(growing_past(&g, h), 0);
	assert_int_equal(growing_judge(&g, &out), 0);
	growing_fini(&g);
	heap_free(h);
	return out;
}

/*
 * Frees of unknown blocks are counted at the end only: as if they had come evenly since pmm
 * attached.
 */
static void unknown_blocks_went_evenly(void **state)
{
	(void)state;
	assert_int_equal(past_heap(0, 50).verdict, GROWTH_STEADY);
	assert_true(fabs(past_heap(0, 50).slope - 105000) < 1);
	/* 50 a second in four fifths of the time */
	assert_true(past_heap(40 * 50, 50).slope < 75000);
	assert_true(past_heap(40 * 50, 50).slope > 50000);
	assert_int_equal(past_heap(40 * 105, 50).verdict, GROWTH_NONE);
	/* no time in which they could */
	assert_true(fabs(past_heap(40 * 50, 10).slope - 105000) < 1);
	assert_int_equal(past_heap(40 * 50, 10).verdict, GROWTH_STEADY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turnover_is_no_growth),
		cmocka_unit_test(a_leak_beside_turnover_is_found),
		cmocka_unit_test(a_site_grows_unless_unknown_blocks_go),
		cmocka_unit_test(only_so_many_sites_are_followed),
		cmocka_unit_test(births_of_what_is_freed_say_nothing),
		cmocka_unit_test(births_may_replace_unknown_blocks),
		cmocka_unit_test(births_of_samples_stand_for_all),
		cmocka_unit_test(series_of_a_capture_tell_growth),
		cmocka_unit_test(unknown_blocks_went_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
