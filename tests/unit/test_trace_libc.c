/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The class `libc`, with records made here: src/kernel/libc/libc_probes.c,
 * src/analyze/trace/libc_calls.c, src/view/trace/trace_libc.c,
 * src/session/trace/trace_libc_source.c, trace_lacks.c, trace_try.c.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "src/analyze/trace/libc_calls.h"
#include "src/document/event.h"
#include "src/kernel/event_class.h"
#include "src/kernel/libc/libc_probes.h"
#include "src/session/trace/trace_libc_source.h"
#include "src/session/trace/trace_session.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/unit/trace_text.h"

#define MIB	(1ull << 20)
#define BASE	0x7f0000000000ull	/* aligned as a heap is */
#define A(...)	((uint64_t[TRACE_NR_ARGS]){ __VA_ARGS__ })

static struct trace_record call(uint32_t kind, uint32_t tid, const uint64_t *a)
{
	struct trace_record r = { .kind = kind, .tgid = 7, .tid = tid, .weight = 1,
				  .comm = "victim" };

	memcpy(r.a, a, sizeof(r.a));
	return r;
}

/* What a call of malloc's means: "kind address bytes, ..." */
static void means(struct libc_calls *c, struct trace_record r, enum libc_caller caller,
		  const char *expected)
{
	struct trace_record out[2];
	struct str s = STR_INIT;
	int nr = libc_calls_take(c, &r, caller, out);

	for (int i = 0; i < nr; i++) {
		str_addf(&s, "%s%s %llx %llu", i ? ", " : "", trace_kinds[out[i].kind].name,
			 (unsigned long long)out[i].a[0], (unsigned long long)out[i].a[1]);
		assert_int_equal(out[i].a[5], 0);
		assert_int_equal(out[i].tid, r.tid);
	}
	assert_string_equal(str_text(&s), expected);
	str_fini(&s);
}

#define RESERVE(tid, bytes, result)                                                                \
	call(TRACE_MMAP, tid, A(0, bytes, PROT_NONE,                                               \
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, result))
#define OPEN(tid, at, bytes)	call(TRACE_MPROTECT, tid, A(at, bytes, PROT_READ | PROT_WRITE))

static void test_calls(void **state)
{
	struct libc_calls c = { 0 };

	(void)state;
	/* the program break: a question, growth, less, by others */
	means(&c, call(TRACE_BRK, 7, A(0, 0, 0, 0, 0, 0x5000)), LIBC_ALLOCATES, "");
	means(&c, call(TRACE_BRK, 7, A(0x9000, 0x1000, 0x5000, 0x4000, 0, 0x9000)), LIBC_ALLOCATES,
	      "libc_sbrk_more 5000 16384");
	means(&c, call(TRACE_BRK, 7, A(0x8000, 0x1000, 0x9000, -4096ull, 0, 0x8000)), LIBC_FREES,
	      "libc_sbrk_less 8000 4096");
	means(&c, call(TRACE_BRK, 7, A(0x9000, 0x1000, 0x8000, 0x1000, 0, 0x9000)), LIBC_OTHER, "");
	assert_int_equal(c.others, 1);
	means(&c, call(TRACE_BRK, 7, A(0x9000, 0x1000, 0x8000, 0x1000, 0, 0x9000)), LIBC_UNKNOWN,
	      "");
	assert_int_equal(c.others, 1);
	assert_int_equal(c.unknown, 1);
	/* a mapping of its own, a file's, one that failed */
	means(&c, call(TRACE_MMAP, 7, A(0, MIB, 3, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0x10000)),
	      LIBC_ALLOCATES, "libc_mmap 10000 1048576");
	means(&c, call(TRACE_MMAP, 7, A(0, MIB, 3, MAP_PRIVATE, 4, 0x10000)), LIBC_ALLOCATES, "");
	means(&c, call(TRACE_MMAP, 7, A(0, MIB, 3, MAP_PRIVATE | MAP_ANONYMOUS, 0, -12ull)),
	      LIBC_ALLOCATES, "");
	means(&c, call(TRACE_MUNMAP, 7, A(0x10000, MIB)), LIBC_FREES, "libc_munmap 10000 1048576");
	/* given back inside the first heap; other advice */
	means(&c, call(TRACE_MADVISE, 7, A(0x6000, 4096, MADV_DONTNEED)), LIBC_FREES,
	      "libc_trim 6000 4096");
	means(&c, call(TRACE_MADVISE, 7, A(0x6000, 4096, MADV_HUGEPAGE)), LIBC_ALLOCATES, "");
	libc_calls_fini(&c);
}

