/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/proc/process_usage.c, with files made here and of ourselves. */
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "src/proc/process_usage.h"

static char root[] = "/tmp/pmm-test-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/7/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/7/%s", root, name);
	unlink(path);
}

static int begin(void **state)
{
	char path[128];

	(void)state;
	if (!mkdtemp(root))
		return 1;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	return mkdir(path, 0700);
}

static int end(void **state)
{
	char path[128];

	(void)state;
	drop("stat");
	drop("status");
	snprintf(path, sizeof(path), "%s/proc/7", root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	return rmdir(root);
}

#define STAT	"7 (a (b) c) S 1 7 7 0 -1 41945 123 45 6 7 10 20 0 0 20 0 1 0 99887 1048576\n"

static void all_files(void **state)
{
	struct process_usage m;

	(void)state;
	assert_int_equal(process_usage_read(root, 7, true, &m), -ESRCH);
	put("stat", STAT);
	put("status", "Name:\ta\nVmRSS:\t  100 kB\nVmSwap:\t  20 kB\n");
	put("smaps_rollup", "00-ff ---p 00000000 00:00 0 [rollup]\nRss: 104 kB\nSwap: 24 kB\n");
	put("maps", "one\ntwo\nthree\n");
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
	drop("smaps_rollup");
	drop("maps");
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
		put("stat", bad[i]);
		assert_int_equal(process_usage_read(root, 7, false, &m), -ESRCH);
	}
	put("stat", "7 (a name that is much longer than sixteen) S 1 7 7 0 -1 4194560 1 0 0 0 10 "
		    "20 0 0 20 0 1 0 5 0 0\n");
	put("status", "VmRSS: many\n:\n\n");
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

	return cmocka_run_group_tests(tests, begin, end);
}
