/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/where.h: where guarded blocks lie, over all sizes, alignments and biases; whose an
 * access is, over all distances.
 */
#include "tests/unit/unit.h"

#include "agent/check/where.h"

#define PAGE 4096ull
#define BASE 0x7f1234560000ull

static uint64_t pages_of(size_t size)
{
	return (size ? (size + PAGE - 1) / PAGE : 1) * PAGE;
}

/* What must hold of every block wherever it lies. */
static uint64_t placed(size_t size, size_t asked, uint32_t flags, enum pmm_guard_bias bias)
{
	size_t align = where_align(size, asked, flags);
	uint64_t bytes = pages_of(size), at = where_block(BASE, bytes, size, align, bias);

	assert_true(at >= BASE && at + size <= BASE + bytes);
	assert_true(align >= asked && !(align & (align - 1)) && at % align == 0);
	return at;
}

static void every_size(void **state)
{
	(void)state;
	for (size_t size = 0; size <= 5000; size++)
		for (size_t asked = 0; asked <= PAGE; asked = asked ? asked * 2 : 1) {
			size_t least = asked > 16 ? asked : 16;
			uint64_t end = BASE + pages_of(size),
				 at = placed(size, asked, 0, PMM_GUARD_RIGHT);

			assert_true(at % 16 == 0 && end - at - size < least);
			assert_int_equal(placed(size, asked, PMM_CHECK_RIGHT, PMM_GUARD_RIGHT), at);
			assert_int_equal(placed(size, asked, 0, PMM_GUARD_LEFT), BASE);
			assert_int_equal(placed(size, asked, PMM_CHECK_LEFT, PMM_GUARD_LEFT), BASE);
		}
}

/* Exactly at the end, unless an alignment was asked for that the size is no multiple of. */
static void every_exact_size(void **state)
{
	(void)state;
	for (size_t size = 1; size <= 5000; size++)
		for (size_t asked = 0; asked <= PAGE; asked = asked ? asked * 2 : 1) {
			uint64_t end = BASE + pages_of(size),
				 at = placed(size, asked, PMM_CHECK_EXACT, PMM_GUARD_RIGHT);

			assert_true(end - at - size < (asked ? asked : 1));
			if (!asked || size % asked == 0)
				assert_int_equal(at + size, end);
			/* an array of such objects that fills it is aligned */
			for (size_t object = 1; object <= 16; object *= 2)
				if (size % object == 0)
					assert_int_equal(at % object, 0);
		}
	assert_int_equal(placed(0, 0, PMM_CHECK_EXACT, PMM_GUARD_RIGHT), BASE + PAGE);
}

/*
 * Of eight blocks in a row one at the left, the first of a call site at the right; call sites
 * differ.
 */
static void one_of_eight(void **state)
{
	unsigned places[WHERE_TURN] = { 0 };

	(void)state;
	for (uint32_t site = 0; site < 2000; site++) {
		assert_int_equal(where_bias(site, 0, 0), PMM_GUARD_RIGHT);
		for (uint64_t turn = 0; turn < 50; turn++) {
			unsigned left = 0;

			for (unsigned i = 0; i < WHERE_TURN; i++)
				if (where_bias(site, turn * WHERE_TURN + i, 0) == PMM_GUARD_LEFT) {
					left++;
					places[i] += turn > 0;
				}
			assert_int_equal(left, 1);
		}
	}
	for (unsigned i = 0; i < WHERE_TURN; i++)	/* 98,000 turns */
		assert_in_range(places[i], 98000 / WHERE_TURN * 9 / 10,
				98000 / WHERE_TURN * 11 / 10);
}

static void said_by_the_user(void **state)
{
	(void)state;
	for (uint64_t nth = 0; nth < 1000; nth++) {
		assert_int_equal(where_bias(7, nth, PMM_CHECK_LEFT), PMM_GUARD_LEFT);
		assert_int_equal(where_bias(7, nth, PMM_CHECK_RIGHT), PMM_GUARD_RIGHT);
		assert_int_equal(where_bias(7, nth, PMM_CHECK_EXACT), PMM_GUARD_RIGHT);
	}
}

/*
 * The former's last byte is so far from the access as the latter's first one, or nearer, or
 * further.
 */
static void every_distance(void **state)
{
	(void)state;
	for (uint64_t gap = 1; gap <= 600; gap++)
		for (uint64_t before = 0; before < gap; before++) {
			uint64_t at = BASE + before, next = BASE + gap, to_last = before + 1,
				 to_first = gap - before;

			assert_int_equal(where_is_next(BASE, next, at, 0),
					 before && to_first < to_last);
			/* up to it */
			assert_int_equal(where_is_next(BASE, next, at, to_first),
					 before && to_first < to_last);
			/* into it */
			assert_int_equal(where_is_next(BASE, next, at, to_first + 1), before > 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),	  cmocka_unit_test(every_exact_size),
		cmocka_unit_test(one_of_eight),	  cmocka_unit_test(said_by_the_user),
		cmocka_unit_test(every_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
