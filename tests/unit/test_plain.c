/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain text: how it is cut, how cells look.
 */
#include "tests/unit/unit.h"

#include "src/render/plain.h"

static const struct style ascii = { .width = 80 }, utf8 = { .width = 80, .utf8 = true };

static void widths_count_characters(void **state)
{
	(void)state;
	assert_int_equal(plain_width(""), 0);
	assert_int_equal(plain_width("abc"), 3);
	assert_int_equal(plain_width("größe"), 5);
}

static void cut(bool front, const char *text, unsigned width, const struct style *style,
		const char *expected)
{
	struct str s = STR_INIT;

	(front ? plain_cut_front : plain_cut)(&s, text, width, style);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void cutting_leaves_a_mark(void **state)
{
	(void)state;
	cut(false, "abcdef", 6, &ascii, "abcdef");
	cut(false, "abcdef", 5, &ascii, "abcd~");
	cut(false, "abcdef", 1, &ascii, "~");
	cut(false, "abcdef", 0, &ascii, "");
	cut(true, "abcdef", 6, &ascii, "abcdef");
	cut(true, "abcdef", 4, &ascii, "~def");
	cut(false, "größe", 4, &utf8, "grö…");
	cut(true, "größe", 3, &utf8, "…ße");
}

static void cell(enum unit unit, unsigned flags, struct cell c, const char *expected)
{
	const struct column column = { "key", "title", unit, flags };
	struct table t = { .column = &column, .nr_columns = 1, .bars_nr = 4 };
	struct str s = STR_INIT;

	plain_cell(&s, &t, 0, &c, &ascii);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void cells_look_like_their_unit(void **state)
{
	static const uint64_t bars[] = { 0, 1, 50, 100 };

	(void)state;
	cell(UNIT_TEXT, 0, (struct cell){ true, { .text = "a\001" } }, "a\\x01");
	cell(UNIT_COUNT, 0, (struct cell){ true, { .u = 1234567 } }, "1,234,567");
	cell(UNIT_NUMBER, 0, (struct cell){ true, { .u = 1234567 } }, "1234567");
	cell(UNIT_BYTES, 0, (struct cell){ true, { .u = 1536 } }, "1.50 KiB");
	cell(UNIT_PERCENT, 0, (struct cell){ true, { .f = 0.04 } }, "<0.1%");
	cell(UNIT_PERCENT, 0, (struct cell){ true, { .f = 12.34 } }, "12.3%");
	cell(UNIT_PERCENT, 0, (struct cell){ true, { .f = 99.99 } }, "99.9%");
	cell(UNIT_PERCENT, 0, (struct cell){ true, { .f = 100 } }, "100%");
	cell(UNIT_PERCENT, 0, (struct cell){ true, { .f = 0 } }, "0.0%");
	cell(UNIT_DURATION, 0, (struct cell){ true, { .u = 1500000 } }, "1.50 ms");
	cell(UNIT_ADDRESS, 0, (struct cell){ true, { .u = 0x7f00 } }, "0x7f00");
	cell(UNIT_BOOL, 0, (struct cell){ true, { .u = 1 } }, "yes");
	cell(UNIT_BARS, 0, (struct cell){ true, { .bars = bars } }, " .-#");
	cell(UNIT_COUNT, 0, (struct cell){ false, { .u = 5 } }, "");
	cell(UNIT_COUNT, COLUMN_ZERO_BLANK, (struct cell){ true, { .u = 0 } }, "-");
	cell(UNIT_COUNT, 0, (struct cell){ true, { .u = 0 } }, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_count_characters),
		cmocka_unit_test(cutting_leaves_a_mark),
		cmocka_unit_test(cells_look_like_their_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
