/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/trace/trace_session.c, with a source of records made here: lines, sums, results,
 * ends. Also of src/kernel/kernel_source.c, kernel_rows.c, event_class.c, groups.c,
 * src/analyze/trace/trace_totals.c, trace_rank.c, src/view/trace/trace_line.c, trace_list.c,
 * trace_view.c, trace_calls.c, trace_files.c, trace_folded.c, trace_life.c, trace_oom.c,
 * trace_sections.c, src/session/trace/trace_lacks.c, src/track/gate.c.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/document/event.h"
#include "src/session/trace/trace_session.h"
#include "src/track/gate.h"
#include "src/kernel/user_stack.h"
#include "src/view/trace/trace_folded.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_oom.h"
#include "src/view/trace/trace_view.h"
#include "tests/fake/fake_kernel.h"

static struct trace_record record(uint32_t kind, uint32_t pid, uint64_t a0, uint64_t a1,
				  uint64_t result)
{
	return (struct trace_record){ .kind = kind, .tgid = pid, .tid = pid, .weight = 1,
				      .time_ns = 1500000, .a = { a0, a1, 0, 0, 0, result },
				      .comm = "victim" };
}

/* ---- names of events ---- */

static void test_lists_of_events(void **state)
{
	uint32_t classes;
	uint64_t kinds[2];
	struct err e = { 0 };

	(void)state;
	assert_int_equal(event_classes_parse("mmap,life", &classes, &e), 0);
	assert_int_equal(classes, 1u << EVENT_MMAP | 1u << EVENT_LIFE);
	assert_int_equal(event_classes_groups(classes), 1u << KERNEL_CALLS | 1u << KERNEL_LIFE);
	event_classes_kinds(1u << EVENT_BRK, kinds);
	assert_int_equal(kinds[TRACE_BRK / 64], 1ull << TRACE_BRK % 64);
	assert_int_equal(kinds[!(TRACE_BRK / 64)], 0);
	assert_int_equal(event_classes_parse("all", &classes, &e), 0);
	assert_int_equal(classes, ((1u << EVENT_NR_CLASSES) - 1) & ~(1u << EVENT_HEAP));
	assert_int_equal(event_classes_parse("mmap,mmapp", &classes, &e), -EINVAL);
	assert_string_equal(e.text, "there is no event 'mmapp'");
	assert_int_equal(event_classes_parse("", &classes, &e), -EINVAL);
}

/* ---- sums ---- */

static void test_sums(void **state)
{
	struct trace_totals t = { 0 };
	struct trace_record ok = record(TRACE_MMAP, 7, 0, 4096, 0x1000),
			    failed = record(TRACE_MMAP, 7, 0, 1 << 20, -(uint64_t)ENOMEM),
			    three = record(TRACE_MUNMAP, 8, 0, 100, 0);

	(void)state;
	three.weight = 3;
	trace_totals_add(&t, &ok, 5);
	trace_totals_add(&t, &ok, 5);
	trace_totals_add(&t, &failed, TRACE_NO_STACK);
	trace_totals_add(&t, &three, 5);
	assert_int_equal(t.kind[TRACE_MMAP].sum.events, 3);
	assert_int_equal(t.kind[TRACE_MMAP].sum.failed, 1);
	assert_int_equal(t.kind[TRACE_MMAP].sum.bytes, 8192);
	assert_int_equal(t.kind[TRACE_MUNMAP].sum.events, 3);
	assert_int_equal(t.kind[TRACE_MUNMAP].sum.bytes, 300);
	assert_int_equal(t.processes.nr, 2);
	assert_int_equal(t.processes.v[0].id, 7);
	assert_int_equal(t.processes.v[0].sum.events, 3);
	assert_int_equal(t.stacks.nr, 2);
	assert_int_equal(t.stacks.v[0].id, 5);
	assert_int_equal(t.stacks.v[0].sum.events, 2);
	assert_int_equal(t.left_out, 0);
	trace_totals_clear(&t);
	assert_int_equal(t.processes.nr, 0);
	assert_int_equal(t.kind[TRACE_MMAP].sum.events, 0);
	trace_totals_fini(&t);
}

