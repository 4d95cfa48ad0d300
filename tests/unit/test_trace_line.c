/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of a trace, as text and JSON. Also of src/view/trace/trace_calls.c, trace_files.c,
 * trace_life.c, trace_oom.c.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>

#include "src/document/event.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_oom.h"
#include "tests/unit/trace_made.h"
#include "tests/unit/trace_text.h"

static void line_is(struct trace_record r, const char *tail, const char *text, const char *json)
{
	char *line, *expected;
	struct event e = { 0 };

	trace_line(&e, &r, tail, &(struct trace_clock){ .start_ns = 1000000 }, NULL, NULL, 0);
	assert_int_equal(event_error(&e), 0);
	line = squeezed(str_text(&e.text));
	expected = squeezed(text);
	assert_string_equal(line, expected);
	free(line);
	free(expected);
	event_json_has(&e, json);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_of_calls),
		cmocka_unit_test(test_lines_of_files),
		cmocka_unit_test(test_lines_of_the_oom_killer),
		cmocka_unit_test(test_what_was_so_at_the_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
