/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/arena.c. */
#include "src/base/arena.h"

#include "tests/unit/unit.h"

static void objects_are_apart_zeroed_and_aligned(void **state)
{
	struct arena a = { 0 };
	unsigned char *p[2000];
	size_t i, k;

	(void)state;
	for (i = 0; i < NR(p); i++) {
		size_t bytes = i % 97 + (i % 500 == 0 ? 100000 : 0);

		p[i] = arena_alloc(&a, bytes);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (k = 0; k < bytes; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)(i % 255 + 1), bytes);
	}
	for (i = 0; i < NR(p); i++)
		for (k = 0; k < i % 97; k++)
			assert_int_equal(p[i][k], i % 255 + 1);
	arena_fini(&a);
	assert_null(a.chunks);
	assert_non_null(arena_alloc(&a, 1));
	arena_fini(&a);
}

static void strings(void **state)
{
	struct arena a = { 0 };

	(void)state;
	assert_string_equal(arena_strdup(&a, "libc.so.6"), "libc.so.6");
	assert_string_equal(arena_strdup(&a, ""), "");
	assert_string_equal(arena_strndup(&a, "libc.so.6", 4), "libc");
	assert_string_equal(arena_strndup(&a, "ab", 40), "ab");
	arena_fini(&a);
}

static void refuses_what_overflows(void **state)
{
	struct arena a = { 0 };

	(void)state;
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX - 15));
	assert_non_null(arena_alloc(&a, 16));
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_apart_zeroed_and_aligned),
		cmocka_unit_test(strings),
		cmocka_unit_test(refuses_what_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
