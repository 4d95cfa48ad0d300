/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/export/wire.c: bytes by the encoding's description. */
#include "src/export/wire.h"
#include "tests/unit/unit.h"

/* What has been written, in hexadecimal; then it is gone. */
static const char *hex(struct str *s)
{
	static char text[200];
	char *at = text;

	assert_int_equal(str_error(s), 0);
	assert_true(s->len < sizeof(text) / 2);
	*at = '\0';
	for (size_t i = 0; i < s->len; i++)
		at += sprintf(at, "%02x", (unsigned char)s->s[i]);
	str_clear(s);
	return text;
}

static void numbers_take_seven_bits_a_byte(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	wire_number(&s, 1, 1);
	wire_number(&s, 1, 127);
	wire_number(&s, 1, 128);
	wire_number(&s, 1, 150);
	wire_number(&s, 15, 16384);
	wire_number(&s, 16, 1);
	assert_string_equal(hex(&s), "0801" "087f" "088001" "089601" "78808001" "800101");
	wire_number(&s, 2, UINT64_MAX);
	assert_string_equal(hex(&s), "10ffffffffffffffffff01");
	wire_number(&s, 2, 0);
	assert_string_equal(hex(&s), "");
	str_fini(&s);
}

static void bytes_have_a_length(void **state)
{
	char many[200] = "";
	struct str s = STR_INIT;

	(void)state;
	wire_bytes(&s, 2, "testing", 7);
	wire_bytes(&s, 6, "", 0);
	wire_bytes(&s, 6, "\0", 1);
	assert_string_equal(hex(&s), "120774657374696e67" "3200" "320100");
	wire_bytes(&s, 1, many, sizeof(many));
	assert_int_equal(s.len, 203);
	assert_memory_equal(s.s, "\x0a\xc8\x01", 3);
	str_clear(&s);
	wire_numbers(&s, 4, (const uint64_t[]){ 3, 270, 86942, 0 }, 4);
	wire_numbers(&s, 4, NULL, 0);
	assert_string_equal(hex(&s), "2207038e029ea70500" "2200");
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_take_seven_bits_a_byte),
		cmocka_unit_test(bytes_have_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
