/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/proc/process_usage.c, with files made here and of ourselves. */
#include "tests/unit/made_root.h"

#include "src/proc/process_usage.h"

static int begin(void **state)
{
	int rc = root_begin(state);

	root_put("/proc/7", NULL);
	return rc;
}

#define STAT	"7 (a (b) c) S 1 7 7 0 -1 41945 123 45 6 7 10 20 0 0 20 0 1 0 99887 1048576\n"

static void all_files(void **state)
{
	struct process_usage m;

	(void)state;
	assert_int_equal(process_usage_read(root, 7, true, &m), -ESRCH);
	root_put("/proc/7/stat", STAT);
	root_put("/proc/7/status", "Name:\ta\nVmRSS:\t  100 kB\nVmSwap:\t  20 kB\n");
	root_put("/proc/7/smaps_rollup",
		 "00-ff ---p 00000000 00:00 0 [rollup]\nRss: 104 kB\nSwap: 24 kB\n");
	root_put("/proc/7/maps", "one\ntwo\nthree\n");
	assert_int_equal(process_usage_read(root, 7, true, &m), 0);
	assert_string_equal(m.comm, "a (b) c");
	assert_int_equal(m.minor_faults, 123);
	assert_int_equal(m.major_faults, 6);
	assert_int_equal(m.start_ticks, 99887);
	assert_int_equal(m.resident_bytes, 104 * 1024);
	assert_int_equal(m.swapped_bytes, 24 * 1024);
	assert_int_equal(m.nr_mappings, 3);
	assert_int_equal(process_usage_read(root, 7, false, &m), 0);
	assert_int_equal(m.resident_bytes, 100 * 1024);
	assert_int_equal(m.swapped_bytes, 20 * 1024);
	assert_int_equal(m.nr_mappings, 0);
	/* another user's: those may not be read */
	root_drop("/proc/7/smaps_rollup");
	root_drop("/proc/7/maps");
	assert_int_equal(process_usage_read(root, 7, true, &m), 0);
	assert_int_equal(m.resident_bytes, 100 * 1024);
	assert_int_equal(m.nr_mappings, 0);
}

static void damaged_files(void **state)
{
	static const char *const bad[] = { "", "7", "7 (a", "7 a) S 1", ")(",
					   "7 (a) S 1 7 7 0 -1 41 12" };
	struct process_usage m;

	(void)state;
	for (size_t i = 0; i < NR(bad); i++) {
		root_put("/proc/7/stat", bad[i]);
		assert_int_equal(process_usage_read(root, 7, false, &m), -ESRCH);
	}
	root_put("/proc/7/stat",
		 "7 (a name that is much longer than sixteen) S 1 7 7 0 -1 4194560 1 0 0 0 10 "
		 "20 0 0 20 0 1 0 5 0 0\n");
	root_put("/proc/7/status", "VmRSS: many\n:\n\n");
	assert_int_equal(process_usage_read(root, 7, false, &m), 0);
	assert_string_equal(m.comm, "a name that is m");
	assert_int_equal(m.resident_bytes, 0);
}

static void ourselves(void **state)
{
	struct process_usage m;

	(void)state;
	assert_int_equal(process_usage_read("", getpid(), true, &m), 0);
	assert_string_equal(m.comm, "test_process_us");
	assert_true(m.minor_faults > 0 && m.resident_bytes > 100000 && m.nr_mappings > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(ourselves),
	};

	return cmocka_run_group_tests(tests, begin, root_end);
}