static void test_orders(void **state)
{
	struct trace_row rows[] = {
		{ .kind = TRACE_MMAP, .id = 1, .sum = { .events = 5, .bytes = 10, .ns = 3 } },
		{ .kind = TRACE_MMAP, .id = 2, .sum = { .events = 3, .bytes = 30, .ns = 3 } },
		{ .kind = TRACE_EXEC, .id = 3, .sum = { .events = 5, .bytes = 20, .ns = 9 } },
		{ .kind = TRACE_EXEC, .id = 0, .sum = { .events = 5, .bytes = 20, .ns = 1 } },
	};
	static const unsigned orders[TRACE_NR_SORTS][4] = {
		[TRACE_BY_COUNT] = { 3, 2, 0, 1 },
		[TRACE_BY_BYTES] = { 1, 3, 2, 0 },
		[TRACE_BY_TIME] = { 2, 0, 1, 3 },
	};

	(void)state;
	for (unsigned sort = 0; sort < TRACE_NR_SORTS; sort++) {
		const struct trace_row **list = trace_rank(rows, NR(rows), sort);

		for (unsigned i = 0; i < NR(rows); i++)
			assert_ptr_equal(list[i], &rows[orders[sort][i]]);
		free(list);
	}
}

static void test_folded_stacks(void **state)
{
	uint64_t one[] = { stack_frame(0, 0x30), stack_frame(0, 0x20), stack_frame(0, 0x10) };
	struct trace_record r = record(TRACE_MMAP, 7, 0, 4096, 0x1000);
	struct trace_totals totals = { 0 };
	struct stack_table stacks;
	struct modules modules = { 0 };
	struct trace_result result = { .totals = &totals, .stacks = &stacks };
	struct str s = STR_INIT;

	(void)state;
	stack_table_init(&stacks, 0);
	result.names = stack_names_new(&modules, NULL);
	trace_totals_add(&totals, &r, stack_table_add(&stacks, one, 3, USER_STACK_COMPLETE));
	r.weight = 3;
	trace_totals_add(&totals, &r, stack_table_add(&stacks, one, 2, USER_STACK_SHORT));
	trace_folded(&s, &result);
	assert_string_equal(str_text(&s), "mmap;[copy_too_short];0x20;0x30 3\n"
					  "mmap;0x10;0x20;0x30 1\n");
	str_clear(&s);
	result.sort = TRACE_BY_BYTES;
	trace_folded(&s, &result);
	assert_string_equal(str_text(&s), "mmap;[copy_too_short];0x20;0x30 12288\n"
					  "mmap;0x10;0x20;0x30 4096\n");
	str_clear(&s);
	result.sort = TRACE_BY_TIME;		/* of which there is none */
	trace_folded(&s, &result);
	assert_string_equal(str_text(&s), "");
	str_fini(&s);
	trace_totals_fini(&totals);
	stack_table_fini(&stacks);
	stack_names_free(result.names);
	modules_fini(&modules);
}

/* ---- lines ---- */

/* Columns are as wide as their widest: one space for each run of them. */
static char *squeezed(const char *text)
{
	char *s = strdup(text), *to = s;

	assert_non_null(s);
	for (const char *at = s; *at; at++)
		if (*at != ' ' || at[1] != ' ')
			*to++ = *at;
	*to = '\0';
	return s;
}

static void line_is(struct trace_record r, const char *tail, const char *text, const char *json)
{
	char *words = NULL, *line, *expected;
	struct event e = { 0 };
	size_t n;
	FILE *out = open_memstream(&words, &n);

	trace_line(&e, &r, tail, &(struct trace_clock){ .start_ns = 1000000 }, NULL, NULL, 0);
	assert_int_equal(event_error(&e), 0);
	line = squeezed(str_text(&e.text));
	expected = squeezed(text);
	assert_string_equal(line, expected);
	free(line);
	free(expected);
	assert_int_equal(event_print_json(&e, out), 0);
	fclose(out);
	if (!strstr(words, json))
		print_message("%s\n", words);
	assert_non_null(strstr(words, json));
	free(words);
	event_fini(&e);
}

#define LINE(event, details) "    0.000500  victim                7  " event details "\n"

/* a[2] to a[4] beside the arguments of record(). */
static struct trace_record call(uint32_t kind, const uint64_t a[TRACE_NR_ARGS])
{
	struct trace_record r = record(kind, 7, a[0], a[1], a[5]);

	memcpy(r.a, a, sizeof(r.a));
	return r;
}

#define A(...) ((const uint64_t[TRACE_NR_ARGS]){ __VA_ARGS__ })
#define MIB (1ull << 20)

