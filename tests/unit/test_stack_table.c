/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/stack_table.c: stacks have one number each, nothing that differs is taken for equal,
 * and what does not fit is counted.
 */
#include "tests/unit/unit.h"

#include "src/kernel/stack_table.h"

static void frames_in_64_bits(void **state)
{
	(void)state;
	assert_int_equal(stack_frame(3, 0x1234), 0x0003000000001234ull);
	assert_int_equal(stack_frame_module(stack_frame(0xfffe, 0x7fffffffffff)), 0xfffe);
	assert_int_equal(stack_frame_address(stack_frame(0xfffe, 0x7fffffffffff)), 0x7fffffffffff);
	assert_int_equal(stack_frame_address(stack_frame(STACK_KERNEL, 0xffffffff81000123ull)),
			 0xffffffff81000123ull);
	assert_int_equal(stack_frame_address(stack_frame(STACK_KERNEL, 0xffff888100000000ull)),
			 0xffff888100000000ull);
}

static void expect(const struct stack_table *t, uint32_t number, const uint64_t *frames,
		   unsigned nr, unsigned end)
{
	unsigned got_nr, got_end;
	const uint64_t *got = stack_table_find(t, number, &got_nr, &got_end);

	assert_int_equal(got_nr, nr);
	assert_int_equal(got_end, end);
	if (nr)
		assert_memory_equal(got, frames, nr * sizeof(*frames));
}

static void equal_stacks_have_one_number(void **state)
{
	const uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 };
	struct stack_table t;

	(void)state;
	stack_table_init(&t, 0);
	expect(&t, 0, NULL, 0, 0);
	expect(&t, 1, NULL, 0, 0);
	assert_int_equal(stack_table_add(&t, a, 3, 0), 1);
	assert_int_equal(stack_table_add(&t, b, 3, 0), 2);
	assert_int_equal(stack_table_add(&t, a, 3, 0), 1);
	assert_int_equal(stack_table_add(&t, a, 2, 0), 3);	/* the end of another */
	assert_int_equal(stack_table_add(&t, a, 3, 1), 4);	/* ends for another reason */
	assert_int_equal(stack_table_add(&t, NULL, 0, 5), 5);
	assert_int_equal(stack_table_add(&t, NULL, 0, 5), 5);
	assert_int_equal(stack_table_add(&t, b, 2, 0), 3);
	expect(&t, 1, a, 3, 0);
	expect(&t, 2, b, 3, 0);
	expect(&t, 3, a, 2, 0);
	expect(&t, 4, a, 3, 1);
	expect(&t, 5, NULL, 0, 5);
	expect(&t, 6, NULL, 0, 0);
	assert_int_equal(t.dropped, 0);
	stack_table_fini(&t);
}

/* Equal hashes: number 1's is forged to be that of another stack. */
static void a_hash_is_not_believed(void **state)
{
	const uint64_t a[] = { 7 }, b[] = { 8 };
	struct stack_table t;

	(void)state;
	stack_table_init(&t, 0);
	assert_int_equal(stack_table_add(&t, b, 1, 0), 1);
	t.frames.v[0] = a[0];			/* the entry has b's hash and a's frames */
	assert_int_equal(stack_table_add(&t, b, 1, 0), 2);
	expect(&t, 1, a, 1, 0);
	expect(&t, 2, b, 1, 0);
	stack_table_fini(&t);
}

static void many_are_found_again(void **state)
{
	struct stack_table t;
	uint64_t f[3];

	(void)state;
	stack_table_init(&t, 64 << 20);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= 100000; i++) {
			f[0] = i;
			f[1] = i * 3;
			f[2] = 5;
			assert_int_equal(stack_table_add(&t, f, 3, i % 3), i);
		}
	f[0] = 77777;
	f[1] = 77777 * 3;
	expect(&t, 77777, f, 3, 77777 % 3);
	stack_table_fini(&t);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct stack_table t;
	uint64_t f[100] = { 0 };
	uint32_t number, last = 0;

	(void)state;
	stack_table_init(&t, 16384);
	for (f[0] = 1; f[0] <= 30; f[0]++) {
		number = stack_table_add(&t, f, 100, 0);
		if (number)
			last = number;
	}
	/* 4096 bytes of slots; 816 for each stack, 16 for number 0: 15 fit into 12 288 */
	assert_int_equal(last, 15);
	assert_int_equal(t.dropped, 30 - 15);
	f[0] = 9;
	assert_int_equal(stack_table_add(&t, f, 100, 0), 9);	/* known ones still are */
	assert_int_equal(t.dropped, 30 - 15);
	stack_table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_64_bits),
		cmocka_unit_test(equal_stacks_have_one_number),
		cmocka_unit_test(a_hash_is_not_believed),
		cmocka_unit_test(many_are_found_again),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