static void test_heaps(void **state)
{
	struct libc_calls c = { 0 };

	(void)state;
	/* 128 MiB that are not aligned: cut to a heap */
	means(&c, RESERVE(8, 128 * MIB, BASE - 0x5000), LIBC_ALLOCATES, "");
	means(&c, call(TRACE_MUNMAP, 8, A(BASE - 0x5000, 0x5000)), LIBC_ALLOCATES, "");
	means(&c, call(TRACE_MUNMAP, 8, A(BASE + 64 * MIB, 64 * MIB - 0x5000)), LIBC_ALLOCATES, "");
	means(&c, OPEN(8, BASE, 135168), LIBC_ALLOCATES,
	      "libc_heap_new 7f0000000000 135168, libc_arena_new 7f0000000000 135168");
	means(&c, OPEN(8, BASE + 135168, 4096), LIBC_ALLOCATES, "libc_heap_more 7f0000021000 4096");
	means(&c, call(TRACE_MPROTECT, 8, A(BASE, 4096, PROT_NONE)), LIBC_ALLOCATES, "");
	means(&c, OPEN(8, 0x1000, 4096), LIBC_ALLOCATES, "");
	means(&c, call(TRACE_MADVISE, 8, A(BASE + 8192, 4096, MADV_DONTNEED)), LIBC_FREES,
	      "libc_heap_less 7f0000002000 4096");
	/* a further heap of the same thread, of 64 MiB that are aligned */
	means(&c, RESERVE(8, 64 * MIB, BASE + 64 * MIB), LIBC_ALLOCATES, "");
	means(&c, OPEN(8, BASE + 64 * MIB, 135168), LIBC_ALLOCATES,
	      "libc_heap_new 7f0004000000 135168");
	means(&c, call(TRACE_MUNMAP, 8, A(BASE + 64 * MIB, 64 * MIB)), LIBC_FREES,
	      "libc_heap_free 7f0004000000 67108864");
	means(&c, OPEN(8, BASE + 64 * MIB, 4096), LIBC_ALLOCATES, "");
	/* 64 MiB that are not aligned are none; another thread has an arena of its own */
	means(&c, RESERVE(9, 64 * MIB, BASE + 0x1000), LIBC_ALLOCATES, "");
	means(&c, RESERVE(9, 128 * MIB, BASE + 512 * MIB), LIBC_ALLOCATES, "");
	means(&c, OPEN(9, BASE + 512 * MIB, 4096), LIBC_ALLOCATES,
	      "libc_heap_new 7f0020000000 4096, libc_arena_new 7f0020000000 4096");
	/* another program */
	means(&c, call(TRACE_EXEC, 7, A(1)), LIBC_OTHER, "");
	means(&c, OPEN(9, BASE + 512 * MIB + 4096, 4096), LIBC_ALLOCATES, "");
	assert_int_equal(c.others, 0);
	libc_calls_fini(&c);
}

static void test_callers(void **state)
{
	static const char *const allocate[] = { "malloc", "__libc_malloc", "calloc",
						"posix_memalign", "__libc_memalign" };
	static const char *const frees[] = { "free", "__libc_free", "malloc_trim", "cfree" };
	static const char *const others[] = { "mallocs", "sbrk", "__libc_start_main", "" };

	(void)state;
	for (unsigned i = 0; i < NR(allocate); i++)
		assert_int_equal(libc_caller_of(allocate[i]), LIBC_ALLOCATES);
	for (unsigned i = 0; i < NR(frees); i++)
		assert_int_equal(libc_caller_of(frees[i]), LIBC_FREES);
	for (unsigned i = 0; i < NR(others); i++)
		assert_int_equal(libc_caller_of(others[i]), LIBC_OTHER);
	assert_true(libc_is_name("/lib/libc.so.6") && libc_is_name("/x/libc-2.31.so"));
	assert_false(libc_is_name("/lib/libc.so") || libc_is_name("libc.so.6") ||
		     libc_is_name("/lib/ld-musl-x86_64.so.1"));
}

/* ---- files ---- */