/* Times of day: local in text, UTC in JSON, where they are known. */
static void test_clock(void **state)
{
	struct trace_clock clock = { .start_ns = 1000, .to_realtime_ns = 1700000000000000000 };
	struct trace_record r = { .time_ns = 2000003456000, .kind = TRACE_MUNMAP, .tgid = 7,
				  .comm = "x" };
	struct event e = { 0 };

	(void)state;
	setenv("TZ", "UTC0", 1);
	trace_heading(&e, &clock);
	trace_line(&e, &r, "", &clock, NULL, NULL, 0);
	assert_string_equal(str_text(&e.text),
			    "        TIME  COMMAND             PID  EVENT           DETAILS\n"
			    " 2000.003455  x                     7  munmap          0 B at 0x0\n");
	event_fini(&e);
	e = (struct event){ 0 };
	clock.show_realtime = true;
	trace_heading(&e, &clock);
	trace_line(&e, &r, "", &clock, NULL, NULL, 0);
	assert_string_equal(str_text(&e.text),
			    "           TIME  COMMAND             PID  EVENT           DETAILS\n"
			    "22:46:40.003456  x                     7  munmap          0 B at 0x0\n");
	for (size_t i = 0; i < e.fields.nr; i++)
		if (e.fields.v[i].key && !strcmp(e.fields.v[i].key, "realtime_ns"))
			assert_int_equal(e.fields.v[i].cell.u, 1700002000003456000);
	event_fini(&e);
}

static void test_lines_of_calls(void **state)
{
	uint64_t failed = -(uint64_t)ENOMEM, descriptor = 0xffffffff;

	(void)state;
	line_is(call(TRACE_MMAP, A(0, MIB, 5, 0x12, 4, failed)), "",
		LINE("mmap       ", "1.00 MiB rx private FIXED of descriptor 4 failed: ENOMEM"),
		"\"flags\": \"private FIXED\", \"descriptor\": 4, \"offset_bytes\": 0, "
		"\"error\": \"ENOMEM\"");
	line_is(call(TRACE_MMAP, A(0, MIB, 1, 2, 5ull << 32 | 7, 0x7f00, 8192, 99)), "/a/b",
		LINE("mmap       ", "1.00 MiB r private of /a/b from 8.00 KiB = 0x7f00"),
		"\"descriptor\": 7, \"offset_bytes\": 8192, \"inode\": 99, \"file\": \"/a/b\", "
		"\"result\": \"0x7f00\"");
	line_is(call(TRACE_MMAP, A(0, MIB, 1, 2, 5ull << 32 | 7, 0x7f00, 0, 99)), "",
		LINE("mmap       ", "1.00 MiB r private of descriptor 7 = 0x7f00"),
		"\"inode\": 99, \"result\": \"0x7f00\"");
	line_is(call(TRACE_MMAP, A(0, 128 * MIB, 0, 0x4022, descriptor, 0x7f00)), "",
		LINE("mmap       ", "128 MiB none private anonymous NORESERVE = 0x7f00, for an "
				    "arena of malloc"),
		"\"malloc_arena\": true");
	line_is(call(TRACE_MREMAP, A(0x1000, MIB, 3 * MIB, 1, 0, 0x2000)), "",
		LINE("mremap     ", "1.00 MiB at 0x1000 to 3.00 MiB = 0x2000"),
		"\"old_bytes\": 1048576, \"size_bytes\": 3145728, \"result\": \"0x2000\"");
	line_is(call(TRACE_MPROTECT, A(0x1000, MIB, 0)), "",
		LINE("mprotect   ", "1.00 MiB at 0x1000 none"), "\"protection\": \"none\"");
	line_is(call(TRACE_MADVISE, A(0x1000, MIB, 25)), "",
		LINE("madvise    ", "1.00 MiB at 0x1000 COLLAPSE"), "\"advice\": \"COLLAPSE\"");
	line_is(call(TRACE_MADVISE, A(0x1000, MIB, 99, 0, 0, -(uint64_t)EINVAL)), "",
		LINE("madvise    ", "1.00 MiB at 0x1000 99 failed: EINVAL"),
		"\"advice\": \"99\", \"error\": \"EINVAL\"");
	line_is(call(TRACE_BRK, A(0x9000, 0x1000, 0x5000, 0x4000, 0, 0x9000)), "",
		LINE("brk        ", "+16.0 KiB, heap 32.0 KiB, break 0x9000"),
		"\"result\": \"0x9000\", \"grown_bytes\": 16384, \"heap_bytes\": 32768");
	line_is(call(TRACE_BRK, A(0x4000, 0x1000, 0x5000, -0x1000ull, 0, 0x4000)), "",
		LINE("brk        ", "-4.00 KiB, heap 12.0 KiB, break 0x4000"),
		"\"grown_bytes\": -4096");
	line_is(call(TRACE_BRK, A(0x9000, 0x1000, 0x5000, 0, 0, 0x5000)), "",
		LINE("brk        ", "refused 0x9000, heap 16.0 KiB, break 0x5000"),
		"\"grown_bytes\": 0, \"heap_bytes\": 16384, \"refused\": true");
	line_is(call(TRACE_BRK, A(0, 0x1000, 0, 0, 0, 0x5000)), "",
		LINE("brk        ", "heap 16.0 KiB, break 0x5000"),
		"\"result\": \"0x5000\", \"heap_bytes\": 16384, \"refused\": false");
	line_is(call(TRACE_SHMGET, A(0, 8192, 01600, 0, 0, 12)), "",
		LINE("shmget     ", "private, 8.00 KiB, mode 600 CREAT = 12"),
		"\"key\": \"0x0\", \"size_bytes\": 8192, \"mode\": 384, \"creates\": true, \"id\": 12");
	line_is(call(TRACE_SHMAT, A(12, 0, 010000, 0, 0, 0x7000)), "",
		LINE("shmat      ", "segment 12 read-only = 0x7000"),
		"\"id\": 12, \"read_only\": true");
	line_is(call(TRACE_SHMDT, A(0x7000)), "", LINE("shmdt      ", "0x7000"),
		"\"address\": \"0x7000\"");
	line_is(call(TRACE_SHMCTL, A(12, 0)), "", LINE("shmctl     ", "segment 12 RMID"),
		"\"operation\": \"RMID\"");
	line_is(call(TRACE_SHM_OPEN, A(0, 0302, 0640, 0, 0, 3)), "pool",
		LINE("shm_open   ", "'pool' CREAT EXCL mode 640 = 3"),
		"\"name\": \"pool\", \"creates\": true, \"descriptor\": 3");
	line_is(call(TRACE_SHM_UNLINK, A(0, 0, 0, 0, 0, -(uint64_t)ENOENT)), "pool",
		LINE("shm_unlink ", "'pool' failed: ENOENT"), "\"error\": \"ENOENT\"");
	line_is(call(TRACE_MEMFD, A(0, 0, 0, 0, 0, 5)), "heap",
		LINE("memfd_create ", "'heap' = 5"), "\"name\": \"heap\"");
}

