/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/err.c. */
#include "tests/unit/unit.h"

#include "src/base/err.h"

static void set_returns_code_and_formats(void **state)
{
	struct err e = { .hint = "old", .exit_code = 2 };

	(void)state;
	assert_int_equal(err_set(&e, -ENOENT, "no such file '%s'", "a"), -ENOENT);
	assert_string_equal(e.text, "no such file 'a'");
	assert_string_equal(e.hint, "");
	assert_int_equal(e.exit_code, 2);
	err_hint(&e, "try %d", 3);
	assert_string_equal(e.hint, "try 3");
	assert_string_equal(e.text, "no such file 'a'");
}

static void missing_descriptors_have_a_remedy(void **state)
{
	struct err e = { .text = "" };

	(void)state;
	assert_int_equal(err_no_file(&e, -EMFILE, "cannot make a pipe"), -EMFILE);
	assert_string_equal(e.text, "cannot make a pipe: Too many open files");
	assert_string_equal(e.hint, "raise the limit on open files (ulimit -n)");
	assert_int_equal(err_no_file(&e, -EACCES, "cannot open it"), -EACCES);
	assert_string_equal(e.text, "cannot open it: Permission denied");
	assert_string_equal(e.hint, "");
}

static void nobody_asks(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
	err_hint(NULL, "x");
}

static void long_text_is_cut(void **state)
{
	struct err e = { .text = "" };

	(void)state;
	err_set(&e, -EIO, "%01000d", 7);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	err_hint(&e, "%01000d", 7);
	assert_int_equal(strlen(e.hint), sizeof(e.hint) - 1);
}

/* Names go into messages as they are, and must neither drive a terminal nor make a second line. */
static void names_are_made_harmless(void **state)
{
	struct err e = { .text = "" };

	(void)state;
	err_set(&e, -EIO, "cannot open '%s'", "\033]0;x\a\npmm: all is well\xff");
	assert_string_equal(e.text, "cannot open '\\x1b]0;x\\x07\\x0apmm: all is well\\xff'");
	err_hint(&e, "'%s' is \u202ea\u00f6", "\xc2\x9b");
	assert_string_equal(e.hint, "'\\xc2\\x9b' is \\xe2\\x80\\xaea\u00f6");
	err_set(&e, -EIO, "%s", e.text);
	assert_string_equal(e.text, "cannot open '\\x1b]0;x\\x07\\x0apmm: all is well\\xff'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_returns_code_and_formats),
		cmocka_unit_test(missing_descriptors_have_a_remedy),
		cmocka_unit_test(nobody_asks),
		cmocka_unit_test(long_text_is_cut),
		cmocka_unit_test(names_are_made_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
