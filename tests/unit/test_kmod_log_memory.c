/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_log.c, when memory is short: entries and tables that give way, allocations that fail. */
#include "tests/unit/kmod_log_host.h"

/* What of evicted entries is freed later is not of strangers, as long as it can be of them. */
static void test_evicted(void **state)
{
	const struct pmm_log_counts *c = &the_log.counts;
	u64 seen[64];

	(void)state;
	for (u64 i = 1; i <= 50; i++)
		enter(PMM_KMOD_MALLOC, i, i, 0);
	assert_int_equal(pmm_log_evict(&the_log, 20), 20);
	assert_int_equal(the_log.entries, 30);
	assert_int_equal(the_log.nr_spares, 0);
	assert_int_equal(c->evicted, 20);
	assert_int_equal(c->lost_bytes, 20 * 21 / 2);
	assert_int_equal(pointers(seen), 30);
	assert_int_equal(seen[0], 21);
	for (u64 i = 1; i <= 15; i++)
		enter(PMM_KMOD_FREE, i, 0, 0);
	enter(PMM_KMOD_FREE, 50, 0, 0);
	enter(PMM_KMOD_FREE, 50, 0, 0);
	assert_int_equal(c->evicted_frees, 15);
	assert_int_equal(c->frees, 1);
	assert_int_equal(c->double_frees, 1);
	assert_int_equal(c->foreign_frees, 0);
	for (u64 i = 101; i <= 107; i++)
		enter(PMM_KMOD_FREE, i, 0, 0);
	assert_int_equal(c->evicted_frees, 20);
	assert_int_equal(c->foreign_frees, 2);
	assert_int_equal(the_log.nr_wrong, 3);
	check_sum();
	assert_int_equal(pmm_log_evict(&the_log, 1000), 29);
	assert_int_equal(pmm_log_evict(&the_log, 1000), 0);
	assert_null(the_log.buckets);
	assert_int_equal(c->evicted, 49);
	enter(PMM_KMOD_MALLOC, 1, 1, 0);
	assert_int_equal(the_log.bits, 6);
	check_sum();
}

/* The hash table gives way as well, and what is left in it is found. */
static void test_table_shrinks(void **state)
{
	double per_find;

	(void)state;
	fill_to(5000, 16, 0);
	assert_int_equal(the_log.bits, 13);
	pmm_log_evict(&the_log, 5000 - 1024);
	assert_int_equal(the_log.bits, 13);
	pmm_os_allocs_left = 0;			/* no memory for a smaller one */
	pmm_log_evict(&the_log, 1);
	assert_int_equal(the_log.bits, 13);
	pmm_os_allocs_left = -1;
	pmm_log_evict(&the_log, 1);
	assert_int_equal(the_log.bits, 11);
	assert_int_equal(the_log.entries, 1022);
	assert_in_range(longest_chain(&per_find), 1, 9);
	for (u64 i = 5000 - 1021; i <= 5000; i++)
		enter(PMM_KMOD_FREE, i * 16, 0, 0);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.counts.frees, 1022);
	assert_int_equal(the_log.counts.evicted_frees, 0);
	check_sum();
}

/* It gets as small as what is left fits, in one step: for one allocation. */
static void test_table_shrinks_in_one_step(void **state)
{
	static const struct {
		u64 left;
		u32 bits;
	} rows[] = { { 256, 11 }, { 255, 9 }, { 64, 9 }, { 63, 7 }, { 1, 7 } };
	double per_find;

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++) {
		fill_to(5000, 16, 0);
		assert_int_equal(the_log.bits, 13);
		pmm_os_allocs_left = 1;
		pmm_log_evict(&the_log, 5000 - rows[i].left);
		assert_int_equal(pmm_os_allocs_left, 0);
		pmm_os_allocs_left = -1;
		assert_int_equal(the_log.bits, rows[i].bits);
		assert_in_range(longest_chain(&per_find), 1, 9);
		for (u64 p = 5001 - rows[i].left; p <= 5000; p++)
			enter(PMM_KMOD_FREE, p * 16, 0, 0);
		assert_int_equal(the_log.entries, 0);
		assert_int_equal(the_log.counts.frees, rows[i].left);
		pmm_log_clear(&the_log);
	}
	pmm_log_evict(&the_log, 1);
	assert_null(the_log.buckets);
}