static void test_lines_of_the_oom_killer(void **state)
{
	struct trace_record r = call(TRACE_OOM, A(8, 77, 1000, -(uint64_t)17, 1));

	(void)state;
	line_is(r, "grow", LINE("oom_kill   ", "killed process 8 'grow' of uid 1000, oom_score_adj "
				"-17; process 7 asked for memory"),
		"\"victim_pid\": 8, \"victim_command\": \"grow\", \"victim_uid\": 1000, "
		"\"victim_oom_score_adj\": -17, \"victim_memory_cgroup\": 77");
	r.a[0] = 7;
	r.a[4] = 0;			/* Linux 5.10 */
	line_is(r, "", LINE("oom_kill   ", "killed process 7"),
		"\"victim_pid\": 7}");
	line_is(call(TRACE_OOM_SIZES, A(8, 16 * MIB, 4 * MIB, 2 * MIB, MIB, 4096)), "",
		LINE("oom_victim ", "process 8: resident about 4.00 MiB anonymous, 2.00 MiB of "
				    "files, 1.00 MiB shared; mapped 16.0 MiB, page tables "
				    "4.00 KiB"),
		"\"mapped_bytes\": 16777216, \"anonymous_bytes\": 4194304, "
		"\"file_bytes\": 2097152, \"shared_memory_bytes\": 1048576, "
		"\"page_table_bytes\": 4096");
	line_is(call(TRACE_OOM_REAPED, A(8)), "",
		LINE("oom_reaped ", "memory of process 8 is free"), "\"victim_pid\": 8");
}

static void test_what_was_so_at_the_kill(void **state)
{
	struct machine before[4] = { 0 }, now = { .time_ns = 10000000000, .total_bytes = 64 * MIB,
						  .available_bytes = MIB, .load = { 1, 2, 3 },
						  .pressure = { true, 12.5, 3 } };
	struct memcg group = { "/box", 24 * MIB, MIB };
	struct trace_oom c = { .pid = 8, .group = &group, .now = &now, .before = before,
			       .nr_before = 4 };
	struct style style = { .width = 120 };
	struct event e = { 0 };
	char *words = NULL;
	size_t n;
	FILE *out = open_memstream(&words, &n);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		before[i].time_ns = 6500000000 + i * 1000000000ull;
		before[i].available_bytes = (5 - i) * MIB;
		before[i].counter[MACHINE_MAJOR_FAULTS] = i * i;
	}
	now.counter[MACHINE_MAJOR_FAULTS] = 100;
	trace_oom_event(&e, &c);
	assert_int_equal(event_print_text(&e, &style, out), 0);
	fflush(out);
	assert_non_null(strstr(words, "  control group /box: limit 24.0 MiB, 1.00 MiB used a "
				      "moment later\n"));
	assert_non_null(strstr(words, "  machine: 1.00 MiB of 64.0 MiB available, no swap, load "
				      "average 1.00 2.00 3.00, memory pressure in the last 10 s: "));
	assert_non_null(strstr(words, "  3.50 s   5.00 MiB        0 B             1  "));
	assert_non_null(strstr(words, "  2.50 s   4.00 MiB        0 B             3  "));
	assert_non_null(strstr(words, "  500 ms   2.00 MiB        0 B            91  "));
	fseek(out, 0, SEEK_SET);
	assert_int_equal(event_print_json(&e, out), 0);
	fclose(out);
	assert_non_null(strstr(words, "\"cgroup\": \"/box\", \"limit_bytes\": 25165824, "
				      "\"usage_bytes\": 1048576, \"available_bytes\": 1048576"));
	assert_non_null(strstr(words, "\"before\": [{\"before_ns\": 3500000000, "));
	event_fini(&e);
	free(words);
}

