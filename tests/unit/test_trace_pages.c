/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The classes `rss` and `cache`, with tables made here: src/view/trace/trace_pages.c,
 * src/kernel/mounts.c.
 */
#include "tests/unit/unit.h"

#include "bpf/pages_abi.h"
#include "src/document/event.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/unit/trace_text.h"

#define DEVICE	(8u << 20 | 1)

/* ---- mounts ---- */

static char mountinfo[] = "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
			  "26 25 8:2 /sub /mnt/with\\040space rw - ext4 /dev/sda2 rw\n"
			  "broken\n"
			  "27 25 8:2 / /all rw - ext4 /dev/sda2 rw\n";

static void path_is(const struct mounts *m, uint32_t device, const char *path, bool known,
		    const char *expected)
{
	struct str s = STR_INIT;

	assert_int_equal(mounts_path(m, device, path, &s), known);
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

static void test_mounts(void **state)
{
	struct mounts m = { 0 };
	char text[sizeof(mountinfo)];

	(void)state;
	memcpy(text, mountinfo, sizeof(text));
	assert_int_equal(mounts_parse(&m, text), 0);
	assert_int_equal(m.v.nr, 3);
	path_is(&m, DEVICE, "/etc/passwd", true, "/etc/passwd");
	path_is(&m, DEVICE + 1, "/sub/a", true, "/mnt/with space/a");
	path_is(&m, DEVICE + 1, "/subway/a", true, "/all/subway/a");
	path_is(&m, DEVICE + 2, "/a", false, "/a");
	mounts_fini(&m);
}

/* ---- lines ---- */

static void line_has(const struct trace_record *r, const char *tail, const char *part,
		     const char *json)
{
	struct event e = { 0 };

	trace_line(&e, r, tail, 0, NULL, NULL, 0);
	event_has(&e, part, json);
}

static void test_lines(void **state)
{
	struct trace_record rss = { .kind = TRACE_RSS, .weight = 1, .comm = "victim",
				    .a = { RSS_ANON, 3 << 20, -(uint64_t)(1 << 20), 0 } };
	struct trace_record add = { .kind = TRACE_CACHE_ADD, .weight = 1, .comm = "victim",
				    .a = { DEVICE, 77, 1 << 20, 5 << 20 } };

	(void)state;
	line_has(&rss, "", "rss             -1.00 MiB, now 3.00 MiB anonymous\n",
		 "\"kind\": \"anonymous\", \"size_bytes\": 3145728, \"change_bytes\": -1048576");
	line_has(&add, "passwd/etc", "1.00 MiB, in all 5.00 MiB, of /etc/passwd (of device 8:1)\n",
		 "\"size_bytes\": 1048576, \"total_bytes\": 5242880");
	line_has(&add, "", "of (no name: inode 77 of device 8:1)\n", "\"inode\": 77");
	add.a[1] = 0;
	line_has(&add, "", "of (block device 8:1 itself: what the file system is made of)\n",
		 "\"inode\": 0");
}

/* ---- sections ---- */

/* Rows that a table's reader has left: keys and values padded to 8. */
static struct kernel_rows rows_of(const void *keys, size_t key_bytes, const void *values,
				  size_t value_bytes, size_t nr)
{
	size_t padded = (key_bytes + 7) / 8 * 8, row = padded + value_bytes;
	struct kernel_rows r = { .nr = nr, .key_bytes = padded, .value_bytes = value_bytes };

	r.bytes = calloc(nr, row);
	for (size_t i = 0; i < nr; i++) {
		memcpy(r.bytes + i * row, (const char *)keys + i * key_bytes, key_bytes);
		memcpy(r.bytes + i * row + padded, (const char *)values + i * value_bytes,
		       value_bytes);
	}
	return r;
}

static void test_resident_sizes(void **state)
{
	uint32_t pids[] = { 7, 8 };
	struct rss_process list[] = {
		{ .first = { 4096, 4096, 0, 0 }, .now = { 4096, 8192, 1 << 20, 0 }, .peak = 16384,
		  .changes = 3, .comm = "small" },
		{ .first = { 1 << 20, 0, 0, 0 }, .now = { 0, 0, 0, 4096 }, .peak = 1 << 20,
		  .changes = 9, .comm = "shrinks" },
	};
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct trace_result t = { .rows = rows };
	char *text;

	(void)state;
	rows[KERNEL_TABLE_RSS] = rows_of(pids, sizeof(*pids), list, sizeof(*list), 2);
	text = section_text(trace_section_rss, &t, false);
	has(text, "each page counts here; there is an event for each 1.00 MiB by which a kind of a "
		  "process has changed (--min-size=BYTES)\n");
	has(text, "    8  4.00 KiB  -1020 KiB   1.00 MiB         -          -  4.00 KiB "
		  "        -        9  shrinks\n"
		  "    7  12.0 KiB  +4.00 KiB   16.0 KiB  4.00 KiB   8.00 KiB         -  1.00 MiB        3  small\n");
	free(text);
	t.top = 1;
	t.min_bytes = 4096;
	text = section_text(trace_section_rss, &t, false);
	has(text, "an event for each 4.00 KiB by which");
	has(text, "  1 more row");
	free(text);
	text = section_text(trace_section_rss, &t, true);
	has(text, "\"pid\": 8");
	has(text, "\"change_bytes\": -1044480");
	has(text, "\"first_file_bytes\": 1048576");
	free(text);
	kernel_rows_fini(&rows[KERNEL_TABLE_RSS]);
}

static void test_page_cache(void **state)
{
	struct cache_file_key files[] = { { 77, DEVICE, 0 }, { 78, DEVICE, 0 } };
	struct cache_file values[] = { { 8192, 4096, "passwd/etc" }, { 1 << 20, 2 << 20, "" } };
	struct cache_user_key users[] = { { 77, DEVICE, 7 }, { 78, DEVICE, 8 }, { 78, DEVICE, 7 } };
	struct cache_user by[] = { { 8192, 0, 0, "one" }, { 4096, 0, 0, "two" },
				   { 1040384, 2 << 20, 0, "one" } };
	char text_of_mounts[sizeof(mountinfo)];
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct mounts mounts = { 0 };
	struct trace_result t = { .rows = rows, .mounts = &mounts };
	char *text;

	(void)state;
	memcpy(text_of_mounts, mountinfo, sizeof(mountinfo));
	assert_int_equal(mounts_parse(&mounts, text_of_mounts), 0);
	rows[KERNEL_TABLE_CACHE_FILES] = rows_of(files, sizeof(*files), values, sizeof(*values), 2);
	rows[KERNEL_TABLE_CACHE_USERS] = rows_of(users, sizeof(*users), by, sizeof(*by), 3);
	text = section_text(trace_section_cache, &t, false);
	has(text, "each page counts here; there is an event for each 1.00 MiB of a file that a "
		  "process adds (--min-size=BYTES)\n"
		  "  not seen: tmpfs and shared memory, because the kernel does not say");
	has(text, "  1.00 MiB  2.00 MiB  -1.00 MiB  (no name: inode 78 of device 8:1)\n"
		  "  8.00 KiB  4.00 KiB  +4.00 KiB  /etc/passwd\n");
	has(text, "    7  1.00 MiB  2.00 MiB  -1.00 MiB      2  one\n"
		  "    8  4.00 KiB         -  +4.00 KiB      1  two\n");
	free(text);
	text = section_text(trace_section_cache, &t, true);
	has(text, "\"file\": \"/etc/passwd\"");
	has(text, "\"change_bytes\": -1048576");
	free(text);
	t.top = 1;
	text = section_text(trace_section_cache, &t, false);
	has(text, "(no name: inode 78 of device 8:1)\n  1 more row");
	has(text, "  one\n  1 more row");
	assert_null(strstr(text, "/etc/passwd"));
	free(text);
	mounts_fini(&mounts);
	kernel_rows_fini(&rows[KERNEL_TABLE_CACHE_FILES]);
	kernel_rows_fini(&rows[KERNEL_TABLE_CACHE_USERS]);
}

/* No table with a heading alone, nor is it said when an event comes. */
static void test_nothing(void **state)
{
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct trace_result t = { .rows = rows };
	char *text;

	(void)state;
	text = section_text(trace_section_rss, &t, false);
	assert_string_equal(text, "");
	free(text);
	text = section_text(trace_section_cache, &t, false);
	assert_string_equal(text, "Page cache\n"
				  "  files     no page was added or removed\n"
				  "  not seen  tmpfs and shared memory, because the kernel does not say "
				  "when it adds their pages\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_resident_sizes),
		cmocka_unit_test(test_page_cache),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
