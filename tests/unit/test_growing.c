/*
 * Growing: a process watched from the middle of its life; turnover of blocks that nobody knew is no growth, a leak beside it is.
 */
#include "tests/unit/unit.h"

#include <math.h>

#include "src/analyze/growing.h"

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

/* 10 blocks of 1000 bytes a second at one site while `gone` unknown blocks are freed a second. */
static struct growth one_site(double gone)
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
		growing_totals(&g, t * SECOND, 10000 * t, 10 * t, (uint64_t)(gone * t));
		assert_int_equal(growing_look(&g, h), 0);
		assert_int_equal(growing_judge_site(&g, h, 1, &out), 0);
		heap_free(h);
	}
	growing_fini(&g);
	return out;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turnover_is_no_growth),
		cmocka_unit_test(a_leak_beside_turnover_is_found),
		cmocka_unit_test(a_site_grows_unless_unknown_blocks_go),
		cmocka_unit_test(only_so_many_sites_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
