/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/json.c. */
#include "src/base/json.h"

#include <math.h>

#include "tests/unit/unit.h"

struct doc {
	struct json j;
	FILE *out;
	char *text;
	size_t size;
};

static struct json *begin(struct doc *d)
{
	*d = (struct doc){ 0 };
	d->out = open_memstream(&d->text, &d->size);
	assert_non_null(d->out);
	json_init(&d->j, d->out);
	return &d->j;
}

static void end(struct doc *d, int rc, const char *text)
{
	assert_int_equal(json_finish(&d->j), rc);
	fclose(d->out);
	if (text)
		assert_string_equal(d->text, text);
	free(d->text);
}

static void layout(void **state)
{
	struct doc d;
	struct json *j = begin(&d);

	(void)state;
	json_object(j, NULL);
	json_u64(j, "big", UINT64_MAX);
	json_bool(j, "yes", true);
	json_null(j, "none");
	json_str(j, "no text", NULL);
	json_hex(j, "at", 0x7f00deadbeef);
	json_array(j, "empty");
	json_end(j);
	json_object(j, "hollow");
	json_end(j);
	json_array(j, "rows");
	json_object_flat(j, NULL);
	json_u64(j, "a", 1);
	json_array(j, "b");
	json_u64(j, NULL, 2);
	json_u64(j, NULL, 3);
	json_end(j);
	json_end(j);
	json_array_flat(j, NULL);
	json_bool(j, NULL, false);
	json_bool(j, NULL, true);
	json_end(j);
	json_object(j, NULL);
	json_u64(j, "c", 4);
	json_end(j);
	json_end(j);
	json_end(j);
	end(&d, 0,
	    "{\n"
	    "  \"big\": 18446744073709551615,\n"
		    "  \"yes\": true,\n"
	    "  \"none\": null,\n"
	    "  \"no text\": null,\n"
	    "  \"at\": \"0x7f00deadbeef\",\n"
	    "  \"empty\": [],\n"
	    "  \"hollow\": {},\n"
	    "  \"rows\": [\n"
	    "    {\"a\": 1, \"b\": [2, 3]},\n"
	    "    [false, true],\n"
	    "    {\n"
	    "      \"c\": 4\n"
	    "    }\n"
	    "  ]\n"
	    "}\n");
}

static void strings(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *json;
	} cases[] = {
		{ "", 0, "\"\"\n" },
		{ "plain", 5, "\"plain\"\n" },
		{ "a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\"\n" },
		{ "\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"\n" },
		{ "\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"\n" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		  "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"\n" },
		{ "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf"
		  "\xbf",
		  21,
		  "\"\\u0080\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\\uffff\xf0\x90\x80\x80\\udbff\\udfff\""
		  "\n" },
		/* would drive a terminal */
		{ "\xc2\x9b\xe2\x80\xae"
		  "a\xe2\x81\xa6\xe2\x80\xa8",
		  12, "\"\\u009b\\u202ea\\u2066\\u2028\"\n" },
		{ "\xf5\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		{ "\xff", 1, "\"\xef\xbf\xbd\"\n" },
		{ "a\x80z", 3, "\"a\xef\xbf\xbdz\"\n" },
		/* overlong */
		{ "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		{ "\xe0\x80\xaf", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		/* surrogate */
		{ "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		{ "\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		/* cut off */
		{ "\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"\n" },
		{ "\xc3(", 2, "\"\xef\xbf\xbd(\"\n" },
	};
	struct doc d;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		json_strn(begin(&d), NULL, cases[i].text, cases[i].n);
		end(&d, 0, cases[i].json);
	}
	json_object_flat(begin(&d), NULL);
	json_str(&d.j, "k\"\xfe", "v");
	json_end(&d.j);
	end(&d, 0, "{\"k\\\"\xef\xbf\xbd\": \"v\"}\n");
}

static void doubles(void **state)
{
	static const struct {
		double x;
		const char *json;
	} cases[] = {
		{ 0, "0\n" },
		{ 1, "1\n" },
		{ 0.1, "0.1\n" },
		{ -2.5, "-2.5\n" },
		{ 1e100, "1e+100\n" },
		{ 1.0 / 3, "0.3333333333333333\n" },
		{ 123456789, "123456789\n" },
		/* 15, 16 and 17 digits; the least there are */
		{ 1.23456789012345, "1.23456789012345\n" },
		{ 9007199254740992, "9007199254740992\n" },
		{ 0.1 + 0.2, "0.30000000000000004\n" },
		{ 0x1p-1022, "2.2250738585072014e-308\n" },
		{ 0x1p-1074, "5e-324\n" },
		{ NAN, "null\n" },
		{ INFINITY, "null\n" },
		{ -INFINITY, "null\n" },
	};
	struct doc d;
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		json_double(begin(&d), NULL, cases[i].x);
		end(&d, 0, cases[i].json);
	}
}

static void misuse_is_told(void **state)
{
	struct doc d;
	struct json *j = begin(&d);
	unsigned i;

	(void)state;
	end(&d, -EINVAL, NULL);				/* nothing written */
	json_object(begin(&d), NULL);
	end(&d, -EINVAL, NULL);				/* left open */
	json_end(begin(&d));
	end(&d, -EINVAL, NULL);				/* nothing to end */
	json_u64(begin(&d), NULL, 1);
	json_end(j);
	end(&d, -EINVAL, "1");				/* one end too many */
	json_u64(begin(&d), "key", 1);
	end(&d, -EINVAL, "");				/* key at the top */
	json_object(begin(&d), NULL);
	json_u64(j, NULL, 1);
	json_end(j);
	end(&d, -EINVAL, "{}");				/* no key in an object */
	json_u64(begin(&d), NULL, 1);
	json_u64(j, NULL, 2);
	end(&d, -EINVAL, "1");				/* two documents */
	begin(&d);
	for (i = 0; i < JSON_MAX_DEPTH + 1; i++)
		json_array(j, NULL);
	for (i = 0; i < JSON_MAX_DEPTH; i++)
		json_end(j);
	end(&d, -EINVAL, NULL);				/* too deep */
}

static void full_disk_is_told(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct json j;

	(void)state;
	assert_non_null(full);
	json_init(&j, full);
	json_u64(&j, NULL, 1);
	assert_int_equal(json_finish(&j), -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(strings),
		cmocka_unit_test(doubles),
		cmocka_unit_test(misuse_is_told),
		cmocka_unit_test(full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