/* A tail of two texts. */
static const char *two_texts(const char *first, const char *second, size_t bytes)
{
	static char tail[TRACE_TEXT_MAX + 1];

	memset(tail, 0, sizeof(tail));
	strcpy(tail, first);
	memcpy(tail + TRACE_TEXT_SECOND, second, bytes);
	return tail;
}

static void test_lines_of_files(void **state)
{
	struct trace_record r, cut = call(TRACE_UNLINK, A(1, 0, 0, 0, 0, -(uint64_t)ENOTEMPTY));

	(void)state;
	line_is(call(TRACE_OPEN, A(0, 01101, 0644, 0, 0, 3)), "log",
		LINE("open       ", "log to write, created if absent, truncated = 3"),
		"\"path\": \"log\", \"access\": \"write\", \"creates\": true, "
		"\"truncates\": true, \"flags\": \"CREAT TRUNC\", \"descriptor\": 3}");
	line_is(call(TRACE_OPEN, A(0, O_RDWR | O_TMPFILE | O_CLOEXEC | O_SYNC, 0, 0, 0, 3)), "d",
		LINE("open       ", "d to read and write TMPFILE SYNC = 3"),
		"\"flags\": \"CLOEXEC TMPFILE SYNC\"");
	line_is(call(TRACE_OPEN, A(0, O_WRONLY | O_APPEND | O_DSYNC | O_DIRECTORY, 0, 0, 0, 3)),
		"d",
		LINE("open       ", "d to write APPEND DIRECTORY DSYNC = 3"),
		"\"flags\": \"APPEND DIRECTORY DSYNC\"");
	line_is(call(TRACE_EXEC_FAILED, A(0, 0, 0, 0, 0, -(uint64_t)EACCES)), "/x",
		LINE("exec_failed ", "/x failed: EACCES"),
		"\"path\": \"/x\", \"error\": \"EACCES\"}");
	line_is(call(TRACE_OPEN, A(0, 0, 0, 0, 0, -(uint64_t)ENOENT)), "/x",
		LINE("open       ", "/x to read failed: ENOENT"),
		"\"access\": \"read\", \"creates\": false, \"truncates\": false, \"flags\": \"\", "
		"\"error\": \"ENOENT\"}");
	cut.flags = TRACE_CUT;
	line_is(cut, "d", LINE("unlink     ", "d (a directory) failed: ENOTEMPTY"),
		"\"path\": \"d\", \"path_cut\": true, \"directory\": true");
	/* what a terminal must not see */
	r = call(TRACE_MKDIR, A(0, 0, 0750));
	memcpy(r.comm, "v\033m\n", 5);
	line_is(r, "a\033[31m\nb\x9b",
		"    0.000500  v\\x1bm\\x0a 7 mkdir a\\x1b[31m\\x0ab\\x9b mode 750\n",
		"\"path\": \"a\\u001b[31m\\nb");
	line_is(call(TRACE_MKDIR, A(0, 0, 0750)), "d", LINE("mkdir      ", "d mode 750"),
		"\"mode\": 488");
	line_is(call(TRACE_RENAME_FILE, A(0)), two_texts("old", "new", 3),
		LINE("rename_file ", "old to new"),
		"\"path\": \"old\", \"new_path\": \"new\"");
}

