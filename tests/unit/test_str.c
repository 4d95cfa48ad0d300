/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/str.c. */
#include "src/base/str.h"

#include "tests/unit/unit.h"

static void builds(void **state)
{
	struct str s = STR_INIT;
	char *text;

	(void)state;
	assert_string_equal(str_text(&s), "");
	str_add(&s, "live");
	str_addc(&s, ' ');
	str_addf(&s, "%d of %s", 12, "34");
	str_pad(&s, '.', 3);
	str_addn(&s, "xyz", 1);
	str_addn(&s, "", 0);
	assert_string_equal(str_text(&s), "live 12 of 34...x");
	assert_int_equal(s.len, 17);
	assert_int_equal(str_error(&s), 0);
	text = str_steal(&s);
	assert_string_equal(text, "live 12 of 34...x");
	free(text);
	assert_string_equal(str_text(&s), "");
	text = str_steal(&s);
	assert_string_equal(text, "");
	free(text);
}

static void grows(void **state)
{
	struct str s = STR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 10000; i++)
		str_addf(&s, "%zu,", i % 10);
	assert_int_equal(s.len, 20000);
	assert_int_equal(strlen(str_text(&s)), 20000);
	assert_memory_equal(s.s + 19996, "8,9,", 5);
	str_clear(&s);
	assert_string_equal(str_text(&s), "");
	str_add(&s, "again");
	assert_string_equal(str_text(&s), "again");
	str_fini(&s);
	assert_null(s.s);
}

static void trouble_is_sticky(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	str_add(&s, "a");
	str_pad(&s, 'x', SIZE_MAX - 1);
	assert_int_equal(str_error(&s), -ENOMEM);
	str_add(&s, "b");
	assert_string_equal(str_text(&s), "a");
	assert_null(str_steal(&s));
	assert_int_equal(str_error(&s), 0);
	str_pad(&s, 'x', SIZE_MAX - 1);
	str_clear(&s);
	assert_int_equal(str_error(&s), 0);
	str_fini(&s);
}

static void beginnings_and_ends(void **state)
{
	(void)state;
	assert_true(str_starts("/memfd:pmm", "/memfd:"));
	assert_string_equal(str_basename("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(str_basename("libc.so.6"), "libc.so.6");
	assert_string_equal(str_basename("/usr/"), "");
	assert_true(str_starts("a", ""));
	assert_false(str_starts("/mem", "/memfd:"));
	assert_true(str_ends("a.pmm", ".pmm"));
	assert_true(str_ends("a", ""));
	assert_true(str_ends(".pmm", ".pmm"));
	assert_true(str_starts("/memfd:", "/memfd:"));
	assert_false(str_ends("pmm", ".pmm"));
	assert_false(str_ends("a.pmm ", ".pmm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds),
		cmocka_unit_test(grows),
		cmocka_unit_test(trouble_is_sticky),
		cmocka_unit_test(beginnings_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
