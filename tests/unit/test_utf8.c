/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/utf8.c: what of text from outside may reach a terminal. */
#include "tests/unit/unit.h"

#include "src/base/utf8.h"

static void clean(const char *text, const char *expected)
{
	struct str s = STR_INIT;

	utf8_add_clean(&s, text);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void quoted(const char *word, const char *expected)
{
	struct str s = STR_INIT;

	utf8_add_quoted(&s, word);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void words_for_a_shell_are_quoted(void **state)
{
	(void)state;
	quoted("dir/plain-1.pmm", "dir/plain-1.pmm");
	quoted("", "''");
	quoted("a b", "'a b'");
	quoted("it's $x \\", "'it'\\''s $x \\'");
	quoted("\xc3\xa4", "'\xc3\xa4'");
	quoted("a\xff b's\\", "$'a\\xff b\\'s\\\\'");
	quoted("a\nb", "$'a\\x0ab'");
}

static void controls_are_escaped(void **state)
{
	(void)state;
	clean("plain text", "plain text");
	clean("\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m");
	clean("a\nb\tc\rd\x7f", "a\\x0ab\\x09c\\x0dd\\x7f");
	clean("\xc2\x9b"
	      "31m",
	      "\\xc2\\x9b31m"); /* C1 control sequence introducer */
	clean("\xe2\x80\xae"
	      "abc",
	      "\\xe2\\x80\\xae"
	      "abc");				    /* right-to-left override */
	clean("\xef\xbb\xbfx", "\\xef\\xbb\\xbfx"); /* invisible */
}

static void utf8_passes_and_broken_utf8_does_not(void **state)
{
	(void)state;
	clean("größe 日本", "größe 日本");
	clean("\xff\xc3", "\\xff\\xc3");
	clean("\xc0\xaf", "\\xc0\\xaf");		   /* overlong */
	clean("\xed\xa0\x80", "\\xed\\xa0\\x80");	   /* surrogate */
	clean("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
	clean("\xe2\x80", "\\xe2\\x80");		   /* cut short */
}

/*
 * Every character there is, one by one: what comes out is sound, and has none that a terminal obeys
 * or that turns text.
 */
static void all_characters(void **state)
{
	unsigned shown = 0;

	(void)state;
	for (uint32_t c = 1; c < 0x110000; c++) {
		char in[5] = "", out[64];
		uint32_t back;

		if (c < 0x80)
			in[0] = (char)c;
		else if (c < 0x800)
			snprintf(in, sizeof(in), "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
		else if (c < 0x10000)
			snprintf(in, sizeof(in), "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f),
				 0x80 | (c & 0x3f));
		else
			snprintf(in, sizeof(in), "%c%c%c%c", 0xf0 | c >> 18,
				 0x80 | (c >> 12 & 0x3f), 0x80 | (c >> 6 & 0x3f),
				 0x80 | (c & 0x3f));
		utf8_clean(out, sizeof(out), in);
		if (strcmp(in, out) == 0) {
			shown++;
			assert_int_equal(utf8_decode(in, strlen(in), &back), strlen(in));
			assert_int_equal(back, c);
			assert_true(c >= 0x20 && (c < 0x7f || c > 0x9f) &&
				    (c < 0xd800 || c > 0xdfff));
			assert_true((c < 0x202a || c > 0x202e) && (c < 0x2066 || c > 0x2069) &&
				    c != 0x2028 && c != 0x2029 && c != 0x200f);
		} else {
			assert_int_equal(strlen(out), 4 * strlen(in));
			assert_int_equal(strspn(out, "\\x0123456789abcdef"), strlen(out));
		}
	}
	assert_true(shown > 900000);
}

/* What each class of them is called, and what each form makes of one. */
static void each_class_is_replaced_visibly(void **state)
{
	static const struct {
		const char *text, *masked, *escaped;
	} class[] = {
		{ "a\x1bz", "a?z", "a\\x1bz" }, /* C0 control */
		{ "a\x7fz", "a?z", "a\\x7fz" }, /* delete */
		{ "a\xc2\x80z", "a??z", "a\\xc2\\x80z" }, /* first C1 control */
		{ "a\xc2\x9fz", "a??z", "a\\xc2\\x9fz" }, /* last C1 control */
		{ "a\xc2\xa1z", "a\xc2\xa1z", "a\xc2\xa1z" }, /* none any more */
		{ "a\xe2\x80\xaaz", "a???z", "a\\xe2\\x80\\xaaz" }, /* U+202A embedding */
		{ "a\xe2\x80\xaez", "a???z", "a\\xe2\\x80\\xaez" }, /* U+202E override */
		{ "a\xe2\x81\xa6z", "a???z", "a\\xe2\\x81\\xa6z" }, /* U+2066 isolate */
		{ "a\xe2\x81\xa9z", "a???z", "a\\xe2\\x81\\xa9z" }, /* U+2069 its end */
		{ "a\xe2\x80\x8bz", "a???z", "a\\xe2\\x80\\x8bz" }, /* no width */
		{ "a\xe2\x80\xa8z", "a???z", "a\\xe2\\x80\\xa8z" }, /* line separator */
		{ "a\xee\x80\x80z", "a???z", "a\\xee\\x80\\x80z" }, /* private use */
		{ "a\xc0\xafz", "a??z", "a\\xc0\\xafz" }, /* overlong, of 2 */
		{ "a\xe0\x80\xafz", "a???z", "a\\xe0\\x80\\xafz" }, /* overlong, of 3 */
		{ "a\xf0\x80\x80\xafz", "a????z", "a\\xf0\\x80\\x80\\xafz" }, /* of 4 */
		{ "a\xed\xa0\x80z", "a???z", "a\\xed\\xa0\\x80z" }, /* first surrogate */
		{ "a\xed\xbf\xbfz", "a???z", "a\\xed\\xbf\\xbfz" }, /* last surrogate */
		{ "a\xf4\x90\x80\x80z", "a????z", "a\\xf4\\x90\\x80\\x80z" }, /* too large */
		{ "a\x80z", "a?z", "a\\x80z" }, /* begins nowhere */
		{ "a\xe2\x82z", "a??z", "a\\xe2\\x82z" }, /* cut short */
		{ "a\xe2\x82", "a??", "a\\xe2\\x82" }, /* by the end */
		{ "a\xe2\x82\xacz", "a\xe2\x82\xacz", "a\xe2\x82\xacz" }, /* a euro */
	};

	(void)state;
	for (size_t i = 0; i < NR(class); i++) {
		char text[16];

		strcpy(text, class[i].text);
		utf8_mask(text, strlen(text), '?');
		assert_string_equal(text, class[i].masked);
		clean(class[i].text, class[i].escaped);
	}
}

static void a_mask_keeps_to_its_bytes(void **state)
{
	char text[] = "\x1b\0\x1b\x1b";

	(void)state;
	utf8_mask(text, 3, '_');
	assert_memory_equal(text, "___\x1b", 5);
	utf8_mask(text, 0, '!');
	assert_memory_equal(text, "___\x1b", 5);
}

static void characters_begin_where_they_do(void **state)
{
	(void)state;
	assert_true(utf8_begins('a'));
	assert_true(utf8_begins('\0'));
	assert_true(utf8_begins('\xc3'));
	assert_true(utf8_begins('\xf4'));
	assert_false(utf8_begins('\x80'));
	assert_false(utf8_begins('\xbf'));
}

/*
 * A buffer is never overrun, never ends in half a character or half an escape, and what is clean is
 * left alone.
 */
static void buffers_are_cut_between_characters(void **state)
{
	static const char text[] = "a\xc3\xb6\x1b\xe6\x97\xa5\xff";	/* 1, 2, 4, 3, 4 bytes */
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 3, 7, 7, 7, 10, 10, 10, 10, 14, 14 };

	(void)state;
	for (size_t size = 1; size <= NR(whole); size++) {
		char to[32], again[32];

		memset(to, '#', sizeof(to));
		utf8_clean(to, size, text);
		assert_int_equal(strlen(to), whole[size - 1]);
		assert_int_equal(to[size], '#');
		utf8_clean(again, sizeof(again), to);
		assert_string_equal(again, to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_for_a_shell_are_quoted),
		cmocka_unit_test(controls_are_escaped),
		cmocka_unit_test(utf8_passes_and_broken_utf8_does_not),
		cmocka_unit_test(all_characters),
		cmocka_unit_test(each_class_is_replaced_visibly),
		cmocka_unit_test(a_mask_keeps_to_its_bytes),
		cmocka_unit_test(characters_begin_where_they_do),
		cmocka_unit_test(buffers_are_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