static void test_lines(void **state)
{
	struct trace_record r = record(TRACE_MMAP, 7, 0, 8192, 0x7f0000001000);

	(void)state;
	r.a[2] = 3;			/* PROT_READ | PROT_WRITE */
	r.a[3] = 0x22;			/* MAP_PRIVATE | MAP_ANONYMOUS */
	line_is(r, "", LINE("mmap       ", "8.00 KiB rw private anonymous = 0x7f0000001000"),
		"\"event\": \"mmap\", \"since_start_ns\": 500000, \"pid\": 7, \"tid\": 7, "
		"\"command\": \"victim\", \"uid\": 0, \"size_bytes\": 8192, "
		"\"protection\": \"rw\", \"flags\": \"private anonymous\", "
		"\"result\": \"0x7f0000001000\"");
	line_is(record(TRACE_MUNMAP, 7, 0x1000, 4096, -(uint64_t)EINVAL), "",
		LINE("munmap     ", "4.00 KiB at 0x1000 failed: EINVAL"), "\"error\": \"EINVAL\"");
	r = record(TRACE_EXEC, 7, 6, 0, 0);
	r.tail_bytes = TRACE_TEXT_SECOND + 10;
	line_is(r, two_texts("/bin/ls", "ls\0-l\0a b", 10),
		LINE("exec       ", "/bin/ls, parent 6: ls -l 'a b'"),
		"\"file\": \"/bin/ls\", \"parent_pid\": 6, \"arguments\": [\"ls\", \"-l\", "
		"\"a b\"], \"arguments_cut\": false");
	r = call(TRACE_EXIT, A(3 << 8, 2 * MIB, 1, 6, 1500000000));
	line_is(r, "", LINE("exit       ",
			    "status 3, ran 1.50 s, peak resident size 2.00 MiB, parent 6"),
		"\"parent_pid\": 6, \"age_ns\": 1500000000, \"thread\": false, "
		"\"peak_resident_bytes\": 2097152, \"exit_status\": 3");
	r.a[0] = 11 | 0x80;
	line_is(r, "", LINE("exit       ", "killed by SIGSEGV, core dumped, ran 1.50 s, peak "
					   "resident size 2.00 MiB, parent 6"),
		"\"signal\": 11");
	line_is(call(TRACE_EXIT, A(0, 0, 0, 6, 1000)), "",
		LINE("exit       ", "thread 7, ran 1.00 us"), "\"thread\": true");
	line_is(record(TRACE_FORK, 7, 7, 9, 0), "", LINE("fork       ", "thread 9"),
		"\"child_pid\": 7, \"child_tid\": 9");
	line_is(record(TRACE_FORK, 7, 8, 8, 0), "", LINE("fork       ", "process 8"),
		"\"child_pid\": 8");
	line_is(record(TRACE_OOM_SCORE, 7, -(uint64_t)500, 8, 0), "",
		LINE("oom_score  ", "oom_score_adj of process 8 is -500"),
		"\"oom_score_adj\": -500");
}

/* ---- a session ---- */

struct seen {
	unsigned events, documents;
	int refuse;			/* what events answer after the first */
	char *document;			/* the last, as text */
	size_t bytes;
	char warning[200];		/* the last */
};

static int on_event(void *arg, const struct event *e)
{
	struct seen *s = arg;

	(void)e;
	return s->events++ ? s->refuse : 0;
}

static int on_document(void *arg, const struct doc *d, bool follows)
{
	struct seen *s = arg;
	struct style style = { .width = 100 };
	FILE *out;

	(void)follows;
	s->documents++;
	free(s->document);
	out = open_memstream(&s->document, &s->bytes);
	assert_int_equal(doc_print_text(d, &style, out), 0);
	fclose(out);
	return 0;
}

static void on_note(void *arg, enum session_kind kind, const char *text)
{
	struct seen *s = arg;

	if (kind == SESSION_WARNING)
		snprintf(s->warning, sizeof(s->warning), "%s", text);
}

static const struct session_ops sink_ops = { .note = on_note, .event = on_event,
					     .document = on_document };

/* Run a session over the fake; its result's text is in *seen. */
static int run(struct fake_kernel *f, struct trace_options *o, struct seen *seen, struct err *e)
{
	struct session_sink sink = { &sink_ops, seen };
	struct trace_session *s;
	int rc = loop_new(&o->loop);

	assert_int_equal(rc, 0);
	fake_kernel = f;
	o->source = &fake_source;
	rc = trace_session_open(&s, o, &sink, e);
	if (!rc)
		rc = trace_session_run(s, e);
	if (!rc)
		rc = trace_session_finish(s, e);
	trace_session_close(s);
	loop_free(o->loop);
	return rc;
}

static void has(const struct seen *s, const char *text)
{
	if (!strstr(s->document, text))
		print_message("%s\n", s->document);
	assert_non_null(strstr(s->document, text));
}

/* The same of a line of words, whose columns are as wide as their widest. */
static void has_words(const struct seen *s, const char *words)
{
	char *text = squeezed(s->document);

	assert_non_null(strstr(text, words));
	free(text);
}

