/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/fmt.c and fmt_parse.c. */
#include "src/base/fmt.h"

#include <time.h>

#include "tests/unit/unit.h"

static const struct {
	uint64_t n;
	const char *bytes, *count, *shorter;
} numbers[] = {
	{ 0, "0 B", "0", "0" },
	{ 1, "1 B", "1", "1" },
	{ 999, "999 B", "999", "999" },
	{ 1000, "1000 B", "1,000", "1000" },
	{ 1023, "1023 B", "1,023", "1023" },
	{ 1024, "1.00 KiB", "1,024", "1024" },
	{ 1536, "1.50 KiB", "1,536", "1536" },
	{ 9999, "9.76 KiB", "9,999", "9999" },
	{ 10000, "9.77 KiB", "10,000", "10.0k" },
	{ 10239, "10.0 KiB", "10,239", "10.2k" },
	{ 102348, "99.9 KiB", "102,348", "102k" },
	{ 102349, "100 KiB", "102,349", "102k" },
	{ 102400, "100 KiB", "102,400", "102k" },
	{ 999499, "976 KiB", "999,499", "999k" },
	{ 999500, "976 KiB", "999,500", "1.00M" },
	{ 1048063, "1023 KiB", "1,048,063", "1.05M" },
	{ 1048064, "1.00 MiB", "1,048,064", "1.05M" },
	{ 1ull << 30, "1.00 GiB", "1,073,741,824", "1.07G" },
	{ 123456789012, "115 GiB", "123,456,789,012", "123G" },
	{ UINT64_MAX, "16.0 EiB", "18,446,744,073,709,551,615", "18.4E" },
};

static void bytes_and_counts(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR(numbers); i++) {
		assert_string_equal(fmt_bytes(numbers[i].n).s, numbers[i].bytes);
		assert_string_equal(fmt_count(numbers[i].n).s, numbers[i].count);
		assert_string_equal(fmt_count_short(numbers[i].n).s, numbers[i].shorter);
	}
}

static void counts_with_their_noun(void **state)
{
	(void)state;
	assert_string_equal(fmt_many(0, "block").s, "0 blocks");
	assert_string_equal(fmt_many(1, "block").s, "1 block");
	assert_string_equal(fmt_many(2, "block").s, "2 blocks");
	assert_string_equal(fmt_many(12345, "more site").s, "12,345 more sites");
	assert_string_equal(fmt_many(1, "process").s, "1 process");
	assert_string_equal(fmt_many(0, "process").s, "0 processes");
	assert_string_equal(fmt_many(3, "other process").s, "3 other processes");
	assert_string_equal(fmt_many(1, "library").s, "1 library");
	assert_string_equal(fmt_many(2, "library").s, "2 libraries");
	/* the longest of both that fits, and a noun that is too long */
	assert_string_equal(fmt_many(UINT64_MAX, "abcdefghijklmnopqrstuvwx").s,
			    "18,446,744,073,709,551,615 abcdefghijklmnopqrstuvwxs");
	assert_string_equal(fmt_many(1, "abcdefghijklmnopqrstuvwxyz").s,
			    "1 abcdefghijklmnopqrstuvwx");
	assert_string_equal(fmt_many(2, "").s, "2 s");
	assert_string_equal(fmt_agree(0, "was", "were"), "were");
	assert_string_equal(fmt_agree(1, "was", "were"), "was");
	assert_string_equal(fmt_agree(2, "was", "were"), "were");
	assert_string_equal(fmt_agree(UINT64_MAX, "was", "were"), "were");
}

static void durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" }, { 1, "1 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" },
		{ 12345, "12.3 us" }, { 999499, "999 us" }, { 999500, "1.00 ms" },
		{ 350000000, "350 ms" }, { 999500000, "1.00 s" }, { 1500000000, "1.50 s" },
		{ 99900000000, "99.9 s" }, { 99950000000, "1m39s" }, { 125000000000, "2m05s" },
		{ 3599999999999, "59m59s" }, { 3600000000000, "1h00m" },
		{ 11040000000000, "3h04m" }, { 86400000000000, "1d00h" },
		{ 453600000000000, "5d06h" }, { UINT64_MAX, "213503d23h" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++)
		assert_string_equal(fmt_duration(cases[i].ns).s, cases[i].text);
}

