/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The class `stack`, with records, stacks and tables made here:
 * src/analyze/trace/stack_overflow.c, src/view/trace/trace_segv.c, trace_depth.c.
 */
#include "tests/unit/unit.h"

#include <signal.h>

#include "bpf/stack_abi.h"
#include "src/analyze/trace/stack_overflow.h"
#include "src/document/event.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/unit/trace_text.h"

#define KIB	1024ull
#define TOP	0x7000000ull
#define LOW	(TOP - 256 * KIB)

/* A signal of memory: about an address, with that stack pointer, on a stack of 256 KiB. */
static struct trace_record bad_access(uint64_t address, uint64_t sp, enum stack_sort sort,
				      uint32_t flags, int code)
{
	return (struct trace_record){
		.kind = TRACE_SEGV, .tgid = 7, .tid = 7, .weight = 1, .comm = "victim",
		.a = { address, sp,
		       SIGSEGV | (uint64_t)sort << STACK_SORT_SHIFT | flags |
			       (uint64_t)(uint32_t)code << STACK_CODE_SHIFT,
		       sort ? TOP : 0, sort ? 256 * KIB : 0,
		       sort == STACK_THREAD || sort == STACK_OTHER ? 4 * KIB : 0 },
	};
}

/* One frame, of which the stack pointer is the lower end. */
static struct user_stack frame(uint64_t low, uint64_t end)
{
	return (struct user_stack){ .nr = 1, .end = USER_STACK_SHORT, .frame = { 0x401000 },
				    .frame_end = { end }, .lowest = low };
}

static enum overflow_cause cause(struct trace_record r, const struct user_stack *w)
{
	struct stack_overflow o;

	stack_overflow_judge(&o, &r, w);
	return o.cause;
}

static void test_overflows(void **state)
{
	struct user_stack near = frame(LOW - 8, LOW + 100), far = frame(LOW - 512 * KIB, LOW + 100);
	struct user_stack wild = frame(0x1000, 0x1100);

	(void)state;
	/* a thread's */
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_THREAD, STACK_HIT_GUARD, 2),
			       &near), OVERFLOW_GUARD);
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_OTHER, 0, 1), &near),
			 OVERFLOW_BEYOND);
	assert_int_equal(cause(bad_access(LOW - 512 * KIB, LOW - 512 * KIB, STACK_THREAD, 0, 1),
			       &far), OVERFLOW_BEYOND);
	/* as far below as functions without calls may touch, and one byte further */
	assert_int_equal(cause(bad_access(LOW - 1, LOW - 1 + 64 * KIB, STACK_THREAD, 0, 1), NULL),
			 OVERFLOW_BEYOND);
	assert_int_equal(cause(bad_access(LOW - 1, LOW + 64 * KIB, STACK_THREAD, 0, 1), NULL),
			 OVERFLOW_NONE);
	/* in the stack; of a protection key; a pointer's, however near the guard */
	assert_int_equal(cause(bad_access(LOW, LOW, STACK_THREAD, 0, 2), NULL), OVERFLOW_NONE);
	assert_int_equal(cause(bad_access(LOW - 8, LOW, STACK_THREAD, 0, SEGV_PKUERR), NULL),
			 OVERFLOW_NONE);
	assert_int_equal(cause(bad_access(LOW - 8, TOP - 100, STACK_THREAD, STACK_HIT_GUARD, 2),
			       NULL), OVERFLOW_NONE);
	/* a stack pointer below, whose frame does not end in the stack, or has no known end */
	assert_int_equal(cause(bad_access(0x1000, 0x1000, STACK_THREAD, 0, 1), &wild),
			 OVERFLOW_NONE);
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_THREAD, 0, 1), NULL),
			 OVERFLOW_NONE);
	/* the first thread's */
	assert_int_equal(cause(bad_access(LOW - 8, LOW + 8, STACK_MAIN, 0, 1), NULL),
			 OVERFLOW_LIMIT);
	assert_int_equal(cause(bad_access(LOW + 8, LOW + 16, STACK_MAIN, 0, 1), NULL),
			 OVERFLOW_REFUSED);
	assert_int_equal(cause(bad_access(LOW + 8, LOW + 16, STACK_MAIN, STACK_NEIGHBOUR, 1), NULL),
			 OVERFLOW_NEIGHBOUR);
	assert_int_equal(cause(bad_access(LOW + 8, LOW + 16, STACK_MAIN, 0, 2), NULL),
			 OVERFLOW_NONE);
	/* nothing is known of the stack */
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_UNKNOWN, 0, 2), &near),
			 OVERFLOW_NONE);
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_UNKNOWN, STACK_NO_AREAS, 2),
			       &near), OVERFLOW_PROTECTED);
	assert_int_equal(cause(bad_access(LOW - 8, LOW - 8, STACK_UNKNOWN, STACK_NO_AREAS, 1),
			       &near), OVERFLOW_NONE);
	/* sent, of the kernel, another signal */
	assert_int_equal(cause(bad_access(LOW - 8, LOW, STACK_MAIN, 0, SI_USER), NULL),
			 OVERFLOW_NONE);
	assert_int_equal(cause(bad_access(0, LOW, STACK_MAIN, 0, SI_KERNEL), NULL), OVERFLOW_NONE);
}