static void test_a_trace(void **state)
{
	struct fake_record records[] = {
		{ record(TRACE_MMAP, 7, 0, 4096, 0x1000), "" },
		{ record(TRACE_BRK, 7, 0, 0, 0x1000), "" },
		{ record(TRACE_EXEC, 7, 0, 0, 0), "" },		/* not asked for */
		{ record(TRACE_MMAP, 7, 0, 4096, -(uint64_t)ENOMEM), "" },
	};
	struct fake_kernel f = {
		.records = records, .nr_records = NR(records), .per_step = 1,
		.counts = { [TRACE_MMAP] = { .seen = 12, .lost = 3, .dropped = 2 } },
		.groups = { [KERNEL_CALLS] = { KERNEL_GROUP_PARTLY, "one is missing", "try", 5 } },
	};
	struct trace_options o = { .classes = 1u << EVENT_MMAP | 1u << EVENT_BRK, .lines = true,
				   .scope = "process 7", .duration_ns = 150000000 };
	struct seen seen = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	assert_int_equal(f.opened, 1);
	assert_int_equal(f.closed, 1);
	assert_int_equal(f.asked.groups, 1u << KERNEL_CALLS);
	assert_int_equal(seen.events, 4);		/* a heading, three lines */
	assert_int_equal(seen.documents, 1);
	has(&seen, "traced        process 7, for ");
	has(&seen, "seen          12 events\n");
	has(&seen, "lost          3 events for want of room in the ring, 2 for want of room in a "
		   "table, 5 in programs\n                interrupted by themselves\n");
	has(&seen, "seen in part  mmap, brk: one is missing; try\n");
	has(&seen, "\n  mmap       2       1  4.00 KiB\n");
	has(&seen, "\n  brk        1                 -\n");
	free(seen.document);
}

/* A result for each interval has what happened in it, not since the beginning. */
static void test_intervals(void **state)
{
	struct fake_record records[] = { { record(TRACE_MMAP, 7, 0, 4096, 0x1000), "" } };
	struct fake_kernel f = { .records = records, .nr_records = 1,
				 .counts = { [TRACE_MMAP] = { .seen = 1 } } };
	struct trace_options o = { .classes = 1u << EVENT_MMAP, .scope = "all",
				   .duration_ns = 250000000, .interval_ns = 100000000 };
	struct seen seen = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	assert_true(seen.documents >= 2);
	has(&seen, "seen    0 events\n");	/* the last one */
	assert_null(strstr(seen.document, "mmap"));
	free(seen.document);
}

static void test_nobody_reads(void **state)
{
	struct fake_record records[] = { { record(TRACE_MMAP, 7, 0, 4096, 0x1000), "" } };
	struct fake_kernel f = { .records = records, .nr_records = 1 };
	struct trace_options o = { .classes = 1u << EVENT_MMAP, .lines = true, .scope = "all",
				   .duration_ns = 10000000000 };
	struct seen seen = { .refuse = -EPIPE };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), -EPIPE);
	assert_int_equal(seen.documents, 0);
	assert_int_equal(f.closed, 1);
}

static void test_a_source_that_refuses(void **state)
{
	struct fake_kernel f = { .open_error = -EPERM };
	char *argv[] = { "touch", "/nowhere/must-not-run", NULL };
	struct trace_options o = { .classes = 1u << EVENT_MMAP, .command = argv };
	struct seen seen = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), -EPERM);
	assert_string_equal(e.text, "the fake refuses");
	assert_int_equal(f.closed, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* no child is left */
	assert_int_equal(errno, ECHILD);
}

/* What is not seen is said as the trace begins and in its result; nothing at all is an error. */
static void test_a_group_that_fails(void **state)
{
	struct fake_kernel f = { .groups = {
		[KERNEL_CALLS] = { KERNEL_GROUP_FAILED, "no", "do", 0 },
		[KERNEL_LIFE] = { KERNEL_GROUP_WORKS, "", "", 0 },
		[KERNEL_OOM] = { KERNEL_GROUP_PARTLY, "half", "", 0 },
	} };
	struct trace_options o = { .classes = 1u << EVENT_BRK | 1u << EVENT_SHM | 1u << EVENT_OOM,
				   .scope = "all", .duration_ns = 1, .kernel = { .follow = true } };
	struct seen seen = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	assert_string_equal(seen.warning, "not seen: brk, shm: no; do");
	has(&seen, "  not seen      brk, shm: no; do\n  seen in part  oom: half\n");
	free(seen.document);

	f.groups[KERNEL_LIFE] = (struct kernel_group_state){ KERNEL_GROUP_FAILED, "nor", "", 0 };
	seen = (struct seen){ 0 };
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	has(&seen, "  seen in part  oom: half\n  not seen      life: nor\n");
	free(seen.document);

	/* what helps with all of them is said once */
	f.groups[KERNEL_OOM] = (struct kernel_group_state){ KERNEL_GROUP_PARTLY, "half", "do", 0 };
	f.groups[KERNEL_LIFE] = (struct kernel_group_state){ KERNEL_GROUP_FAILED, "nor", "do", 0 };
	seen = (struct seen){ 0 };
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	has(&seen, "  not seen      brk, shm: no\n  seen in part  oom: half\n"
		   "  not seen      life: nor\n  to see all    do\n");
	free(seen.document);

	o.classes = 1u << EVENT_BRK | 1u << EVENT_MMAP;
	f.groups[KERNEL_LIFE].status = KERNEL_GROUP_WORKS;
	seen = (struct seen){ 0 };
	assert_int_equal(run(&f, &o, &seen, &e), -ENODATA);
	assert_string_equal(e.text, "mmap, brk cannot be seen: no");
	assert_string_equal(e.hint, "do");
	assert_int_equal(seen.documents, 0);
	assert_int_equal(f.opened, f.closed);
}