/* Without memory the newest is entered, the oldest gives way, and some more for the next ones. */
static void test_oldest_gives_way(void **state)
{
	const struct pmm_log_counts *c = &the_log.counts;
	u64 seen[64];

	(void)state;
	fill_to(640, 1, 0);
	pmm_os_allocs_left = 0;
	enter(PMM_KMOD_MALLOC, 641, 1, 0);
	assert_int_equal(c->evicted, 11);
	assert_int_equal(the_log.entries, 630);
	assert_int_equal(the_log.nr_spares, 10);
	fill_to(640, 1000, 0);
	assert_int_equal(c->evicted, 11);
	assert_int_equal(the_log.nr_spares, 0);
	assert_int_equal(pointers(seen), 640);
	assert_int_equal(seen[0], 12);
	pmm_os_allocs_left = 1;
	assert_true(pmm_log_ready(&the_log));
	assert_true(pmm_log_ready(&the_log));
	assert_int_equal(the_log.nr_spares, 1);
	enter(PMM_KMOD_MALLOC, 777, 1, 0);
	assert_false(pmm_log_ready(&the_log));
	assert_int_equal(c->evicted, 11);
	assert_int_equal(c->no_memory, 0);
	pmm_os_allocs_left = -1;
	check_sum();
}

/* A table that could not be had is asked for again when there are an eighth more entries. */
static void test_no_memory_for_a_table(void **state)
{
	(void)state;
	pmm_os_allocs_left = 0;
	enter(PMM_KMOD_MALLOC, 1, 1, 0);
	assert_int_equal(the_log.counts.no_memory, 1);
	assert_null(the_log.buckets);
	pmm_os_allocs_left = 1;			/* for the table, not for the entry */
	enter(PMM_KMOD_MALLOC, 1, 1, 0);
	assert_int_equal(the_log.counts.no_memory, 2);
	assert_non_null(the_log.buckets);
	pmm_os_allocs_left = -1;
	fill_to(64, 1, 0);
	assert_int_equal(the_log.bits, 6);
	pmm_os_allocs_left = 0;
	enter(PMM_KMOD_MALLOC, 65, 1, 0);
	assert_int_equal(the_log.counts.evicted, 2);
	assert_int_equal(the_log.entries, 63);
	enter(PMM_KMOD_MALLOC, 66, 1, 0);	/* in the place of the second one */
	for (u64 i = 67; i <= 74; i++) {
		pmm_os_allocs_left = 1;		/* for the entry: no table is asked for */
		enter(PMM_KMOD_MALLOC, i, 1, 0);
		assert_int_equal(the_log.entries, i - 2);
		assert_int_equal(the_log.bits, 6);
	}
	pmm_os_allocs_left = 1;			/* for the table */
	enter(PMM_KMOD_MALLOC, 75, 1, 0);
	assert_int_equal(the_log.bits, 7);
	assert_int_equal(the_log.counts.no_memory, 2);
	assert_int_equal(the_log.counts.evicted, 4);
	pmm_os_allocs_left = -1;
	check_sum();
	for (u64 i = 5; i <= 75; i++)
		enter(PMM_KMOD_FREE, i, 0, 0);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.counts.evicted_frees, 0);
	assert_int_equal(the_log.nr_wrong, 0);
}

/* Ready is a log that has both a table and an entry. */
static void test_ready(void **state)
{
	(void)state;
	pmm_os_allocs_left = 0;
	assert_false(pmm_log_ready(&the_log));
	assert_null(the_log.buckets);
	pmm_os_allocs_left = 1;			/* for the table, not for the entry */
	assert_false(pmm_log_ready(&the_log));
	assert_int_equal(the_log.bits, 6);
	assert_int_equal(the_log.nr_spares, 0);
	pmm_os_allocs_left = 1;
	assert_true(pmm_log_ready(&the_log));
	assert_int_equal(the_log.nr_spares, 1);
	enter(PMM_KMOD_MALLOC, 1, 1, 0);
	assert_int_equal(the_log.entries, 1);
	assert_int_equal(the_log.counts.no_memory, 0);
	assert_int_equal(pmm_os_allocs_left, 0);
	pmm_os_allocs_left = -1;
	check_sum();
}

/* Each allocation of a course of requests fails once; figures add up and nothing is left. */
static void test_each_allocation_fails(void **state)
{
	(void)state;
	for (long at = 0; at < 300; at++) {
		pmm_os_allocs_left = at;
		for (u64 i = 1; i <= 200; i++) {
			enter(PMM_KMOD_MALLOC, i, i, 0);
			if (i % 3 == 0)
				enter(PMM_KMOD_FREE, i / 3, 0, 0);
			if (i == 150)
				pmm_os_allocs_left = -1;
			check_sum();
		}
		pmm_log_clear(&the_log);
		assert_int_equal(atomic_long_read(&limits.entries), 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_evicted, setup, teardown),
	cmocka_unit_test_setup_teardown(test_table_shrinks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_table_shrinks_in_one_step, setup, teardown),
	cmocka_unit_test_setup_teardown(test_oldest_gives_way, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_memory_for_a_table, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ready, setup, teardown),
	cmocka_unit_test_setup_teardown(test_each_allocation_fails, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
