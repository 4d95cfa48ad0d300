/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/view/trace/trace_stack.c: stacks of a result; what trace_view.c says of how complete they
 * are, trace_folded.c of names with a separator in them.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/kernel/user_stack.h"
#include "src/view/trace/trace_folded.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_stack.h"
#include "src/view/trace/trace_view.h"

static struct {
	struct modules modules;
	struct stack_table stacks;
	struct trace_totals totals;
	struct kernel_rows rows[KERNEL_NR_TABLES];
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct trace_counts counts[TRACE_NR_KINDS];
	uint64_t ends[USER_STACK_NR_ENDS];
	struct vmstat vmstat;
	struct trace_result result;
} x;

/* Three mmap of 4 KiB by a whole stack; one by half of it. */
static int begin(void **state)
{
	static char path[] = "/nowhere/a;b.so";
	struct proc_map map = { .start = 0x1000, .end = 0x9000, .ino = 99, .path = path,
				.perms = PROC_MAP_EXEC };
	struct trace_record r = { .kind = TRACE_MMAP, .tgid = 7, .tid = 7, .weight = 3,
				  .a = { 0, 4096, 0, 0, 0, 0x1000 } };
	uint64_t frames[3];

	(void)state;
	memset(&x, 0, sizeof(x));
	stack_table_init(&x.stacks, 0);
	frames[0] = stack_frame(0, 0x30);
	frames[1] = stack_frame(modules_add(&x.modules, getpid(), &map, 1), 0x20);
	frames[2] = stack_frame(0, 0x10);
	trace_totals_add(&x.totals, &r,
			 stack_table_add(&x.stacks, frames, 3, USER_STACK_COMPLETE));
	r.weight = 1;
	trace_totals_add(&x.totals, &r, stack_table_add(&x.stacks, frames, 2, USER_STACK_SHORT));
	x.ends[USER_STACK_COMPLETE] = 3;
	x.ends[USER_STACK_SHORT] = 1;
	x.result = (struct trace_result){
		.scope = "all", .classes = 1u << EVENT_MMAP, .totals = &x.totals,
		.counts = x.counts, .groups = x.groups, .rows = x.rows, .stacks = &x.stacks,
		.names = stack_names_new(&x.modules, NULL), .stack_ends = x.ends,
		.before = &x.vmstat, .after = &x.vmstat,
	};
	return 0;
}

static int end(void **state)
{
	(void)state;
	trace_totals_fini(&x.totals);
	stack_table_fini(&x.stacks);
	stack_names_free(x.result.names);
	modules_fini(&x.modules);
	return 0;
}

static char *printed(bool json)
{
	struct style style = { .width = 200 };
	struct doc d = { 0 };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	trace_document(&d, &x.result);
	assert_int_equal(doc_error(&d), 0);
	assert_int_equal(json ? doc_print_json(&d, out) : doc_print_text(&d, &style, out), 0);
	fclose(out);
	doc_fini(&d);
	return text;
}

static void says(bool json, const char *part, bool does)
{
	char *text = printed(json);

	if (!strstr(text, part) == does)
		print_message("'%s' in\n%s\n", part, text);
	assert_int_equal(!!strstr(text, part), does);
	free(text);
}

static void test_frames_and_ends(void **state)
{
	(void)state;
	says(false, "  event  count     bytes  stack\n"
		    "  mmap       3  12.0 KiB  0x20 in a;b.so\n"
		    "                            0x30\n"
		    "                            0x20 in a;b.so\n"
		    "                            0x10\n"
		    "  mmap       1  4.00 KiB  0x20 in a;b.so\n"
		    "                            0x30\n"
		    "                            0x20 in a;b.so\n"
		    "                            (ends here: the copy of the stack is too short)\n",
	     true);
	says(true, "\"stack_end\": \"copy_too_short\"", true);
	says(true, "\"frames\": [", true);
}

static void test_rows_and_frames_that_are_left_out(void **state)
{
	(void)state;
	x.result.frames = 1;
	says(false, "0x30\n                            ... 2 more callers\n", true);
	says(false, "0x30\n                            ... 1 more caller\n", true);
	says(true, "\"address\": \"0x10\"", true);		/* all of them */
	x.result.top = 1;
	says(false, "  1 more stack (--top=0 shows all)\n", true);
	says(false, "too short)", false);
	x.result.top = 2;
	says(false, "(--top=0 shows all)", false);
}

/* How many stacks are complete, and what else stands in the way. */
static void test_coverage(void **state)
{
	(void)state;
	says(false, "75.0% complete of 4 user stacks; of 1 the copy of the stack is too short\n",
	     true);
	x.result.mappings_lost = 2;
	says(false, "too short; 2 records of mappings lost\n", true);
	x.result.no_mappings = "because";
	says(false, " of mappings lost; mappings are known from /proc only: because\n", true);
	says(true, "\"mappings_lost\": 2", true);
}

/* A name has what separates frames: another sign stands for it. */
static void test_folded(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	trace_folded(&s, &x.result);
	assert_string_equal(str_text(&s), "mmap;0x10;/nowhere/a:b.so;0x30 3\n"
					  "mmap;[copy_too_short];/nowhere/a:b.so;0x30 1\n");
	str_fini(&s);
}

/* The kernel's name of a process may fill its room, without a NUL. */
static void test_a_name_that_fills_its_room(void **state)
{
	struct trace_record r = { .kind = TRACE_RENAME, .tgid = 7, .tid = 7, .weight = 1 };
	struct event e = { 0 };

	(void)state;
	memcpy(r.comm, "0123456789abcdef", TRACE_COMM_BYTES);
	trace_line(&e, &r, "new", 0, NULL, NULL, 0);
	assert_int_equal(event_error(&e), 0);
	assert_non_null(strstr(str_text(&e.text), " 0123456789abcdef "));
	event_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames_and_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_rows_and_frames_that_are_left_out, begin, end),
		cmocka_unit_test_setup_teardown(test_coverage, begin, end),
		cmocka_unit_test_setup_teardown(test_folded, begin, end),
		cmocka_unit_test(test_a_name_that_fills_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