static void test_a_command(void **state)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	struct fake_kernel f = { 0 };
	struct trace_options o = { .classes = 1u << EVENT_MMAP, .command = argv };
	struct seen seen = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&f, &o, &seen, &e), 0);
	assert_int_equal(f.asked.groups, 1u << KERNEL_CALLS | 1u << KERNEL_LIFE);
	assert_int_equal(f.asked.nr_pids, 1);
	has(&seen, "traced  sh, for ");
	has(&seen, "lost    nothing\n");
	free(seen.document);
	argv[0] = "/nowhere/program";
	assert_int_equal(run(&f, &o, &seen, &e), -ENOENT);
	assert_string_equal(e.text, "cannot execute '/nowhere/program': No such file or directory");
	assert_int_equal(e.exit_code, 127);
}

static void test_list(void **state)
{
	struct fake_kernel f = { .groups = { [KERNEL_LIFE] = { KERNEL_GROUP_WORKS, "", "", 0 },
					     [KERNEL_CALLS] = { KERNEL_GROUP_FAILED, "no", "do",
								0 } } };
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct seen seen = { 0 };
	struct doc d = { 0 };

	(void)state;
	fake_kernel = &f;
	trace_session_try(&fake_source, groups);
	trace_list_document(&d, groups, &(struct trace_list_form){ .name = "bpf" });
	on_document(&seen, &d, false);
	has_words(&seen, " brk no every change of the program break, by stack (brkstack)");
	has_words(&seen, " life yes programs, ");
	has(&seen, "without EVENTS: all but faults, ");
	has(&seen, "mmap, brk, shm: no; do\n");
	doc_fini(&d);
	free(seen.document);
	f.open_error = -EPERM;
	trace_session_try(&fake_source, groups);
	assert_int_equal(groups[KERNEL_LIFE].status, KERNEL_GROUP_FAILED);
	assert_string_equal(groups[KERNEL_LIFE].why, "the fake refuses");
}

/* ---- the gate ---- */

static void test_a_gate_that_stays_closed(void **state)
{
	char *argv[] = { "sh", "-c", "kill -9 $PPID", NULL };
	struct err e = { 0 };
	struct gate g;

	(void)state;
	assert_int_equal(gate_fork(&g, argv, NULL, &e), 0);
	assert_int_equal(kill(g.pid, 0), 0);
	gate_close(&g);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_the_programs_signal_mask(void **state)
{
	char *argv[] = { "sh", "-c", "exec grep -q '^SigBlk:.*0000000000000200$' /proc/self/status",
			 NULL };
	struct err e = { 0 };
	sigset_t mask;
	struct gate g;
	int status;

	(void)state;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	assert_int_equal(gate_fork(&g, argv, &mask, &e), 0);
	assert_int_equal(gate_open(&g, &e), 0);
	assert_int_equal(waitpid(g.pid, &status, 0), g.pid);
	assert_int_equal(status, 0);
	gate_collected(&g);
	gate_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_lists_of_events),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_folded_stacks),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_of_calls),
		cmocka_unit_test(test_lines_of_files),
		cmocka_unit_test(test_lines_of_the_oom_killer),
		cmocka_unit_test(test_what_was_so_at_the_kill),
		cmocka_unit_test(test_a_trace),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_nobody_reads),
		cmocka_unit_test(test_a_source_that_refuses),
		cmocka_unit_test(test_a_group_that_fails),
		cmocka_unit_test(test_a_command),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_a_gate_that_stays_closed),
		cmocka_unit_test(test_the_programs_signal_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
