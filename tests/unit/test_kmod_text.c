/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_text.c: every byte escaped, every length cut, times of day, names. */
#include "tests/unit/unit.h"

#include "kmod/pmm_text.h"

static void test_all_bytes(void **state)
{
	char out[8], wanted[8], text[2] = { 0 };

	(void)state;
	for (unsigned blanks = 0; blanks < 2; blanks++)
		for (unsigned c = 1; c < 256; c++) {
			bool plain = c >= (blanks ? 0x20 : 0x21) && c <= 0x7e && c != '\\';

			text[0] = (char)c;
			snprintf(wanted, sizeof(wanted), plain ? "%c" : "\\x%02x", c);
			assert_ptr_equal(pmm_text_escape(out, sizeof(out), text, blanks), out);
			assert_string_equal(out, wanted);
		}
	assert_string_equal(pmm_text_escape(out, sizeof(out), "", true), "");
}

/* Cut to any length, it is the longest beginning of the whole that has no half of an escape. */
static void test_all_lengths(void **state)
{
	static const char text[] = "ab\ncd\\e f\xff";
	static const char whole[] = "ab\\x0acd\\x5ce\\x20f\\xff";
	static const unsigned ends[] = { 0, 1, 2, 6, 7, 8, 12, 13, 17, 18, 22 };
	char out[32];

	(void)state;
	for (unsigned bytes = 1; bytes <= sizeof(whole); bytes++) {
		unsigned n = 0;

		for (unsigned i = 0; i < NR(ends); i++)
			if (ends[i] < bytes)
				n = ends[i];
		memset(out, '#', sizeof(out));
		pmm_text_escape(out, bytes, text, false);
		assert_memory_equal(out, whole, n);
		assert_int_equal(out[n], 0);
		for (unsigned i = bytes; i < sizeof(out); i++)
			assert_int_equal(out[i], '#');
	}
}

static void test_times(void **state)
{
	static const struct {
		u64 ns;
		const char *text;
	} rows[] = {
		{ 0, "00:00:00" },
		{ 999999999, "00:00:00" },
		{ 1000000000, "00:00:01" },
		{ 59999999999, "00:00:59" },
		{ 60000000000, "00:01:00" },
		{ 3599000000000, "00:59:59" },
		{ 3600000000000, "01:00:00" },
		{ 86399999999999, "23:59:59" },
		{ 86400000000000, "00:00:00" },
		{ 1700000000123456789, "22:13:20" },	/* date -u -d @1700000000 */
		{ 1709210096000000000, "12:34:56" },	/* 29 February 2024 */
		{ 9223372036854775807, "23:47:16" },
		{ 9223372036854775808u, "23:47:16" },
		{ 18446744073709551615u, "23:34:33" },
	};
	char out[10];

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++) {
		out[9] = '#';
		assert_ptr_equal(pmm_text_time(out, rows[i].ns), out);
		assert_string_equal(out, rows[i].text);
		assert_int_equal(out[9], '#');
	}
}

static void test_names(void **state)
{
	static const char *const kinds[] = { "?",    "MALLOC",	"CALLOC", "REALLOC", "FREE",
					     "ALIGNED", "MMAP", "MUNMAP", "?",	     "?" };
	static const char *const states[] = { "?", "running", "zombie", "exited", "killed", "?" };

	(void)state;
	for (unsigned i = 0; i < NR(kinds); i++)
		assert_string_equal(pmm_text_kind(i), kinds[i]);
	for (unsigned i = 0; i < NR(states); i++)
		assert_string_equal(pmm_text_state(i), states[i]);
	assert_string_equal(pmm_text_kind(~0u), "?");
	assert_string_equal(pmm_text_state(~0u), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_bytes),
		cmocka_unit_test(test_all_lengths),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
