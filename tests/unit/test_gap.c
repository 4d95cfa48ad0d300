/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/inject/gap.c: where there is room near code, and where there is not. */
#include "tests/unit/unit.h"

#include "src/inject/gap.h"

#define PAGE 4096ull
#define GIB (1ull << 30)

static uint64_t gap(struct proc_map *v, size_t nr, uint64_t low, uint64_t high, uint64_t bytes)
{
	struct proc_maps maps = { v, nr };

	return gap_near(&maps, low, high, bytes);
}

static struct proc_map map(uint64_t start, uint64_t end, char *path)
{
	return (struct proc_map){ .start = start, .end = end, .path = path };
}

static void just_below_the_module(void **state)
{
	struct proc_map v[] = {
		map(0x7f0000000000, 0x7f0000100000, ""),
		map(0x7f0000200000, 0x7f0000400000, "/lib/libc.so.6"),
		map(0x7f0000400000, 0x7f0000500000, ""),
	};

	(void)state;
	/* a page of distance to its neighbour, so that the kernel does not join them */
	assert_int_equal(gap(v, 3, 0x7f0000200000, 0x7f0000400000, PAGE), 0x7f00001fe000);
	assert_int_equal(gap(v, 3, 0x7f0000200000, 0x7f0000400000, 16 * PAGE), 0x7f00001ef000);
}

static void above_when_there_is_no_room_below(void **state)
{
	struct proc_map v[] = {
		map(0x10000, 0x400000, ""),
		map(0x400000, 0x500000, "/bin/static"),
		map(0x500000, 0x501000, ""),
	};

	(void)state;
	assert_int_equal(gap(v, 3, 0x400000, 0x500000, PAGE), 0x502000);
}

static void heap_and_stack_keep_room_to_grow(void **state)
{
	struct proc_map v[] = {
		map(0x10000, 0x400000, ""),
		map(0x400000, 0x500000, "/bin/static"),
		map(0x600000, 0x700000, "[heap]"),
		map(0x700000 + 2 * GIB, 0x900000 + 2 * GIB, "[stack]"),
	};

	(void)state;
	assert_int_equal(gap(v, 4, 0x400000, 0x500000, PAGE), 0x501000);
	assert_int_equal(gap(v, 4, 0x400000, 0x500000, 0x100000), 0x700000 + GIB);
}

static void out_of_reach_is_nowhere(void **state)
{
	struct proc_map v[] = {
		map(0x10000, 3 * GIB, ""),
		map(3 * GIB, 3 * GIB + PAGE, "/bin/static"),
		map(3 * GIB + PAGE, 6 * GIB, ""),
	};

	(void)state;
	assert_int_equal(gap(v, 3, 3 * GIB, 3 * GIB + PAGE, PAGE), 0);
}

static void all_of_the_module_is_within_reach(void **state)
{
	uint64_t low = 0x7f0000000000, high = low + GIB, at;
	struct proc_map v[] = {
		map(low - 3 * GIB, low - GIB - (GIB >> 1), ""),
		map(low - GIB, high, "/lib/large.so"),
	};

	(void)state;
	at = gap(v, 2, low, high, PAGE);
	assert_true(at > low - GIB - (GIB >> 1) || at >= high);
	assert_true(at + PAGE < low + GAP_REACH && at + GAP_REACH > high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(just_below_the_module),
		cmocka_unit_test(above_when_there_is_no_room_below),
		cmocka_unit_test(heap_and_stack_keep_room_to_grow),
		cmocka_unit_test(out_of_reach_is_nowhere),
		cmocka_unit_test(all_of_the_module_is_within_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
