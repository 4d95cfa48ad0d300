/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit test of overlapping address ranges: the narrowest one around an address. */
#include "src/symbol/ranges.h"

#include "tests/unit/unit.h"

static struct ranges ranges;

static void expect(uint64_t address, int value)
{
	const struct range *r = ranges_find(&ranges, address);

	if (value < 0) {
		assert_null(r);
		return;
	}
	assert_non_null(r);
	assert_int_equal(r->value, value);
}

static void test_empty(void **state)
{
	(void)state;
	expect(0, -1);
	ranges_sort(&ranges);
	expect(0, -1);
	ranges_fini(&ranges);
}

static void test_narrowest(void **state)
{
	(void)state;
	ranges_add(&ranges, 500, 500, 9);	/* empty */
	ranges_add(&ranges, 600, 500, 9);	/* backwards */
	ranges_add(&ranges, 300, 310, 3);
	ranges_add(&ranges, 100, 1000, 1);
	ranges_add(&ranges, 200, 400, 2);
	ranges_add(&ranges, 300, 305, 4);
	ranges_add(&ranges, 2000, 2010, 5);
	ranges_sort(&ranges);
	assert_int_equal(ranges.list.nr, 5);
	expect(99, -1);
	expect(100, 1);
	expect(200, 2);
	expect(300, 4);
	expect(305, 3);
	expect(310, 2);
	expect(400, 1);
	expect(500, 1);
	expect(999, 1);
	expect(1000, -1);
	expect(2009, 5);
	expect(2010, -1);
	expect(UINT64_MAX, -1);
	ranges_fini(&ranges);
}

/* A wide range that begins before many small ones is found behind them. */
static void test_wide_before_many(void **state)
{
	(void)state;
	ranges_add(&ranges, 0, 100000, 7);
	for (uint64_t i = 0; i < 2000; i++)
		ranges_add(&ranges, 10 * i, 10 * i + 5, 100 + i);
	ranges_sort(&ranges);
	expect(13, 101);
	expect(17, 7);
	expect(19990, 2099);
	expect(50000, 7);
	ranges_fini(&ranges);
}

/* Identical code folded into one: always the same answer. */
static void test_equals(void **state)
{
	(void)state;
	ranges_add(&ranges, 10, 20, 3);
	ranges_add(&ranges, 10, 20, 1);
	ranges_add(&ranges, 10, 20, 2);
	ranges_sort(&ranges);
	expect(15, 1);
	ranges_fini(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_narrowest),
		cmocka_unit_test(test_wide_before_many),
		cmocka_unit_test(test_equals),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
