/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifetimes: sums over sites, bounds of buckets, quantiles.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/lifetimes.h"

static void sums_run_over_all_sites(void **state)
{
	/*
	 * tick 10 ms; 35 ms is in [20, 40) = bucket 2, 10 ms in [10, 20) = bucket 1, temporary
	 * ones in bucket 0
	 */
	struct heap *h = recipe_heap("site a allocs=5 frees=5 size=8 life=35ms peak-blocks=0\n"
				     "site b allocs=9 frees=7 size=8 life=10ms temporary=3\n");
	uint64_t sum[HEAP_NR_LIFETIMES];

	(void)state;
	assert_int_equal(lifetimes_sum(h, sum), 12);
	assert_int_equal(sum[0], 3);
	assert_int_equal(sum[1], 4);
	assert_int_equal(sum[2], 5);
	for (unsigned k = 3; k < HEAP_NR_LIFETIMES; k++)
		assert_int_equal(sum[k], 0);
	heap_free(h);
}

static void buckets_double(void **state)
{
	struct heap *h = recipe_heap("watch tick=10ms\n");

	(void)state;
	assert_int_equal(lifetime_from_ns(h, 0), 0);
	assert_int_equal(lifetime_from_ns(h, 1), 10000000);
	assert_int_equal(lifetime_from_ns(h, 2), 20000000);
	assert_int_equal(lifetime_from_ns(h, 11), 10240000000);
	assert_true(lifetime_from_ns(h, HEAP_NR_LIFETIMES) == UINT64_MAX);
	heap_free(h);
}

static void quantiles_name_the_bucket(void **state)
{
	uint64_t none[HEAP_NR_LIFETIMES] = { 0 }, some[HEAP_NR_LIFETIMES] = { 49, 0, 2, 49 };

	(void)state;
	assert_int_equal(lifetime_quantile(none, 50), HEAP_NR_LIFETIMES);
	assert_int_equal(lifetime_quantile(some, 49), 0);
	assert_int_equal(lifetime_quantile(some, 50), 2);
	assert_int_equal(lifetime_quantile(some, 51), 2);
	assert_int_equal(lifetime_quantile(some, 52), 3);
	assert_int_equal(lifetime_quantile(some, 100), 3);
}

/* Means of 30 blocks under a tick and 10 of [20, 40) ms: 5 and 17.5 ms. */
static void ranges_hold_what_buckets_tell(void **state)
{
	struct heap *h = recipe_heap("watch tick=10ms\n");
	struct heap_site s = { .at_once = 30 };
	struct lifetime_range r;

	(void)state;
	h->taken_ns = 1000000000;
	*heap_lifetime_at(h, &s, 2) = 10;
	lifetime_range(h, &s, &r);
	assert_int_equal(r.nr, 40);
	assert_int_equal(r.min.from_ns, 0);
	assert_int_equal(r.min.to_ns, 10000000);
	assert_int_equal(r.mean.from_ns, 5000000);
	assert_int_equal(r.mean.to_ns, 17500000);
	assert_int_equal(r.max.from_ns, 20000000);
	assert_int_equal(r.max.to_ns, 40000000);
	/* nobody lived for longer than the site is known */
	s.first_ns = 970000000;
	lifetime_range(h, &s, &r);
	assert_int_equal(r.max.to_ns, 30000000);
	s = (struct heap_site){ 0 };
	*heap_lifetime_at(h, &s, HEAP_NR_LIFETIMES - 1) = 1;
	lifetime_range(h, &s, &r);
	assert_int_equal(r.max.from_ns, r.max.to_ns);
	s = (struct heap_site){ 0 };
	lifetime_range(h, &s, &r);
	assert_int_equal(r.nr, 0);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_run_over_all_sites),
		cmocka_unit_test(buckets_double),
		cmocka_unit_test(quantiles_name_the_bucket),
		cmocka_unit_test(ranges_hold_what_buckets_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