static void durations_by_a_clock(void **state)
{
	static const struct {
		uint64_t ns, step_ns;
		const char *text;
	} cases[] = {
		{ 0, 10000000, "under 10 ms" }, { 9999999, 10000000, "under 10 ms" },
		{ 10000000, 10000000, "10 ms" }, { 30000000, 10000000, "30 ms" },
		{ 34999999, 10000000, "30 ms" }, { 35000000, 10000000, "40 ms" },
		{ 580000000, 10000000, "580 ms" }, { 994999999, 10000000, "990 ms" },
		{ 995000000, 10000000, "1.00 s" }, { 1050000000, 10000000, "1.05 s" },
		{ 12340000000, 10000000, "12.3 s" }, { 125000000000, 10000000, "2m05s" },
		{ 30000000, 1000000, "30 ms" }, { 1500000, 1000000, "2 ms" },
		{ 1000000000, 100000000, "1.0 s" }, { 1340000000, 100000000, "1.3 s" },
		{ 7000000000, 1000000000, "7 s" }, { 0, 1000000000, "under 1 s" },
		{ 3200000, 0, "3.20 ms" }, { 0, 0, "0 s" },
		{ UINT64_MAX, 10000000, "213503d23h" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_string_equal(fmt_duration_step(cases[i].ns, cases[i].step_ns).s,
				    cases[i].text);
}

static void durations_that_were_chosen(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 1000000000, "1 s" },
		{ 1500000000, "1.5 s" },
		{ 1050000000, "1.05 s" },
		{ 10000000, "10 ms" },
		{ 500000000, "500 ms" },
		{ 100000000, "100 ms" },
		{ 300, "300 ns" },
		{ 300000000000, "5m" },
		{ 310000000000, "5m10s" },
		{ 3600000000000, "1h" },
		{ 5400000000000, "1h30m" },
		{ 86400000000000, "1d" },
		{ 10000000000, "10 s" },
		{ 6000000000000, "1h40m" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_string_equal(fmt_duration_given(cases[i].ns).s, cases[i].text);
}

static void estimates_of_time(void **state)
{
	static const struct {
		uint64_t s;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 1, "1 s" },
		{ 119, "120 s" },
		{ 120, "2 minutes" },
		{ 3000, "50 minutes" },
		{ 7199, "120 minutes" },
		{ 7200, "2 hours" },
		{ 172799, "48 hours" },
		{ 172800, "2 days" },
		{ 4712400, "55 days" },
		{ 86400ull * 643, "640 days" },
		{ 86400ull * 12345, "12,350 days" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_string_equal(fmt_duration_rough(cases[i].s * 1000000000).s, cases[i].text);
}

static void percents(void **state)
{
	(void)state;
	assert_string_equal(fmt_percent(0, 0).s, "-");
	assert_string_equal(fmt_percent(5, 0).s, "-");
	assert_string_equal(fmt_percent(0, 9).s, "0%");
	assert_string_equal(fmt_percent(1, 1001).s, "<0.1%");
	assert_string_equal(fmt_percent(1, 1000).s, "0.1%");
	assert_string_equal(fmt_percent(1, 3).s, "33.3%");
	assert_string_equal(fmt_percent(9999, 10000).s, "99.9%");
	assert_string_equal(fmt_percent(7, 7).s, "100%");
	assert_string_equal(fmt_percent(3, 2).s, "150.0%");
	assert_string_equal(fmt_percent(UINT64_MAX, UINT64_MAX).s, "100%");
}

static void wall_clock(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_string_equal(fmt_time(0).s, "1970-01-01 00:00:00");
	assert_string_equal(fmt_time(1772368496987654321).s, "2026-03-01 12:34:56");
	assert_true(strlen(fmt_time(UINT64_MAX).s) > 0);
}

struct parse_case {
	const char *text;
	int rc;
	uint64_t n;
};

static void expect(const struct parse_case *c, size_t nr,
		   int (*parse)(const char *, uint64_t *, struct err *))
{
	for (; nr--; c++) {
		struct err e = { .text = "" };
		uint64_t n = 77;
		int rc = parse(c->text, &n, &e);

		if (rc != c->rc || n != (c->rc ? 77 : c->n))
			fail_msg("'%s': %d, %llu", c->text, rc, (unsigned long long)n);
		assert_int_equal(e.text[0] != '\0', c->rc != 0);
		assert_int_equal(parse(c->text, &n, NULL), c->rc);
	}
}

static void parses_sizes(void **state)
{
	static const struct parse_case cases[] = {
		{ "0", 0, 0 }, { "4096", 0, 4096 }, { "64K", 0, 65536 }, { "64k", 0, 65536 },
		{ "1.5M", 0, 1572864 }, { "2G", 0, 2147483648 }, { "1T", 0, 1099511627776 },
		{ "1KiB", 0, 1024 }, { "3mb", 0, 3145728 }, { "12B", 0, 12 },
		{ "0.1K", 0, 102 }, { "1.9", 0, 1 }, { "1.0000000009K", 0, 1024 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 }, { "16777216T", -ERANGE, 0 },
		{ "16777215.9999999T", 0, 18446744073709441664ull },
		{ "", -EINVAL, 0 }, { "K", -EINVAL, 0 }, { "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "1.K", -EINVAL, 0 },
		{ ".5K", -EINVAL, 0 }, { "1X", -EINVAL, 0 }, { "1Kx", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 }, { "1e3", -EINVAL, 0 }, { "1.2.3K", -EINVAL, 0 },
	};

	(void)state;
	expect(cases, NR(cases), fmt_parse_size);
}

static void parses_durations(void **state)
{
	static const struct parse_case cases[] = {
		{ "5", 0, 5000000000 }, { "5s", 0, 5000000000 }, { "10ms", 0, 10000000 },
		{ "500us", 0, 500000 }, { "20ns", 0, 20 }, { "2m", 0, 120000000000 },
		{ "1.5h", 0, 5400000000000 }, { "1d", 0, 86400000000000 }, { "0.01", 0, 10000000 },
		{ "0.5ns", 0, 0 }, { "300000d", -ERANGE, 0 }, { "s", -EINVAL, 0 },
		{ "5 s", -EINVAL, 0 }, { "5w", -EINVAL, 0 }, { "", -EINVAL, 0 },
	};

	(void)state;
	expect(cases, NR(cases), fmt_parse_duration);
}

static void parses_numbers(void **state)
{
	static const struct parse_case cases[] = {
		{ "0", 0, 0 }, { "0012", 0, 12 }, { "512", 0, 512 }, { "1.5", -EINVAL, 0 },
		{ "1K", -EINVAL, 0 }, { "99999999999999999999", -ERANGE, 0 }, { "", -EINVAL, 0 },
	};

	(void)state;
	expect(cases, NR(cases), fmt_parse_uint);
}

static void parses_ranges(void **state)
{
	struct fmt_range r = { 1, 2 };

	(void)state;
	assert_int_equal(fmt_parse_range("1K", &r, fmt_parse_size, NULL), 0);
	assert_true(r.min == 1024 && r.max == UINT64_MAX);
	assert_int_equal(fmt_parse_range("1K:2K", &r, fmt_parse_size, NULL), 0);
	assert_true(r.min == 1024 && r.max == 2048);
	assert_int_equal(fmt_parse_range("5s:", &r, fmt_parse_duration, NULL), 0);
	assert_true(r.min == 5000000000 && r.max == UINT64_MAX);
	assert_int_equal(fmt_parse_range(":10ms", &r, fmt_parse_duration, NULL), 0);
	assert_true(r.min == 0 && r.max == 10000000);
	assert_int_equal(fmt_parse_range("7:7", &r, fmt_parse_size, NULL), 0);
	assert_true(r.min == 7 && r.max == 7);
	assert_int_equal(fmt_parse_range("8:7", &r, fmt_parse_size, NULL), -EINVAL);
	assert_int_equal(fmt_parse_range("", &r, fmt_parse_size, NULL), -EINVAL);
	assert_int_equal(fmt_parse_range(":", &r, fmt_parse_size, NULL), -EINVAL);
	assert_int_equal(fmt_parse_range("1:2:3", &r, fmt_parse_size, NULL), -EINVAL);
	assert_int_equal(fmt_parse_range("x:2", &r, fmt_parse_size, NULL), -EINVAL);
	assert_true(r.min == 7 && r.max == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_counts),
		cmocka_unit_test(counts_with_their_noun),
		cmocka_unit_test(durations),
		cmocka_unit_test(durations_by_a_clock),
		cmocka_unit_test(durations_that_were_chosen),
		cmocka_unit_test(estimates_of_time),
		cmocka_unit_test(percents),
		cmocka_unit_test(wall_clock),
		cmocka_unit_test(parses_sizes),
		cmocka_unit_test(parses_durations),
		cmocka_unit_test(parses_numbers),
		cmocka_unit_test(parses_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