static void test_files(void **state)
{
	struct libc_files f = { 0 };
	char text[160], path[32];

	(void)state;
	libc_files_why_none(NULL, text, sizeof(text));
	assert_string_equal(text, "no process maps a libc.so.6");
	/* this program itself has none; nor has what is no ELF file, or not there */
	assert_int_equal(libc_files_add(&f, "/proc/self/exe", "/one"), 0);
	assert_int_equal(libc_files_add(&f, "/proc/self/exe", "/again"), 0);
	assert_int_equal(libc_files_add(&f, "/proc/self/maps", "/two"), 0);
	assert_int_equal(libc_files_add(&f, "/nowhere/libc.so.6", "/three"), 0);
	assert_int_equal(f.v.nr, 3);
	assert_int_equal(f.v.v[0].state, LIBC_HAS_NONE);
	assert_int_equal(f.v.v[1].state, LIBC_UNREADABLE);
	assert_int_equal(f.v.v[2].state, LIBC_UNREADABLE);
	assert_int_equal(libc_files_probed(&f), 0);
	libc_files_why_none(&f, text, sizeof(text));
	assert_string_equal(text, "/one has no probes (.note.stapsdt)");
	for (unsigned i = 0; i < LIBC_MAX_FILES; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u", i);
		assert_int_equal(libc_files_add(&f, path, path), 0);
	}
	assert_int_equal(f.v.nr, LIBC_MAX_FILES);
	assert_int_equal(f.left_out, 3);
	libc_files_fini(&f);
	/* a process that is not there adds nothing */
	assert_int_equal(libc_files_of(&f, 0x7ffffff0), 0);
	assert_int_equal(f.v.nr + f.without, 0);
	libc_files_fini(&f);
}

static void test_numbers_of_probes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LIBC_NR_PROBES; i++) {
		assert_non_null(libc_probes[i].name);
		assert_int_equal(trace_kinds[libc_probes[i].kind].event, EVENT_LIBC);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(libc_probes[i].name, libc_probes[k].name);
	}
}

/* ---- lines and the result ---- */

static uint64_t number_of(const char *probe)
{
	for (unsigned i = 0; i < LIBC_NR_PROBES; i++)
		if (!strcmp(libc_probes[i].name, probe))
			return i + 1;
	return 0;
}

static void line_is(uint32_t kind, uint64_t a, uint64_t b, const char *probe, const char *part,
		    const char *json)
{
	struct trace_record r = call(kind, 7, A(a, b, 0, 0, 0, number_of(probe)));
	struct event e = { 0 };

	trace_line(&e, &r, "", NULL, NULL, NULL, 0);
	event_has(&e, part, json);
}

static void test_lines(void **state)
{
	(void)state;
	line_is(TRACE_LIBC_SBRK_MORE, 0x1000, 8192, "memory_sbrk_more",
		"libc_sbrk_more  8.00 KiB at 0x1000\n",
		"\"probe\": \"memory_sbrk_more\", \"address\": \"0x1000\", \"size_bytes\": 8192}");
	line_is(TRACE_LIBC_TRIM, 0x1000, 8192, "", "libc_trim       8.00 KiB at 0x1000\n",
		"\"uid\": 0, \"address\"");
	line_is(TRACE_LIBC_ARENA_FREE_LIST, 0x1000, 0, "memory_arena_reuse_free_list",
		"arena 0x1000 that no thread uses\n", "\"address\": \"0x1000\"}");
	line_is(TRACE_LIBC_ARENA_WAIT, 0x1000, 0x2000, "memory_arena_reuse_wait",
		"arena 0x2000, waits for its lock\n", "\"address\": \"0x2000\"}");
	line_is(TRACE_LIBC_RETRY, 100, 0x2000, "memory_malloc_retry",
		"100 B in another arena\n", "\"size_bytes\": 100}");
	line_is(TRACE_LIBC_RETRY, 100, 0x2000, "memory_realloc_retry",
		"100 B in another arena, block 0x2000\n", "\"address\": \"0x2000\"}");
	line_is(TRACE_LIBC_ARENA_RETRY, 100, 0x2000, "memory_arena_retry",
		"100 B in another arena than 0x2000\n", "\"address\": \"0x2000\"}");
	line_is(TRACE_LIBC_MALLOPT, (uint64_t)-8, 2, "memory_mallopt", "M_ARENA_MAX, -8 = 2\n",
		"\"parameter\": -8, \"value\": 2, \"parameter_name\": \"M_ARENA_MAX\"}");
	line_is(TRACE_LIBC_MALLOPT, 99, (uint64_t)-1, "memory_mallopt", "parameter 99 = -1\n",
		"\"parameter\": 99, \"value\": -1}");
	line_is(TRACE_LIBC_MALLOPT, 9, 8, "memory_tunable_tcache_count",
		"tunable_tcache_count = 9, before 8\n", "\"value\": 9, \"former_value\": 8}");
	line_is(TRACE_LIBC_DOUBLE_FREE, 0x3000, 1, "memory_tcache_double_free", "block 0x3000\n",
		"\"address\": \"0x3000\"}");
}