static void test_sizes(void **state)
{
	struct trace_record r = bad_access(LOW - 512 * KIB, LOW - 512 * KIB, STACK_THREAD, 0, 1);
	struct user_stack w = frame(LOW - 600 * KIB, LOW + 100);
	struct stack_overflow o;

	(void)state;
	stack_overflow_judge(&o, &r, &w);
	assert_int_equal(o.frame_bytes, 600 * KIB + 100);
	assert_int_equal(o.used_bytes, TOP - LOW - 100);
	assert_int_equal(o.limit_bytes, 256 * KIB);
	assert_int_equal(o.guard_bytes, 4 * KIB);
	r = bad_access(LOW + 8, LOW + 16, STACK_MAIN, STACK_NEIGHBOUR, 1);
	r.a[4] = 0;			/* unlimited */
	r.a[5] = LOW - 1000 * KIB;
	stack_overflow_judge(&o, &r, NULL);
	assert_int_equal(o.neighbour_bytes, 1000 * KIB + 8);
	assert_int_equal(o.guard_bytes, 0);
	assert_int_equal(o.cause, OVERFLOW_NEIGHBOUR);
	r.a[2] |= (uint64_t)STACK_SORT_MASK << STACK_SORT_SHIFT;	/* none that there is */
	stack_overflow_judge(&o, &r, NULL);
	assert_int_equal(o.sort, STACK_UNKNOWN);
	assert_int_equal(o.limit_bytes, 0);
}

/* `nr` frames of 100 bytes, whose functions come again after `period`, behind `first` others. */
static struct user_stack recursion(unsigned nr, unsigned first, unsigned period)
{
	struct user_stack w = { .nr = nr, .end = USER_STACK_SHORT, .lowest = LOW - 100 };

	for (unsigned i = 0; i < nr; i++) {
		w.frame[i] = i < first ? 0x100 + i : 0x1000 + (i - first) % period;
		w.frame_end[i] = LOW + (i + 1) * 100;
	}
	return w;
}

static struct stack_overflow judged(const struct user_stack *w)
{
	struct trace_record r = bad_access(LOW - 8, LOW - 8, STACK_THREAD, STACK_HIT_GUARD, 2);
	struct stack_overflow o;

	stack_overflow_judge(&o, &r, w);
	return o;
}

static void test_repeats(void **state)
{
	struct user_stack w = recursion(60, 1, 1);
	struct stack_overflow o = judged(&w);

	(void)state;
	/* from frame_end[1] to the top, 100 bytes each */
	assert_int_equal(o.repeats, (256 * KIB - 200) / 100 + 1);
	assert_int_equal(o.repeated, 1);
	assert_true(!o.exact && o.computed);
	w = recursion(60, 2, 3);
	o = judged(&w);
	assert_int_equal(o.repeats, (256 * KIB - 300) / 300 + 1);
	assert_int_equal(o.repeated, 2);
	/* the caller of the recursion is on the copy: counted */
	w = recursion(60, 1, 1);
	w.frame[59] = 0x9999;
	o = judged(&w);
	assert_int_equal(o.repeats, 58);
	assert_true(o.exact);
	/* four times are a recursion, three are not */
	w = recursion(5, 1, 1);
	assert_int_equal(judged(&w).repeats, (256 * KIB - 200) / 100 + 1);
	w = recursion(4, 1, 1);
	assert_int_equal(judged(&w).repeats, 0);
	/* the period is too long */
	w = recursion(128, 0, 17);
	assert_int_equal(judged(&w).repeats, 0);
	/* ends of frames that make no sense */
	w = recursion(60, 1, 1);
	for (unsigned i = 1; i < 60; i++)
		w.frame_end[i] = LOW + 100 - i;
	o = judged(&w);
	assert_int_equal(o.repeats, 59);
	assert_true(!o.exact && !o.computed);
}

