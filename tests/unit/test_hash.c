/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/hash.c. */
#include "src/base/hash.h"

#include "tests/unit/unit.h"

static void numbers(void **state)
{
	struct hash_map m = { 0 };
	uint64_t i;

	(void)state;
	assert_null(hash_find(&m, 0));
	for (i = 0; i < 10000; i++)
		assert_int_equal(hash_put(&m, i << 32, (uint32_t)i), 0);
	assert_int_equal(m.nr, 10000);
	assert_true(m.room * 3 / 4 >= m.nr);
	for (i = 0; i < 10000; i++) {
		uint32_t *v = hash_find(&m, i << 32);

		assert_non_null(v);
		assert_int_equal(*v, i);
		assert_null(hash_find(&m, (i << 32) + 1));
	}
	assert_int_equal(hash_put(&m, 0, 5), 0);
	assert_int_equal(*hash_find(&m, 0), 5);
	assert_int_equal(m.nr, 10000);
	hash_fini(&m);
	assert_null(hash_find(&m, 0));
}

static void add_keeps_what_is_there(void **state)
{
	struct hash_map m = { 0 };
	bool added = false;

	(void)state;
	assert_int_equal(*hash_add(&m, UINT64_MAX, 1, &added), 1);
	assert_true(added);
	assert_int_equal(*hash_add(&m, UINT64_MAX, 2, &added), 1);
	assert_false(added);
	assert_int_equal(*hash_add(&m, UINT64_MAX - 1, 3, NULL), 3);
	assert_int_equal(m.nr, 2);
	hash_fini(&m);
}

static void strings(void **state)
{
	struct intern t = { 0 };
	char text[16];
	int64_t i;

	(void)state;
	assert_string_equal(intern_text(&t, 0), "");
	assert_int_equal(intern_add(&t, ""), 0);
	assert_int_equal(intern_add(&t, "main"), 1);
	assert_int_equal(intern_addn(&t, "mainly", 4), 1);
	assert_int_equal(intern_addn(&t, "mainly", 6), 2);
	assert_int_equal(intern_addn(&t, "ma\0in", 5), 3);
	assert_string_equal(intern_text(&t, 3), "ma");
	for (i = 4; i < 1000; i++) {
		snprintf(text, sizeof(text), "%d", (int)i);
		assert_int_equal(intern_add(&t, text), i);
	}
	for (i = 4; i < 1000; i++) {
		snprintf(text, sizeof(text), "%d", (int)i);
		assert_int_equal(intern_add(&t, text), i);
		assert_string_equal(intern_text(&t, (uint32_t)i), text);
	}
	assert_int_equal(t.nr, 1000);
	assert_string_equal(intern_text(&t, 1000), "");
	intern_fini(&t);
	assert_int_equal(t.nr, 0);
}

static void every_byte_counts(void **state)
{
	char text[24] = "";
	uint64_t plain;
	size_t n, i;

	(void)state;
	for (n = 0; n < sizeof(text); n++) {
		plain = hash_bytes(text, n);
		assert_true(n + 1 > sizeof(text) || plain != hash_bytes(text, n + 1));
		for (i = 0; i < n; i++) {
			text[i] = 1;
			assert_true(hash_bytes(text, n) != plain);
			text[i] = 0;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(add_keeps_what_is_there),
		cmocka_unit_test(strings),
		cmocka_unit_test(every_byte_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
