/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits: which one is the nearest, from made-up /proc and /sys trees.
 */
#include "tests/unit/made_root.h"

#include <sys/resource.h>

#include "src/proc/limits.h"

#define PID 4711
#define MiB (1ull << 20)

static int begin(void **state)
{
	assert_int_equal(root_begin(state), 0);
	root_put("/proc/4711/status", "Name:\tx\nPid:\t4711\nVmSize:\t  102400 kB\nVmRSS:\t 51200 "
				      "kB\nVmData:\t  40960 kB\n");
	root_put(
		"/proc/4711/limits",
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max data size             unlimited            unlimited            bytes     \n"
		"Max address space         unlimited            unlimited            bytes     \n");
	root_put("/proc/4711/cgroup", "0::/\n");
	return 0;
}

static void nothing_known_is_said(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limits_nearest(root, PID, &l), -ENOENT);
	assert_int_equal(limits_nearest(root, PID + 1, &l), -ESRCH);
	assert_true(limits_cgroup(root, PID) == UINT64_MAX);
}

static void resource_limits_count_what_they_limit(void **state)
{
	struct limit l;

	(void)state;
	root_put(
		"/proc/4711/limits",
		"Max data size             73400320             unlimited            bytes     \n"
		"Max address space         unlimited            unlimited            bytes     \n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_DATA);
	assert_int_equal(l.limit_bytes, 70 * MiB);
	assert_int_equal(l.used_bytes, 40 * MiB);
	assert_int_equal(l.left_bytes, 30 * MiB);
	root_put(
		"/proc/4711/limits",
		"Max data size             73400320             unlimited            bytes     \n"
		"Max address space         125829120            unlimited            bytes     \n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_ADDRESS_SPACE);
	assert_int_equal(l.limit_bytes, 120 * MiB);
	assert_int_equal(l.left_bytes, 20 * MiB);
	root_put(
		"/proc/4711/limits",
		"Max address space         1000                 unlimited            bytes     \n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.left_bytes, 0);	/* lowered below what is in use */
}

static void the_machine_is_the_last_limit(void **state)
{
	struct limit l;

	(void)state;
	root_put("/proc/meminfo",
		 "MemTotal:        1024000 kB\nMemFree:  1 kB\nMemAvailable:     204800 kB\n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_MACHINE);
	assert_int_equal(l.limit_bytes, 1000 * MiB);
	assert_int_equal(l.left_bytes, 200 * MiB);
	assert_string_equal(limit_name(l.kind), "machine's memory");
}

/*
 * The group itself has 60 of 100 MiB left, the one above 50 of 200: of 160 in use 10 are page
 * cache.
 */
static void groups_above_count_too(void **state)
{
	struct limit l;

	(void)state;
	root_put("/proc/4711/cgroup", "0::/web/app\n");
	root_put("/sys/fs/cgroup/web/app/memory.max", "104857600\n");
	root_put("/sys/fs/cgroup/web/app/memory.current", "41943040\n");
	root_put("/sys/fs/cgroup/web/memory.max", "209715200\n");
	root_put("/sys/fs/cgroup/web/memory.current", "167772160\n");
	root_put("/sys/fs/cgroup/web/memory.stat",
		 "anon 1\nfile 12\ninactive_file 8388608\nactive_file 2097152\n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_CGROUP);
	assert_string_equal(l.where, "/sys/fs/cgroup/web");
	assert_int_equal(l.limit_bytes, 200 * MiB);
	assert_int_equal(l.used_bytes, 150 * MiB);
	assert_int_equal(l.left_bytes, 50 * MiB);
	/* the lowest, whatever is left of it */
	assert_int_equal(limits_cgroup(root, PID), 100 * MiB);
	root_put("/sys/fs/cgroup/web/memory.max", "max\n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_string_equal(l.where, "/sys/fs/cgroup/web/app");
	assert_int_equal(l.left_bytes, 60 * MiB);
}

static void version_1_has_other_names(void **state)
{
	struct limit l;

	(void)state;
	root_put("/proc/4711/cgroup", "9:name=systemd:/x\n4:cpu,memory:/box\n0::/\n");
	root_put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1048576\n");
	root_put("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "700000\n");
	root_put("/sys/fs/cgroup/memory/box/memory.stat",
		 "cache 1\ntotal_inactive_file 100000\ntotal_active_file 0\n");
	root_put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	root_put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_string_equal(l.where, "/sys/fs/cgroup/memory/box");
	assert_int_equal(l.left_bytes, 448576);
	assert_int_equal(limits_cgroup(root, PID), 1048576);
}

/* Nonsense is no limit and no crash; a group outside our namespace cannot be looked at. */
static void nonsense_is_left_out(void **state)
{
	struct limit l;

	(void)state;
	root_put("/proc/4711/cgroup", "::\n\n0\n0::\n0::/../../etc\n1:memory:relative\n0::/a\n");
	root_put("/sys/fs/cgroup/a/memory.max", "99999999999999999999999999\n");
	root_put("/sys/fs/cgroup/a/memory.current", "5\n");
	root_put("/etc/memory.max", "1\n");
	root_put("/etc/memory.current", "1\n");
	root_put("/proc/4711/limits", "Max address space\n");
	root_put("/proc/meminfo", "MemTotal: 5 kB\nMemAvailable: 99999999999999999 kB\n");
	assert_int_equal(limits_nearest(root, PID, &l), -ENOENT);
}

static void this_machine_has_a_limit(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limits_nearest("", getpid(), &l), 0);
	assert_true(l.limit_bytes > 0 && l.left_bytes <= l.limit_bytes);
}

static void of_memory_and_of_processes_alone(void **state)
{
	struct limit l;

	(void)state;
	root_put(
		"/proc/4711/limits",
		"Max address space         104857600            unlimited            bytes     \n");
	root_put("/proc/4711/cgroup", "0::/a/b\n");
	root_put("/sys/fs/cgroup/a/b/memory.max", "67108864\n");
	root_put("/sys/fs/cgroup/a/b/memory.current", "33554432\n");
	root_put("/sys/fs/cgroup/a/b/memory.oom.group", "1\n");
	root_put("/sys/fs/cgroup/a/pids.max", "100\n");
	root_put("/sys/fs/cgroup/a/pids.current", "97\n");
	root_put("/sys/fs/cgroup/a/b/pids.max", "max\n");
	root_put("/sys/fs/cgroup/a/b/pids.current", "3\n");
	assert_int_equal(limits_nearest(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_ADDRESS_SPACE);
	assert_int_equal(limits_memory(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_CGROUP);
	assert_int_equal(l.left_bytes, 32 * MiB);
	assert_true(l.together);
	assert_int_equal(limits_processes(root, PID, &l), 0);
	assert_int_equal(l.kind, LIMIT_PROCESSES);
	assert_int_equal(l.left_bytes, 3);
	assert_string_equal(l.where, "/sys/fs/cgroup/a");
	assert_false(l.together);

	root_put("/proc/4711/cgroup", "8:pids:/c\n4:memory:/d\n0::/\n");
	root_put("/sys/fs/cgroup/pids/c/pids.max", "10\n");
	root_put("/sys/fs/cgroup/pids/c/pids.current", "10\n");
	assert_int_equal(limits_processes(root, PID, &l), 0);
	assert_int_equal(l.left_bytes, 0);
	assert_int_equal(limits_memory(root, PID, &l), -ENOENT);
	assert_int_equal(limits_processes(root, 1, &l), -ESRCH);
}

static void address_space_of_a_process(void **state)
{
	const struct rlimit l = { 1ull << 60, 1ull << 61 };
	struct rlimit was;
	uint64_t now, most;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	assert_int_equal(limits_space(getpid(), &now, &most), 0);
	assert_true(now == was.rlim_cur && most == was.rlim_max);
	assert_int_equal(limits_space(0, &now, &most), -ESRCH);
	if (was.rlim_max < l.rlim_max)
		skip();
	assert_int_equal(setrlimit(RLIMIT_AS, &l), 0);
	assert_int_equal(limits_space(getpid(), &now, &most), 0);
	assert_int_equal(now, 1ull << 60);
	assert_int_equal(most, 1ull << 61);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_space_of_a_process),
		cmocka_unit_test_setup_teardown(nothing_known_is_said, begin, root_end),
		cmocka_unit_test_setup_teardown(resource_limits_count_what_they_limit, begin,
						root_end),
		cmocka_unit_test_setup_teardown(the_machine_is_the_last_limit, begin, root_end),
		cmocka_unit_test_setup_teardown(groups_above_count_too, begin, root_end),
		cmocka_unit_test_setup_teardown(version_1_has_other_names, begin, root_end),
		cmocka_unit_test_setup_teardown(nonsense_is_left_out, begin, root_end),
		cmocka_unit_test_setup_teardown(this_machine_has_a_limit, begin, root_end),
		cmocka_unit_test_setup_teardown(of_memory_and_of_processes_alone, begin, root_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