/* ---- lines ---- */

static void line_is(struct trace_record r, const struct user_stack *w, const char *part,
		    const char *json)
{
	struct event e = { 0 };

	trace_line_walked(&e, &r, "", NULL, NULL, NULL, 0, w);
	event_has(&e, part, json);
}

static void test_lines_of_overflows(void **state)
{
	struct user_stack w = recursion(60, 1, 1), one = frame(LOW - 100, LOW + 100);
	struct trace_record r = bad_access(LOW - 8, LOW - 8, STACK_THREAD, STACK_HIT_GUARD, 2);

	(void)state;
	line_is(r, &w, "SIGSEGV at 0x6fbfff8: stack overflow, frame of 200 B; the guard of 4.00 "
		"KiB below the thread's stack of 256 KiB was hit; its callers use 256 KiB; a function "
		"about 2,620 times\n",
		"\"address\": \"0x6fbfff8\", \"stack_pointer\": \"0x6fbfff8\", \"why\": \"its "
		"protection forbids it\", \"stack_overflow\": true, \"frame_bytes\": 200, "
		"\"stack_sort\": \"thread\", \"stack_limit_bytes\": 262144, \"stack_used_bytes\": "
		"262044, \"guard_bytes\": 4096, \"in_guard\": true, \"overflow_cause\": \"guard\", "
		"\"repeats\": 2620, \"repeats_estimated\": true");
	r = bad_access(LOW - 8, LOW - 8, STACK_THREAD, STACK_HANDLED, 1);
	line_is(r, &one, "the guard of 4.00 KiB below the thread's stack of 256 KiB was jumped "
		"over; its callers use 256 KiB; the process handles it\n",
		"\"overflow_cause\": \"below\"");
	r = bad_access(LOW - 8, LOW - 8, STACK_OTHER, 0, 1);
	r.a[5] = 0;
	line_is(r, &one, "; a stack of at most 256 KiB, without a guard, has ended; its callers "
		"use at most 256 KiB\n", "\"handled\": false");
	r = bad_access(LOW - 8, LOW + 8, STACK_MAIN, 0, 1);
	line_is(r, NULL, ": stack overflow; the first thread's stack of at most 256 KiB is full; "
		"its callers use 256 KiB\n", "\"overflow_cause\": \"limit\"");
	r = bad_access(LOW + 8, LOW + 16, STACK_MAIN, STACK_NEIGHBOUR, 1);
	r.a[5] = LOW - 1000 * KIB;
	line_is(r, NULL, " cannot grow: another mapping is 1000 KiB below; its callers use 256 "
		"KiB\n", "\"neighbour_bytes\": 1024008");
	r = bad_access(LOW + 8, LOW + 16, STACK_MAIN, 0, 1);
	line_is(r, NULL, "stack of at most 256 KiB cannot grow; its callers",
		"\"overflow_cause\": \"refused\"");
	r = bad_access(LOW - 8, LOW - 8, STACK_UNKNOWN, STACK_NO_AREAS, 2);
	line_is(r, &one, ": stack overflow, frame of 200 B\n",
		"\"overflow_cause\": \"protection\"}");
}

