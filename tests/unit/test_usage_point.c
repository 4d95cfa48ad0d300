/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures of a process as a point: why they are missing, which are known. */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "src/ledger/usage_point.h"
#include "tests/unit/recipe_heap.h"

static void errors_have_their_reason(void **state)
{
	(void)state;
	assert_int_equal(usage_why(0), HEAP_USAGE_KNOWN);
	assert_int_equal(usage_why(-ENOENT), HEAP_USAGE_NONE);
	assert_int_equal(usage_why(-EACCES), HEAP_USAGE_DENIED);
	assert_int_equal(usage_why(-EPERM), HEAP_USAGE_DENIED);
	assert_int_equal(usage_why(-ESRCH), HEAP_USAGE_DEAR);
	assert_int_equal(usage_why(-EIO), HEAP_USAGE_FAILED);
}

static void only_what_is_known_is_taken(void **state)
{
	const struct process_figures f = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct heap_usage_point p = { .time_ns = 77 };

	(void)state;
	usage_point_fill(&p, &f, HEAP_USAGE_PSS);
	assert_int_equal(p.pss_bytes, 10);
	assert_int_equal(p.minor_faults + p.threads + p.anon_bytes + p.swap_bytes, 0);
	usage_point_fill(&p, &f, HEAP_USAGE_TIMES);
	assert_int_equal(p.known, HEAP_USAGE_PSS | HEAP_USAGE_TIMES);
	assert_int_equal(p.minor_faults, 1);
	assert_int_equal(p.major_faults, 2);
	assert_int_equal(p.user_ns, 3);
	assert_int_equal(p.system_ns, 4);
	assert_int_equal(p.threads, 5);
	assert_int_equal(p.anon_bytes + p.file_bytes + p.shmem_bytes + p.swap_bytes, 0);
	usage_point_fill(&p, &f, HEAP_USAGE_SIZES);
	assert_int_equal(p.known, HEAP_USAGE_ALL);
	assert_int_equal(p.anon_bytes, 6);
	assert_int_equal(p.file_bytes, 7);
	assert_int_equal(p.shmem_bytes, 8);
	assert_int_equal(p.swap_bytes, 9);
	assert_int_equal(p.time_ns, 77);
}

static void a_running_process_has_a_point(void **state)
{
	struct heap *h = recipe_heap("process taken=5s end=running\nusage-point 1s pss=1\n"
				     "usage-point 2s pss=2\n");

	(void)state;
	assert_int_equal(usage_now(getpid(), h), 0);
	assert_int_equal(h->nr_usage_points, 1);
	assert_int_equal(h->usage_points[0].time_ns, 5000000000);
	assert_int_equal(h->usage_points[0].known, HEAP_USAGE_ALL);
	assert_true(h->usage_points[0].pss_bytes > 4096);
	assert_true(h->usage_points[0].pss_bytes > 2);
	assert_true(h->usage.sampled && h->usage.took_ns);
	assert_int_equal(h->usage.why, HEAP_USAGE_KNOWN);
	assert_int_equal(h->usage.pss_why, HEAP_USAGE_KNOWN);
	heap_free(h);
}

static void none_has_a_reason(void **state)
{
	struct heap *h = recipe_heap("process taken=5s end=running\n");
	char why[200];

	(void)state;
	assert_int_equal(usage_now(INT32_MAX, h), 0);
	assert_int_equal(h->nr_usage_points, 0);
	assert_true(h->usage.sampled);
	assert_int_equal(h->usage.why, HEAP_USAGE_DEAR);
	assert_int_equal(h->usage.pss_why, HEAP_USAGE_DEAR);
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_their_reason),
		cmocka_unit_test(only_what_is_known_is_taken),
		cmocka_unit_test(a_running_process_has_a_point),
		cmocka_unit_test(none_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
