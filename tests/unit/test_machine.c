/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/proc/machine.c and memcg.c, on files made here. Also of src/session/trace/trace_moments.c. */
#include "tests/unit/made_root.h"

#include "src/proc/machine.h"
#include "src/proc/memcg.h"
#include "src/session/trace/trace_moments.h"

static void test_the_machine(void **state)
{
	struct machine m;

	(void)state;
	assert_int_equal(machine_read(root, &m), -ENOENT);
	assert_int_equal(machine_oom_kills(root), 0);
	root_put("/proc/meminfo", "MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:   60 kB\n"
				  "SwapTotal: 8 kB\nSwapFree: 4 kB\n");
	root_put("/proc/vmstat", "pgfault 10\npgmajfault 3\npswpin 4\nallocstall_dma 1\n"
				 "allocstall_normal 6\npgsteal_kswapd 5\npgsteal_direct 7\n"
				 "pgscan_direct 9\npgscan_direct_throttle 100\noom_kill 2\n");
	root_put("/proc/loadavg", "0.50 1.25 2.00 1/100 5\n");
	assert_int_equal(machine_read(root, &m), 0);
	assert_int_equal(m.total_bytes, 100 << 10);
	assert_int_equal(m.available_bytes, 60 << 10);
	assert_int_equal(m.swap_bytes, 8 << 10);
	assert_int_equal(m.swap_free_bytes, 4 << 10);
	assert_int_equal(m.counter[MACHINE_FAULTS], 10);
	assert_int_equal(m.counter[MACHINE_MAJOR_FAULTS], 3);
	assert_int_equal(m.counter[MACHINE_SWAP_IN], 4);
	assert_int_equal(m.counter[MACHINE_STALLS], 7);
	assert_int_equal(m.counter[MACHINE_RECLAIMED], 12);
	assert_int_equal(m.counter[MACHINE_SCANNED_DIRECT], 9);
	assert_int_equal(m.counter[MACHINE_OOM_KILLS], 2);
	assert_true(m.load[0] == 0.5 && m.load[1] == 1.25 && m.load[2] == 2);
	assert_int_equal(machine_oom_kills(root), 2);
	assert_false(m.pressure.known);
	root_put("/proc/pressure/memory", "some avg10=1.50 avg60=0.00 avg300=0.00 total=7\n"
					  "full avg10=0.25 avg60=0.00 avg300=0.00 total=5\n");
	assert_int_equal(machine_read(root, &m), 0);
	assert_true(m.pressure.known && m.pressure.some_percent == 1.5);
	assert_true(m.pressure.full_percent == 0.25);
	assert_int_equal(m.pressure.some_ns, 7000);
	assert_int_equal(m.pressure.full_ns, 5000);
	assert_string_equal(machine_counter_key(MACHINE_OOM_KILLS), "oom_kills");
	assert_string_equal(machine_counter_name(MACHINE_STALLS), "direct reclaims");
}

static void test_control_groups(void **state)
{
	char path[256];
	uint64_t outer, inner, same;
	struct memcg g;
	struct err e = { 0 };

	(void)state;
	root_put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	root_put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096\n");
	root_put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1024\n");
	root_put("/sys/fs/cgroup/memory/a/b/memory.stat", "");
	root_put("/sys/fs/cgroup/memory/a/memory.stat", "");
	root_put("/sys/fs/cgroup/two/memory.stat", "");
	root_put("/sys/fs/cgroup/cpu/three/cgroup.procs", "");
	root_put("/sys/fs/cgroup/two/memory.max", "max\n");
	root_put("/sys/fs/cgroup/two/memory.current", "77\n");
	assert_int_equal(memcg_id(root, "a", &outer, &e), 0);
	assert_int_equal(memcg_id(root, "/a/b", &inner, &e), 0);
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup/memory/a", root);
	assert_int_equal(memcg_id("/nowhere", path, &same, &e), 0);
	assert_int_equal(same, outer);
	assert_int_equal(memcg_find(root, outer, &g), 0);
	assert_string_equal(g.path, "/a");
	assert_int_equal(g.limit_bytes, 4096);
	assert_int_equal(g.usage_bytes, 1024);
	assert_int_equal(memcg_find(root, inner, &g), 0);
	assert_string_equal(g.path, "/a/b");
	assert_true(g.limit_bytes == MEMCG_NO_LIMIT);
	assert_int_equal(g.usage_bytes, 0);
	assert_int_equal(memcg_id(root, "two", &outer, &e), 0);
	assert_int_equal(memcg_find(root, outer, &g), 0);
	assert_string_equal(g.path, "/two");
	assert_true(g.limit_bytes == MEMCG_NO_LIMIT);
	assert_int_equal(g.usage_bytes, 77);
	assert_int_equal(memcg_find(root, 1, &g), -ENOENT);
	assert_int_equal(memcg_id(root, "c", &outer, &e), -ENOENT);
	assert_string_equal(e.text, "there is no control group 'c'");
	assert_int_equal(memcg_id(root, "", &outer, &e), -ENOENT);
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup/cpu/three", root);
	assert_int_equal(memcg_id(root, path, &outer, &e), -EINVAL);
	assert_non_null(strstr(e.text, "is not a control group of the memory controller"));
}

static void test_moments(void **state)
{
	struct trace_moments m = { 0 };
	uint64_t first;

	(void)state;
	trace_moments_add(&m);
	first = m.v[0].time_ns;
	for (unsigned i = 1; i < TRACE_OOM_SECONDS; i++)
		trace_moments_add(&m);
	assert_int_equal(m.nr, TRACE_OOM_SECONDS);
	assert_int_equal(m.v[0].time_ns, first);
	trace_moments_add(&m);
	assert_int_equal(m.nr, TRACE_OOM_SECONDS);
	assert_true(m.v[0].time_ns > first);
	for (unsigned i = 1; i < m.nr; i++)
		assert_true(m.v[i].time_ns > m.v[i - 1].time_ns);
	assert_true(m.v[0].total_bytes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_machine, root_begin, root_end),
		cmocka_unit_test_setup_teardown(test_control_groups, root_begin, root_end),
		cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
