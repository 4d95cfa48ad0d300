/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/model/stack_cut.c: where stacks are cut so that all together have room. */
#include "src/model/stack_cut.h"
#include "tests/unit/unit.h"

static void check(const uint32_t *depth, size_t nr, uint64_t room, uint32_t frames, uint64_t stacks,
		  uint64_t left_out)
{
	struct stack_cut c;

	assert_int_equal(stack_cut_within(depth, nr, room, &c), 0);
	assert_int_equal(c.frames, frames);
	assert_int_equal(c.stacks, stacks);
	assert_int_equal(c.left_out, left_out);
}

static void what_has_room_is_whole(void **state)
{
	static const uint32_t depth[] = { 0, 100, 200, 100 };

	(void)state;
	check(NULL, 0, 0, UINT32_MAX, 0, 0);
	check(depth, 4, 400, UINT32_MAX, 0, 0);
	check(depth, 4, 1000, UINT32_MAX, 0, 0);
}

static void the_deepest_are_cut_at_one_depth(void **state)
{
	static const uint32_t depth[] = { 0, 100, 200, 100 };

	(void)state;
	check(depth, 4, 399, 199, 1, 1);
	check(depth, 4, 301, 101, 1, 99);
	check(depth, 4, 300, 100, 1, 100);
	check(depth, 4, 299, 99, 3, 103);
	check(depth, 4, 297, 99, 3, 103);
	check(depth, 4, 296, 98, 3, 106);
}

static void the_innermost_frames_stay(void **state)
{
	static const uint32_t depth[] = { 64, 65, 1000, 3 };

	(void)state;
	check(depth, 4, 10, STACK_WHOLE, 2, 1 + 936);
	check(depth, 1, 0, UINT32_MAX, 0, 0);
}

/* Against the definition: the largest depth at which all fit. */
static void as_defined(void **state)
{
	uint32_t depth[40], seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		uint64_t room = round * 40, sum = 0;
		uint32_t frames = STACK_WHOLE;
		struct stack_cut c;

		for (unsigned i = 0; i < 40; i++) {
			seed = seed * 1664525 + 1013904223;
			depth[i] = seed >> 24;
			sum += depth[i];
		}
		assert_int_equal(stack_cut_within(depth, 40, room, &c), 0);
		for (uint32_t at = STACK_WHOLE; at < 256; at++) {
			uint64_t kept = 0;

			for (unsigned i = 0; i < 40; i++)
				kept += depth[i] < at ? depth[i] : at;
			if (kept <= room)
				frames = at;
		}
		assert_int_equal(c.frames, sum <= room ? UINT32_MAX : frames);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_room_is_whole),
		cmocka_unit_test(the_deepest_are_cut_at_one_depth),
		cmocka_unit_test(the_innermost_frames_stay),
		cmocka_unit_test(as_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
