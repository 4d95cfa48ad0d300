/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/sample.c: the integer arithmetic against the formulas, and the distribution of distances.
 * Also of agent/record.c.
 */
#include "tests/unit/agent_host.h"

#include "agent/record.h"

#include "tests/unit/unit.h"
#include <math.h>

#define R (512 << 10)

static void test_weights_follow_the_formula(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	((struct pmm_tree *)agent.tree)->sample_bytes = R;
	for (uint64_t size = 1; size < 64 * R; size += 1 + size / 50) {
		double want = (double)size / -expm1(-(double)size / R);
		double got = (double)sample_bytes(size);

		assert_true(fabs(got - want) / want < 1e-3 || fabs(got - want) <= 1);
	}
	assert_int_equal(sample_bytes(1ull << 40), 1ull << 40);
	agent_host_fini();
}

/* The rounding of counts is random over addresses, so its mean is the weight itself. */
static void test_counts_are_unbiased(void **state)
{
	const uint64_t sizes[] = { 64, 100000, R, 3 * R };

	(void)state;
	agent_host_init(1 << 20);
	((struct pmm_tree *)agent.tree)->sample_bytes = R;
	for (unsigned i = 0; i < 4; i++) {
		double want = 1 / -expm1(-(double)sizes[i] / R), sum = 0;

		for (uint64_t k = 0; k < 100000; k++)
			sum += (double)sample_weight(sizes[i], 0x7f0000000010ull + 48 * k);
		assert_true(fabs(sum / 100000 - want) < 0.01 + want * 1e-3);
	}
	agent_host_fini();
}

/*
 * Exponential: mean R, a share 1/e above R, standard deviation R. Six sigma for 200 000 draws with
 * a fixed seed.
 */
static void test_distances_are_exponential(void **state)
{
	struct tctx *c;
	double sum = 0, squares = 0;
	unsigned above = 0;

	(void)state;
	agent_host_init(1 << 20);
	((struct pmm_tree *)agent.tree)->sample_bytes = R;
	c = agent_host_ctx();
	c->random = 42;
	for (int i = 0; i < 200000; i++) {
		double d = (double)sample_next(c);

		sum += d / R;
		squares += d / R * d / R;
		above += d > R;
	}
	assert_true(fabs(sum / 200000 - 1) < 6 / sqrt(200000));
	assert_true(fabs(squares / 200000 - 2) < 6 * sqrt(20 / 200000.0));
	assert_true(fabs(above / 200000.0 - exp(-1)) < 6 * sqrt(0.2325 / 200000));
	agent_host_fini();
}

/*
 * How many samples a filter slot is said to hold, of `nr` that share it and of which one is
 * released and comes back; then all go.
 */
static void filter_after(unsigned nr, unsigned full, unsigned end)
{
	const uint64_t first = 0x7f0000000000, apart = (uint64_t)AGENT_FILTER_SLOTS << 12;
	struct block_info was;
	struct tctx *c;

	agent_host_init(64 << 20);
	((struct pmm_tree *)agent.tree)->sample_bytes = 1;
	agent.sampled = true;
	memset(sample_pages, 0, sizeof(sample_pages));
	c = agent_host_ctx();
	for (unsigned i = 0; i < nr; i++)
		record_alloc_at(c, first + i * apart, 16, PMM_KIND_MALLOC, 0);
	assert_int_equal(*sample_filter(first), full);
	assert_true(record_free(c, first, &was));
	record_restore(c, first, &was);
	assert_int_equal(*sample_filter(first), full);
	assert_int_equal(agent_host_live(), 16 * (int64_t)nr);
	for (unsigned i = 0; i < nr; i++)
		assert_true(record_free(c, first + i * apart, &was));
	assert_int_equal(*sample_filter(first), end);
	agent_host_fini();
}

static void test_full_filters_stay_full(void **state)
{
	(void)state;
	filter_after(1, 1, 0);
	filter_after(254, 254, 0);
	filter_after(255, 255, 255);
	filter_after(300, 255, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_follow_the_formula),
		cmocka_unit_test(test_counts_are_unbiased),
		cmocka_unit_test(test_distances_are_exponential),
		cmocka_unit_test(test_full_filters_stay_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