static void test_result(void **state)
{
	struct kernel_group_state groups[KERNEL_NR_GROUPS] = { 0 };
	struct libc_files files = { .left_out = 2, .without = 1 };
	struct trace_result t = { .groups = groups, .libc = &files, .libc_by_calls = true,
				  .libc_others = 5, .libc_unknown = 3 };
	char *text;

	(void)state;
	assert_int_equal(libc_files_add(&files, "/proc/self/exe", "/x/libc.so.6"), 0);
	text = section_text(trace_section_libc, &t, false);
	has(text, "seen by        system calls that malloc and free make");
	has(text, "no probes      /x/libc.so.6 has no probes (.note.stapsdt)\n");
	has(text, "left out       2 libraries\n");
	has(text, "without glibc  1 process (");
	has(text, "other calls    5 calls of memory not by malloc\n");
	has(text, "not known      whose 3 calls were: ");
	free(text);
	t.libc_by_calls = false;
	text = section_text(trace_section_libc, &t, false);
	has(text, "probes of the C library\n");
	free(text);
	groups[KERNEL_LIBC].status = KERNEL_GROUP_FAILED;
	text = section_text(trace_section_libc, &t, false);
	has(text, "nothing: which calls are malloc's");
	free(text);
	libc_files_fini(&files);
}

/* Where records are derived, what calls have lost is lost to them, once. */
static void test_counts(void **state)
{
	static struct trace_totals totals;
	struct trace_counts counts[TRACE_NR_KINDS] = { 0 };
	struct trace_libc l = { 0 };
	struct trace_record small = call(TRACE_LIBC_MMAP, 7, A(0, 4096));

	(void)state;
	totals.kind[TRACE_LIBC_MMAP].sum.events = 9;
	counts[TRACE_BRK].lost = 3;
	counts[TRACE_MMAP].lost = 5;
	counts[TRACE_MMAP].dropped = 1;
	trace_libc_count(&l, 1u << EVENT_LIBC, &totals, counts);
	assert_int_equal(counts[TRACE_LIBC_MMAP].seen, 0);
	l.by_calls = true;
	trace_libc_count(&l, 1u << EVENT_LIBC | 1u << EVENT_MMAP, &totals, counts);
	assert_int_equal(counts[TRACE_LIBC_MMAP].seen, 9);
	assert_int_equal(counts[TRACE_LIBC_SBRK_MORE].lost, 3);
	assert_int_equal(counts[TRACE_LIBC_SBRK_MORE].dropped, 0);
	counts[TRACE_LIBC_SBRK_MORE].lost = 0;
	trace_libc_count(&l, 1u << EVENT_LIBC, &totals, counts);
	assert_int_equal(counts[TRACE_LIBC_SBRK_MORE].lost, 8);
	assert_int_equal(counts[TRACE_LIBC_SBRK_MORE].dropped, 1);
	assert_true(trace_libc_is_small(&small, 8192));
	assert_false(trace_libc_is_small(&small, 4096));
	small.kind = TRACE_MMAP;
	assert_false(trace_libc_is_small(&small, 8192));
}

static int refuses(const struct kernel_options *o, void **out, struct err *e)
{
	(void)out;
	assert_non_null(o->libc);
	err_hint(e, "another day");
	return err_set(e, -EPERM, "not here");
}

/* Where nothing can be opened, each group says why. */
static void test_a_trial(void **state)
{
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	const struct kernel_source_ops ops = { .name = "none", .open = refuses };

	(void)state;
	trace_session_try(&ops, groups);
	for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
		assert_int_equal(groups[i].status, KERNEL_GROUP_FAILED);
		assert_string_equal(groups[i].why, "not here");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_numbers_of_probes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_a_trial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
