/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/wrap.c: where lines are broken. */
#include "tests/unit/unit.h"

#include "src/base/wrap.h"

static void wraps(const char *text, unsigned width, const char *before, unsigned used,
		  const char *expected)
{
	struct str s = STR_INIT;

	wrap_add(&s, text, width, before, used);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void lines_end_at_spaces(void **state)
{
	(void)state;
	wraps("", 10, "", 0, "");
	wraps("one two three", 13, "", 0, "one two three");
	wraps("one two three", 12, "", 0, "one two\nthree");
	wraps("one two three", 7, "", 0, "one two\nthree");
	wraps("one two three", 6, "", 0, "one\ntwo\nthree");
	wraps("one two three", 9, "  ", 0, "one two\n  three");
	wraps("one two three", 9, "  ", 4, "one\n  two\n  three");
	wraps("one two three", 9, "  ", 9, "one\n  two\n  three");
	wraps("größe größe", 5, "", 0, "größe\ngröße");
}

static void words_stay_whole(void **state)
{
	(void)state;
	wraps("abcdefghij k", 4, "", 0, "abcdefghij\nk");
	wraps("k abcdefghij", 4, "", 0, "k\nabcdefghij");
	wraps("  abcdefghij", 4, "", 0, "  abcdefghij");
}

static void numbers_stay_with_their_units(void **state)
{
	(void)state;
	wraps("takes 12.5 MiB now", 12, "", 0, "takes\n12.5 MiB now");
	wraps("takes 12.5 ms", 11, "", 0, "takes\n12.5 ms");
	wraps("takes 12 bytes", 9, "", 0, "takes 12\nbytes");
}

static void further_lines_hang(void **state)
{
	(void)state;
	assert_int_equal(wrap_hang("peak         13.9 MiB after 20 ms"), 13);
	assert_int_equal(wrap_hang("live at end  13.9 MiB"), 13);
	assert_int_equal(wrap_hang("             13.9 MiB live heap"), 13);
	assert_int_equal(wrap_hang("attached to 'server' (12): allocator glibc  twice"), 0);
	assert_int_equal(wrap_hang("hint: pmm report FILE"), 0);
	assert_int_equal(wrap_hang("  2.00 s  #1 49 blocks"), 10);
	assert_int_equal(wrap_hang(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_at_spaces),
		cmocka_unit_test(words_stay_whole),
		cmocka_unit_test(numbers_stay_with_their_units),
		cmocka_unit_test(further_lines_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
