/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/vec.c. */
#include "src/base/vec.h"

#include "tests/unit/unit.h"

static void grows_and_keeps(void **state)
{
	VEC(uint32_t) v = { 0 };
	uint64_t sum = 0;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_int_equal(vec_push(&v, i * 3), 0);
	assert_int_equal(v.nr, 1000);
	assert_true(v.room >= 1000 && v.room < 2000);
	vec_each(&v, p)
		sum += *p;
	assert_int_equal(sum, 3 * 999 * 1000 / 2);
	assert_int_equal(*vec_last(&v), 2997);
	vec_fini(&v);
	assert_null(v.v);
	assert_int_equal(v.nr, 0);
	assert_int_equal(vec_push(&v, 1), 0);
	vec_fini(&v);
}

static void resize_zeroes_what_is_new(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	assert_int_equal(vec_push(&v, 7), 0);
	assert_int_equal(vec_resize(&v, 5), 0);
	assert_int_equal(v.nr, 5);
	assert_int_equal(v.v[0], 7);
	assert_int_equal(v.v[1] | v.v[2] | v.v[3] | v.v[4], 0);
	v.v[4] = 9;
	assert_int_equal(vec_resize(&v, 1), 0);
	assert_int_equal(vec_resize(&v, 5), 0);
	assert_int_equal(v.v[4], 0);
	vec_fini(&v);
}

struct pair {
	int a, b;
};

static int by_b(const void *x, const void *y)
{
	return ((const struct pair *)x)->b - ((const struct pair *)y)->b;
}

static void structs_and_sorting(void **state)
{
	VEC(struct pair) v = { 0 };

	(void)state;
	vec_sort(&v, by_b);
	vec_each(&v, p)
		fail_msg("empty vector has an element %d", p->a);
	assert_int_equal(vec_push(&v, (struct pair){ 1, 30 }), 0);
	assert_int_equal(vec_push(&v, (struct pair){ 2, 10 }), 0);
	assert_int_equal(vec_push(&v, (struct pair){ 3, 20 }), 0);
	vec_sort(&v, by_b);
	assert_int_equal(v.v[0].a * 100 + v.v[1].a * 10 + v.v[2].a, 231);
	vec_fini(&v);
}

static void binary_search(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	assert_int_equal(vec_while(&v, p, *p < 3), 0);
	for (int n = 0; n < 40; n++) {	/* 0 2 4 ... and sizes from 1 to 40 */
		assert_int_equal(vec_push(&v, 2 * n), 0);
		for (int i = -1; i <= 2 * n + 1; i++) {
			assert_int_equal(vec_while(&v, p, *p < i), (i + 1) / 2);
			/* of all but the last */
			assert_int_equal(array_while(v.v, n, p, *p < i),
					 i > 2 * n ? n : (i + 1) / 2);
		}
	}
	vec_fini(&v);
}

static void refuses_what_overflows(void **state)
{
	VEC(uint64_t) v = { 0 };

	(void)state;
	assert_int_equal(vec_push(&v, 5), 0);
	assert_int_equal(vec_reserve(&v, SIZE_MAX / 4), -ENOMEM);
	assert_int_equal(v.v[0], 5);
	assert_int_equal(v.nr, 1);
	assert_int_equal(vec_push(&v, 6), 0);
	vec_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_keeps),
		cmocka_unit_test(resize_zeroes_what_is_new),
		cmocka_unit_test(structs_and_sorting),
		cmocka_unit_test(binary_search),
		cmocka_unit_test(refuses_what_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
