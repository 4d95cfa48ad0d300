/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_parse.c: what /proc/pmm/cfg takes, and nothing else; ranges of a configuration. */
#include "tests/unit/unit.h"

#include "kmod/pmm_parse.h"

static int parse(const char *text, size_t bytes, struct pmm_kmod_config *out)
{
	struct pmm_kmod_config before;
	int err;

	memset(out, 0x5a, sizeof(*out));
	before = *out;
	err = pmm_parse_cfg(text, bytes, out);
	if (err) {
		assert_int_equal(err, -EINVAL);
		assert_memory_equal(out, &before, sizeof(before));
	}
	return err;
}

/* The words that are taken, with the field of each. */
static const struct {
	const char *word;
	u32 set;
	size_t field;
	long least, most;
} words[] = {
	{ "INTERVAL", PMM_KMOD_SET_INTERVAL, offsetof(struct pmm_kmod_config, interval_ms),
	  INTERVAL_MIN_MS, INTERVAL_MAX_MS },
	{ "SCAN", PMM_KMOD_SET_SCAN, offsetof(struct pmm_kmod_config, scan), 0, 1 },
	{ "START_PID", PMM_KMOD_SET_START, offsetof(struct pmm_kmod_config, start_pid), 1,
	  INT_MAX },
	{ "STOP_PID", PMM_KMOD_SET_STOP, offsetof(struct pmm_kmod_config, stop_pid), 1, INT_MAX },
};

static void check_parsed(const struct pmm_kmod_config *c, unsigned word, long value)
{
	struct pmm_kmod_config wanted = { .set = words[word].set };

	*(u32 *)((char *)&wanted + words[word].field) = (u32)value;
	assert_memory_equal(c, &wanted, sizeof(wanted));
}

static void test_good(void **state)
{
	static const char *const forms[] = { "%s %ld", "%s %ld\n", "%s\t%ld", "%s \t  %ld\n" };
	struct pmm_kmod_config c;
	char text[100];

	(void)state;
	for (unsigned w = 0; w < NR(words); w++)
		for (unsigned f = 0; f < NR(forms); f++)
			for (unsigned last = 0; last < 2; last++) {
				long value = last ? words[w].most : words[w].least;
				int n = snprintf(text, sizeof(text), forms[f], words[w].word,
						 value);

				assert_int_equal(parse(text, (size_t)n, &c), 0);
				check_parsed(&c, w, value);
			}
}

static void test_out_of_range(void **state)
{
	struct pmm_kmod_config c;
	char text[100];

	(void)state;
	for (unsigned w = 0; w < NR(words); w++) {
		int n = snprintf(text, sizeof(text), "%s %ld", words[w].word, words[w].least - 1);

		assert_int_equal(parse(text, (size_t)n, &c), -EINVAL);
		n = snprintf(text, sizeof(text), "%s %ld", words[w].word, words[w].most + 1);
		assert_int_equal(parse(text, (size_t)n, &c), -EINVAL);
	}
}

static void test_bad(void **state)
{
#define ROW(text) { text, sizeof(text) - 1 }
	static const struct {
		const char *text;
		size_t bytes;
	} rows[] = {
		ROW(""), ROW("\n"), ROW(" "), ROW("SCAN"), ROW("SCAN "), ROW("SCAN\n"),
		ROW(" SCAN 1"), ROW("SCAN 1 "), ROW("SCAN 1\n\n"), ROW("\nSCAN 1"),
		ROW("SCAN 1\nSCAN 0"), ROW("SCAN\n1"), ROW("SCAN 1\r\n"), ROW("SCAN 1;"),
		ROW("scan 1"), ROW("SCA 1"), ROW("SCANS 1"), ROW("SCAN1"), ROW("1"), ROW("1 SCAN"),
		ROW("SCAN -1"), ROW("SCAN +1"), ROW("SCAN 01"), ROW("SCAN 00"), ROW("SCAN 0x1"),
		ROW("SCAN 1 1"), ROW("SCAN\0001"), ROW("SCAN 1\0"), ROW("SCAN\0 1"),
		ROW("SCAN \0001"),
		ROW("\0SCAN 1"), ROW("SCAN 1\n\0"), ROW("SCAN :"), ROW("SCAN /"),
		ROW("START_PID 2147483648"), ROW("START_PID 4294967297"),
		ROW("START_PID 18446744073709551617"), ROW("START_PID 0000000001"),
		ROW("INTERVAL 99999999999"), ROW("CLEAR 1"), ROW("INTERVAL 1000ms"),
		ROW("SCAN \xd9\xa1"),
	};
#undef ROW
	struct pmm_kmod_config c;

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++)
		if (!parse(rows[i].text, rows[i].bytes, &c))
			fail_msg("'%s' is taken", rows[i].text);
	assert_int_equal(parse("SCAN 1x", 6, &c), 0);	/* no byte behind its end is looked at */
}

