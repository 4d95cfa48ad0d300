/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of sampled figures, against values worked out by hand and against drawn samples.
 */
#include "tests/unit/recipe_heap.h"

#include <math.h>

#include "src/analyze/estimate.h"

static void close_to(double got, double expected, double part)
{
	if (fabs(got - expected) > fabs(expected) * part)
		fail_msg("%.9g is not %.9g", got, expected);
}

static void exact_captures_have_no_error(void **state)
{
	struct heap *h = recipe_heap("site a allocs=3 size=100\n");
	double error[4] = { 1, 2, 3, 4 };

	(void)state;
	assert_true(estimate_live_error(h) == 0);
	estimate_site_errors(h, error);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		assert_true(error[i] == 0);
	assert_true(estimate_weight(h, 100) == 1);
	heap_free(h);
}

static void weights_are_one_over_the_probability(void **state)
{
	struct heap *h = recipe_heap("watch mode=sampled sample=1000\n");

	(void)state;
	close_to(estimate_weight(h, 1000), 1 / (1 - exp(-1)), 1e-9); /* 1.58197671 */
	close_to(estimate_weight(h, 1), 1000.5, 1e-6);		     /* R + 1/2 for small blocks */
	close_to(estimate_weight(h, 0), 1000.5, 1e-6);
	close_to(estimate_weight(h, 1000000), 1, 1e-9);
	heap_free(h);
}

/*
 * p = 1 - 1/e = 0.63212056; variance of one: 1000^2 * 0.36787944 / 0.39957640 = 920673.60; of 4:
 * 3682694.4
 */
static void four_blocks_by_hand(void **state)
{
	struct heap *h = recipe_heap("watch mode=sampled sample=1000\n"
				     "site a allocs=3 size=1000\nsite b allocs=1 size=1000\n");
	double error[8];

	(void)state;
	close_to(estimate_live_error(h), 1.959964 * sqrt(3682694.4), 1e-7);
	assert_true(h->nr_sites <= 8);
	estimate_site_errors(h, error);
	close_to(error[recipe_site(h, "a")], 1.959964 * sqrt(3 * 920673.60), 1e-7);
	close_to(error[recipe_site(h, "b")], 1.959964 * sqrt(920673.60), 1e-7);
	heap_free(h);
}

static double uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* Sample 2000 blocks of 100..1099 bytes 400 times: 95 % of the intervals hold the truth. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
	static struct heap_block block[2000];
	struct heap h = { .mode = HEAP_SAMPLED, .sample_bytes = 5000, .blocks = block };
	uint64_t seed = 88172645463325252ull;
	unsigned held = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		double truth = 0, estimate = 0;

		h.nr_blocks = 0;
		for (unsigned i = 0; i < 2000; i++) {
			uint64_t size = 100 + i % 1000;

			truth += (double)size;
			if (uniform(&seed) >= 1 - exp(-(double)size / 5000))
				continue;
			block[h.nr_blocks++].size_bytes = size;
			estimate += (double)size * estimate_weight(&h, size);
		}
		held += fabs(estimate - truth) <= estimate_live_error(&h);
	}
	assert_in_range(held, 368, 392); /* 380 expected, 12 is 2.75 standard deviations */
}

/* Of so many bytes one in e^3 has no sample: all that an empty sample says. */
static void an_empty_sample_bounds_what_is_live(void **state)
{
	struct heap h = { .mode = HEAP_SAMPLED, .sample_bytes = 5000 };

	(void)state;
	close_to(estimate_live_error(&h), 14978.66, 0.01);
	close_to(exp(-estimate_live_error(&h) / 5000), 0.05, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_captures_have_no_error),
		cmocka_unit_test(weights_are_one_over_the_probability),
		cmocka_unit_test(four_blocks_by_hand),
		cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
		cmocka_unit_test(an_empty_sample_bounds_what_is_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