static void test_lines_of_bad_accesses(void **state)
{
	struct user_stack one = frame(LOW - 100, LOW + 100);
	struct trace_record r = bad_access(0x10, TOP - 64, STACK_MAIN, 0, 1);

	(void)state;
	line_is(r, NULL, "SIGSEGV at 0x10: nothing is mapped there\n", "\"stack_overflow\": false, "
		"\"stack_sort\": \"first_thread\", \"stack_limit_bytes\": 262144, "
		"\"stack_used_bytes\": 64, \"in_guard\": false}");
	line_is(bad_access(LOW - 8, LOW - 8, STACK_UNKNOWN, 0, 1), &one,
		": nothing is mapped there, near the stack pointer, of a stack that is not known\n",
		"\"stack_overflow\": false, \"frame_bytes\": 200}");
	line_is(bad_access(LOW - 8, TOP - 64, STACK_THREAD, STACK_HIT_GUARD, 2), NULL,
		": its protection forbids it, in the guard of 4.00 KiB below the thread's stack of 256 "
		"KiB\n", "\"in_guard\": true}");
	line_is(bad_access(0, LOW, STACK_MAIN, 0, SI_KERNEL), NULL,
		"SIGSEGV of the kernel, without an address; the first thread's stack of at most 256 KiB, "
		"256 KiB in use\n", "\"stack_overflow\": false");
	line_is(bad_access(0, LOW, STACK_UNKNOWN, 0, SI_KERNEL), NULL,
		"SIGSEGV of the kernel, without an address\n", "\"stack_overflow\": false}");
	line_is(bad_access(0, LOW, STACK_MAIN, 0, SI_USER), NULL, "SIGSEGV sent by a process\n",
		"\"signal_name\": \"SIGSEGV\", \"sent\": true, \"handled\": false}");
	r = bad_access(0x7000, 0x7000, STACK_UNKNOWN, 0, BUS_ADRERR);
	r.a[2] ^= SIGSEGV ^ SIGBUS;
	line_is(r, NULL, "SIGBUS at 0x7000: the file ends before it\n",
		"\"why\": \"the file ends before it\", \"stack_overflow\": false}");
}

static void test_growth(void **state)
{
	struct trace_record r = {
		.kind = TRACE_STACK_GROWTH, .weight = 1, .comm = "victim",
		.a = { LOW, 0x401000, 64 * KIB, 256 * KIB, STACK_THREAD },
	};

	(void)state;
	line_is(r, NULL, "stack_growth    64.0 KiB deep, 25.0% of 256 KiB\n",
		"\"address\": \"0x6fc0000\", \"instruction\": \"0x401000\", \"depth_bytes\": 65536, "
		"\"stack_limit_bytes\": 262144, \"stack_sort\": \"thread\"}");
	r.a[3] = 0;
	r.a[4] = STACK_MAIN;
	line_is(r, NULL, "64.0 KiB deep\n",
		"\"depth_bytes\": 65536, \"stack_sort\": \"first_thread\"}");
	r.a[4] = STACK_NR_SORTS;
	line_is(r, NULL, "64.0 KiB deep\n", "\"depth_bytes\": 65536}");
}

/* ---- table ---- */

static const struct stack_key keys[] = { { 1, 7, 0 }, { 2, 8, 0 }, { 3, 9, 0 }, { 4, 7, 0 } };
static const struct stack_row values[] = {
	{ .depth = 4096, .limit = 8 << 20, .tgid = 7, .sort = STACK_MAIN, .comm = "one" },
	{ .depth = 65536, .limit = 262144, .tgid = 7, .sort = STACK_THREAD, .comm = "two" },
	{ .tgid = 7, .sort = STACK_UNKNOWN, .comm = "three" },
	{ .depth = 4096, .tgid = 7, .sort = STACK_MAIN, .comm = "again" },
};

static void test_table(void **state)
{
	struct { struct stack_key key; struct stack_row value; } list[NR(keys)];
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct trace_result t = { .rows = rows };
	char *text;

	(void)state;
	for (unsigned i = 0; i < NR(keys); i++) {
		list[i].key = keys[i];
		list[i].value = values[i];
	}
	text = section_text(trace_section_stack, &t, true);
	assert_null(strstr(text, "thread_stacks"));
	free(text);
	rows[KERNEL_TABLE_STACKS] = (struct kernel_rows){
		.nr = NR(keys), .key_bytes = sizeof(keys[0]), .value_bytes = sizeof(values[0]),
		.bytes = (char *)list,
	};
	text = section_text(trace_section_stack, &t, false);
	has(text, "    7    8  64.0 KiB   256 KiB  25.0%  two\n"
		  "    7    7  4.00 KiB  8.00 MiB  <0.1%  one\n"
		  "    7    7  4.00 KiB                   again\n"
		  "  1 more thread ran on a stack that is not known: ");
	free(text);
	t.top = 1;
	text = section_text(trace_section_stack, &t, false);
	has(text, "two\n  2 more rows (--top=0 shows all)\n");
	assert_null(strstr(text, "one\n"));
	free(text);
	text = section_text(trace_section_stack, &t, true);
	has(text, "\"thread_stacks\": [\n    {\"pid\": 7, \"tid\": 8, \"depth_bytes\": 65536, "
		  "\"stack_limit_bytes\": 262144, \"stack_sort\": \"thread\", \"command\": \"two\"}\n  ]");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflows),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_lines_of_overflows),
		cmocka_unit_test(test_lines_of_bad_accesses),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