/* Whatever is taken is one of the words, blanks, the number as printf writes it, one newline. */
static void check_canonical(const char *text, size_t bytes, const struct pmm_kmod_config *c)
{
	char wanted[40], squeezed[40];
	size_t n = 0;
	bool found = false;

	for (size_t i = 0; i < bytes; i++) {
		bool blank = text[i] == ' ' || text[i] == '\t';

		if (!blank)
			squeezed[n++] = text[i];
		else if (n && squeezed[n - 1] != ' ')
			squeezed[n++] = ' ';
	}
	if (n && squeezed[n - 1] == '\n')
		n--;
	squeezed[n] = 0;
	for (unsigned w = 0; w < NR(words); w++)
		if (c->set == words[w].set) {
			snprintf(wanted, sizeof(wanted), "%s %u", words[w].word,
				 *(const u32 *)((const char *)c + words[w].field));
			assert_string_equal(squeezed, wanted);
			found = true;
		}
	assert_true(found);
}

static void test_random_changes(void **state)
{
	static const char *const seeds[] = { "SCAN 1\n", "INTERVAL 1000", "START_PID 42\n",
					     "STOP_PID\t17" };
	static const char bytes_of[] = " \t\n0019-+x\0SN\xff";
	u32 random = 1, taken = 0;
	struct pmm_kmod_config c;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		char text[24];
		size_t n = strlen(seeds[i % 4]);

		memcpy(text, seeds[i % 4], n);
		for (u32 change = 0; change <= i % 3; change++) {
			size_t at;
			char byte;

			random = random * 1664525 + 1013904223;
			at = (random >> 16) % n;
			byte = bytes_of[(random >> 8) % (sizeof(bytes_of) - 1)];
			if (random >> 31) {
				memmove(text + at + 1, text + at, n - at);
				n++;
			}
			text[at] = byte;
		}
		if (!parse(text, n, &c)) {
			check_canonical(text, n, &c);
			taken++;
		}
	}
	assert_in_range(taken, 1000, 100000);
}

static void test_config_ranges(void **state)
{
	static const struct {
		struct pmm_kmod_config c;
		int result;
	} rows[] = {
		{ { 0 }, 0 },
		{ { .set = 0x400 }, -EINVAL },
		{ { .set = 0x80000000 }, -EINVAL },
		{ { .interval_ms = 1, .scan = 9, .keep_s = ~0u, .start_pid = -1 }, 0 },
		{ { .set = PMM_KMOD_SET_INTERVAL, .interval_ms = 9 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_INTERVAL, .interval_ms = 10 }, 0 },
		{ { .set = PMM_KMOD_SET_INTERVAL, .interval_ms = 3600000 }, 0 },
		{ { .set = PMM_KMOD_SET_INTERVAL, .interval_ms = 3600001 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_SCAN, .scan = 2 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_START, .start_pid = 0 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_STOP, .stop_pid = -5, .start_pid = 1 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_CLEAR, .clear_pid = 0 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_CLEAR, .clear_pid = 1 }, 0 },
		{ { .set = PMM_KMOD_SET_ENTRIES, .entries_per_process = 1 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_ENTRIES, .entries_in_all = 1 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_ENTRIES, .entries_per_process = 1, .entries_in_all = 1 },
		  0 },
		{ { .set = PMM_KMOD_SET_ENTRIES,
		    .entries_per_process = 16777217,
		    .entries_in_all = 16777216 },
		  -EINVAL },
		{ { .set = PMM_KMOD_SET_ENTRIES,
		    .entries_per_process = 16777216,
		    .entries_in_all = 16777216 },
		  0 },
		{ { .set = PMM_KMOD_SET_ENTRIES,
		    .entries_per_process = 16777216,
		    .entries_in_all = ~0ull },
		  -EINVAL },
		{ { .set = PMM_KMOD_SET_KEEP, .keep_s = 30 * 86400 }, 0 },
		{ { .set = PMM_KMOD_SET_KEEP, .keep_s = 30 * 86400 + 1 }, -EINVAL },
		{ { .set = PMM_KMOD_SET_GROWTH | PMM_KMOD_SET_RESIDENT | PMM_KMOD_SET_LOGGED,
		    .growth_bytes = ~0ull,
		    .resident_bytes = ~0ull,
		    .logged_bytes = ~0ull },
		  0 },
	};

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++)
		if (pmm_config_check(&rows[i].c) != rows[i].result)
			fail_msg("row %u", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_config_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
