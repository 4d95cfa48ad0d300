/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel events of one process summed up, and made part of its heap. Also of
 * src/analyze/trace/kernel_join.c.
 */
#include "tests/unit/unit.h"

#include "src/analyze/trace/kernel_join.h"
#include "src/kernel/fault_area.h"
#include "src/kernel/user_stack.h"

#define MS	1000000ull

static const struct kernel_about nothing = { HEAP_KERNEL_OF_NOTHING, HEAP_NO_SITE };

static struct trace_record fault(uint64_t bits, enum fault_area area, uint64_t weight)
{
	return (struct trace_record){ .kind = TRACE_FAULT, .weight = weight,
				      .a = { 0x1000, 0,
					     bits | (uint64_t)area << TRACE_FAULT_AREA_SHIFT } };
}

static struct trace_record mapped(uint64_t bytes, uint64_t result)
{
	return (struct trace_record){ .kind = TRACE_MMAP, .weight = 1,
				      .a = { 0, bytes, 0, 0, 0, result } };
}

/* ---- sums ---- */

static void same_things_are_one_row(void **state)
{
	struct trace_record read = fault(TRACE_FAULT_USER, FAULT_HEAP, 1),
			    write = fault(TRACE_FAULT_WRITE, FAULT_HEAP, 5),
			    again = fault(TRACE_FAULT_WRITE | TRACE_FAULT_PRESENT, FAULT_HEAP, 1);
	struct kernel_about block = { HEAP_KERNEL_OF_BLOCK, 7 };
	struct kernel_sums s = { 0 };

	(void)state;
	kernel_sums_add(&s, &read, 3, block, 20 * MS);
	kernel_sums_add(&s, &read, 3, block, 10 * MS);
	kernel_sums_add(&s, &write, 3, block, 30 * MS);
	kernel_sums_add(&s, &again, 3, block, 30 * MS);
	kernel_sums_add(&s, &read, 4, block, 30 * MS);
	kernel_sums_add(&s, &read, 3, nothing, 30 * MS);
	block.site = 8;
	kernel_sums_add(&s, &read, 3, block, 30 * MS);
	block.of = HEAP_KERNEL_OF_MAPPING;
	kernel_sums_add(&s, &read, 3, block, 30 * MS);
	assert_int_equal(s.rows.nr, 7);
	assert_int_equal(s.rows.v[0].events, 2);
	assert_int_equal(s.rows.v[0].records, 2);
	assert_int_equal(s.rows.v[0].first_ns, 10 * MS);
	assert_int_equal(s.rows.v[0].last_ns, 20 * MS);
	assert_int_equal(s.rows.v[0].detail, FAULT_HEAP);
	assert_int_equal(s.rows.v[1].events, 5);
	assert_int_equal(s.rows.v[1].records, 1);
	assert_int_equal(s.rows.v[1].detail, FAULT_HEAP | HEAP_KERNEL_WRITE);
	assert_int_equal(s.rows.v[2].detail, FAULT_HEAP | HEAP_KERNEL_WRITE | HEAP_KERNEL_PRESENT);
	assert_int_equal(s.rows_lost, 0);
	kernel_sums_fini(&s);
}

static void bytes_times_and_failures(void **state)
{
	struct trace_record wait = { .kind = TRACE_RECLAIM_MEMCG, .weight = 1,
				     .a = { 300, 8192 } };
	struct trace_record good = mapped(4096, 0x7000), bad = mapped(1 << 20, -(uint64_t)ENOMEM);
	struct kernel_sums s = { 0 };

	(void)state;
	kernel_sums_add(&s, &good, 1, nothing, 0);
	kernel_sums_add(&s, &bad, 1, nothing, 0);
	kernel_sums_add(&s, &wait, 1, nothing, 0);
	wait.a[0] = 200;
	kernel_sums_add(&s, &wait, 1, nothing, 0);
	assert_int_equal(s.rows.nr, 2);
	assert_int_equal(s.rows.v[0].bytes, 4096);
	assert_int_equal(s.rows.v[0].failed, 1);
	assert_int_equal(s.rows.v[0].events, 2);
	assert_int_equal(s.rows.v[1].ns, 500);
	assert_int_equal(s.rows.v[1].max_ns, 300);
	assert_int_equal(s.rows.v[1].bytes, 16384);
	kernel_sums_fini(&s);
}

