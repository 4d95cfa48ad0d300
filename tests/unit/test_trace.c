/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/trace/trace_session.c, with a source of records made here: sums, results, ends. Also
 * of src/kernel/kernel_source.c, kernel_rows.c, event_class.c, groups.c,
 * src/analyze/trace/trace_totals.c, trace_rank.c, src/view/trace/trace_list.c, trace_view.c,
 * trace_folded.c, trace_sections.c, src/session/trace/trace_lacks.c, src/track/gate.c.
 */
#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "src/document/event.h"
#include "src/session/trace/trace_session.h"
#include "src/track/gate.h"
#include "src/kernel/user_stack.h"
#include "src/view/trace/trace_folded.h"
#include "src/view/trace/trace_view.h"
#include "tests/fake/fake_kernel.h"
#include "tests/unit/trace_made.h"

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
		cmocka_unit_test(test_lists_of_events),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_folded_stacks),
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