static void bins_are_by_time_and_kind(void **state)
{
	struct trace_record f = fault(0, FAULT_HEAP, 2), m = mapped(4096, 0x7000);
	struct kernel_sums s = { 0 };

	(void)state;
	kernel_sums_add(&s, &f, 1, nothing, 25 * MS);
	kernel_sums_add(&s, &m, 1, nothing, 5 * MS);
	kernel_sums_add(&s, &f, 1, nothing, 29 * MS);
	kernel_sums_add(&s, &f, 1, nothing, 9 * MS);
	kernel_sums_sort_bins(&s);
	assert_int_equal(s.bin_ns, 10 * MS);
	assert_int_equal(s.bins.nr, 3);
	assert_int_equal(s.bins.v[0].time_ns, 0);
	assert_int_equal(s.bins.v[0].kind, TRACE_MMAP);
	assert_int_equal(s.bins.v[0].bytes, 4096);
	assert_int_equal(s.bins.v[1].time_ns, 0);
	assert_int_equal(s.bins.v[1].kind, TRACE_FAULT);
	assert_int_equal(s.bins.v[1].events, 2);
	assert_int_equal(s.bins.v[2].time_ns, 20 * MS);
	assert_int_equal(s.bins.v[2].events, 4);
	kernel_sums_fini(&s);
}

/* A day of events each 10 ms: bins become longer, and no event goes out of them. */
static void bins_stay_few(void **state)
{
	struct trace_record f = fault(0, FAULT_HEAP, 1);
	uint64_t nr = 300000, sum = 0, last = 0;
	struct kernel_sums s = { 0 };

	(void)state;
	for (uint64_t i = 0; i < nr; i++)
		kernel_sums_add(&s, &f, 1, nothing, i * 10 * MS);
	kernel_sums_sort_bins(&s);
	assert_true(s.bins.nr <= HEAP_KERNEL_MAX_BINS);
	assert_int_equal(s.bin_ns, 160 * MS);
	vec_each(&s.bins, b) {
		assert_int_equal(b->time_ns % s.bin_ns, 0);
		assert_true(b == s.bins.v || b->time_ns > last);
		last = b->time_ns;
		sum += b->events;
	}
	assert_int_equal(sum, nr);
	assert_int_equal(s.bins_lost, 0);
	assert_int_equal(s.bins.nr, nr / 16);
	kernel_sums_fini(&s);
}

/* ---- into a heap ---- */

static uint32_t add_module(struct modules *ms, const char *path)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!ms->v.nr)
		assert_int_equal(vec_push(&ms->v, NULL), 0);
	m->fd = -1;
	m->path = strdup(path);
	assert_int_equal(vec_push(&ms->v, m), 0);
	return (uint32_t)ms->v.nr - 1;
}

/* One site of each sort, with the ledger's numbers 5 and 6, and a file at 0x10000. */
static struct heap *heap_with_sites(void)
{
	struct heap *h = heap_new();

	h->sites = realloc(h->sites, 2 * sizeof(*h->sites));
	h->sites[1] = (struct heap_site){ .number = 5 };
	h->nr_sites = 2;
	h->map_sites = realloc(h->map_sites, 2 * sizeof(*h->map_sites));
	h->map_sites[1] = (struct heap_site){ .number = 6 };
	h->nr_map_sites = 2;
	h->modules = realloc(h->modules, 2 * sizeof(*h->modules));
	h->modules[1] = (struct heap_module){ .start = 0x10000, .end = 0x20000, .bias = 0x10000,
					      .path = strdup("/usr/bin/a") };
	h->nr_modules = 2;
	h->kernel_kinds = calloc(2, sizeof(*h->kernel_kinds));
	h->kernel_kinds[0].kind = TRACE_MMAP;
	h->kernel_kinds[1].kind = TRACE_FAULT;
	h->nr_kernel_kinds = 2;
	h->kernel.traced = true;
	return h;
}

static void check(const struct heap *h)
{
	char why[128];

	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
}

static void stacks_and_sites_become_the_heaps(void **state)
{
	struct trace_record f = fault(0, FAULT_HEAP, 3);
	struct kernel_sums s = { 0 };
	struct modules modules = { 0 };
	struct stack_table stacks;
	struct heap *h = heap_with_sites();
	uint32_t a = add_module(&modules, "/usr/bin/a"), b = add_module(&modules, "/lib/b.so"),
		 agent = add_module(&modules, "/opt/lib/libpmm.so");
	const uint64_t plain[] = { stack_frame(b, 0x5000), stack_frame(a, 0x2000) },
		       hooked[] = { stack_frame(b, 0x5000), stack_frame(agent, 0x40),
				    stack_frame(a, 0x2000) },
		       cut[] = { stack_frame(0, 0x7f0000001234) };
	uint32_t number[3];

	(void)state;
	stack_table_init(&stacks, 0);
	number[0] = stack_table_add(&stacks, plain, 2, USER_STACK_COMPLETE);
	number[1] = stack_table_add(&stacks, hooked, 3, USER_STACK_COMPLETE);
	number[2] = stack_table_add(&stacks, cut, 1, USER_STACK_SHORT);
	kernel_sums_add(&s, &f, number[0], (struct kernel_about){ HEAP_KERNEL_OF_BLOCK, 5 }, 10);
	kernel_sums_add(&s, &f, number[1], (struct kernel_about){ HEAP_KERNEL_OF_BLOCK, 5 }, 4);
	kernel_sums_add(&s, &f, number[2], (struct kernel_about){ HEAP_KERNEL_OF_MAPPING, 6 }, 0);
	kernel_sums_add(&s, &f, number[0], (struct kernel_about){ HEAP_KERNEL_OF_BLOCK, 6 }, 0);
	kernel_sums_add(&s, &f, 0, nothing, 0);
	assert_int_equal(kernel_join(h, &s, &stacks, &modules), 0);
	check(h);
	assert_int_equal(s.rows.nr, 0);
	assert_int_equal(h->nr_modules, 3);
	assert_string_equal(h->modules[2].path, "/lib/b.so");
	assert_int_equal(h->modules[2].bias, 0);
	/* the root; a, b below it; the mark, the address below that */
	assert_int_equal(h->nr_nodes, 5);
	assert_int_equal(h->nr_kernel_rows, 4);
	/* in the order of what they are of: nothing, a block, a mapping, not known */
	assert_int_equal(h->kernel_rows[0].node, 0);
	assert_int_equal(h->kernel_rows[0].site, HEAP_NO_SITE);
	assert_int_equal(h->kernel_rows[1].of, HEAP_KERNEL_OF_BLOCK);
	assert_int_equal(h->kernel_rows[1].site, 1);
	assert_int_equal(h->kernel_rows[1].events, 6);
	assert_int_equal(h->kernel_rows[1].records, 2);
	assert_int_equal(h->kernel_rows[1].first_ns, 4);
	assert_int_equal(h->kernel_rows[1].last_ns, 10);
	assert_int_equal(h->nodes[h->kernel_rows[1].node].pc, 0x5000);
	assert_int_equal(h->nodes[h->nodes[h->kernel_rows[1].node].parent].pc, 0x12000);
	assert_int_equal(h->kernel_rows[2].of, HEAP_KERNEL_OF_MAPPING);
	assert_int_equal(h->kernel_rows[2].site, 1);
	assert_int_equal(h->nodes[h->kernel_rows[2].node].pc, 0x7f0000001234);
	assert_int_equal(h->nodes[h->nodes[h->kernel_rows[2].node].parent].pc, 1);
	assert_int_equal(h->kernel_rows[3].of, HEAP_KERNEL_OF_UNKNOWN);
	assert_int_equal(h->kernel_rows[3].site, HEAP_NO_SITE);
	assert_int_equal(h->kernel_kinds[0].events, 0);
	assert_int_equal(h->kernel_kinds[1].events, 15);
	heap_free(h);
	stack_table_fini(&stacks);
	modules_fini(&modules);
}

/* Two files of the same path are the same unless their build ids differ. */
static void files_by_path_and_build_id(void **state)
{
	struct trace_record f = fault(0, FAULT_HEAP, 1);
	struct kernel_sums s = { 0 };
	struct modules modules = { 0 };
	struct stack_table stacks;
	struct heap *h = heap_with_sites();
	uint32_t a = add_module(&modules, "/usr/bin/a");
	const uint64_t frame = stack_frame(a, 0x2000);

	(void)state;
	h->modules[1].build_id[0] = 1;
	h->modules[1].build_id_len = 8;
	modules_at(&modules, a)->state = MODULE_OK;
	modules_at(&modules, a)->file.build_id[0] = 2;
	modules_at(&modules, a)->file.build_id_len = 8;
	stack_table_init(&stacks, 0);
	kernel_sums_add(&s, &f, stack_table_add(&stacks, &frame, 1, USER_STACK_COMPLETE), nothing,
			0);
	assert_int_equal(kernel_join(h, &s, &stacks, &modules), 0);
	assert_int_equal(h->nr_modules, 3);
	assert_int_equal(h->modules[2].build_id[0], 2);
	assert_int_equal(h->modules[2].build_id_len, 8);
	assert_int_equal(h->nodes[1].pc, 0x2000);
	assert_int_equal(h->nodes[1].module, 2);
	heap_free(h);
	stack_table_fini(&stacks);
	modules_fini(&modules);
}

static void the_agents_files(void **state)
{
	(void)state;
	assert_true(kernel_is_agent("/usr/lib/libpmm.so"));
	assert_true(kernel_is_agent("libpmm_check.so"));
	assert_true(kernel_is_agent("/memfd:pmm-agent (deleted)"));
	assert_false(kernel_is_agent("/usr/libpmm/libc.so.6"));
	assert_false(kernel_is_agent("/memfd:other"));
	assert_false(kernel_is_agent(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_things_are_one_row),
		cmocka_unit_test(bytes_times_and_failures),
		cmocka_unit_test(bins_are_by_time_and_kind),
		cmocka_unit_test(bins_stay_few),
		cmocka_unit_test(stacks_and_sites_become_the_heaps),
		cmocka_unit_test(files_by_path_and_build_id),
		cmocka_unit_test(the_agents_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
