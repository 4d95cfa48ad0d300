/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Class `heap`: rows of a heap beside those of the look before, and how they are shown; what it
 * takes of a source and of pmm's own priority. Of src/analyze/trace/heap_rows.c,
 * src/view/trace/trace_heap.c, src/kernel/no_source.c, src/session/trace/prompt.c,
 * trace_heaps_result.c, trace_session_heaps.c; page faults by whose memory it is: of
 * src/session/trace/trace_blocks.c, src/view/kernel/trace_fault_blocks.c. Also of
 * src/session/trace/trace_heaps.c.
 */
#include "tests/unit/recipe_heap.h"

#include <sys/resource.h>
#include <unistd.h>

#include "src/analyze/trace/heap_rows.h"
#include "src/session/session.h"
#include "src/session/trace/prompt.h"
#include "src/session/trace/trace_heaps_result.h"
#include "src/session/trace/trace_session_priv.h"
#include "src/view/trace/trace_sections.h"
#include "tests/fake/fake_kernel.h"

/* ---- rows ---- */

#define HEAD	"process comm=demo pid=7 taken=10s\nthread main tid=7\n"
#define FIRST                                                                                      \
	HEAD "site main>a allocs=3 frees=1 size=100 first=1s\n"                                   \
	     "site main>b allocs=1 size=1000 first=9s\n"

static struct heap *numbered(const char *recipe)
{
	struct heap *h = recipe_heap(recipe);

	for (uint32_t i = 1; i < h->nr_sites; i++)
		h->sites[i].number = i;
	return h;
}

static void test_rows_and_growth(void **state)
{
	struct heap *first = numbered(FIRST), *second = numbered(FIRST);
	struct heap_rows r = { 0 };

	(void)state;
	assert_int_equal(heap_rows_look(&r, first, 0, 0), 0);
	assert_int_equal(r.rows.nr, 2);
	assert_int_equal(r.rows.v[0].bytes, 1000);
	assert_int_equal(r.rows.v[0].grown_bytes, 1000);
	assert_int_equal(r.rows.v[1].bytes, 200);
	assert_int_equal(r.rows.v[1].objects, 2);
	assert_int_equal(r.rows.v[1].allocated, 3);
	assert_int_equal(r.rows.v[1].freed, 1);
	assert_int_equal(r.all.bytes, 1200);
	assert_int_equal(r.all.grown_objects, 3);

	/* one has lost a block, of the other all are gone */
	second->sites[1].live_bytes = 100;
	second->sites[1].live_blocks = 1;
	second->sites[2].live_bytes = second->sites[2].live_blocks = 0;
	assert_int_equal(heap_rows_look(&r, second, 0, 0), 0);
	assert_int_equal(r.rows.nr, 2);
	assert_int_equal(r.rows.v[0].grown_bytes, -100);
	assert_int_equal(r.rows.v[0].grown_objects, -1);
	assert_int_equal(r.rows.v[1].bytes, 0);
	assert_int_equal(r.rows.v[1].grown_bytes, -1000);
	/* nothing was there, nothing is there: no row */
	assert_int_equal(heap_rows_look(&r, second, 0, 0), 0);
	assert_int_equal(r.rows.nr, 1);
	assert_int_equal(r.rows.v[0].grown_bytes, 0);
	/* smaller ones are in the sums alone */
	assert_int_equal(heap_rows_look(&r, second, 0, 101), 0);
	assert_int_equal(r.rows.nr, 0);
	assert_int_equal(r.all.bytes, 100);
	heap_rows_fini(&r);
	heap_free(first);
	heap_free(second);
}

static void test_ages(void **state)
{
	struct heap *h = numbered(FIRST);
	struct heap_block blocks[] = {
		{ .address = 0x1000, .size_bytes = 100, .birth_ns = 5, .site = 1, .kind = 1 },
		{ .address = 0x2000, .size_bytes = 100, .birth_ns = 6, .site = 1, .kind = 1 },
		{ .address = 0x3000, .size_bytes = 1000, .birth_ns = 2, .site = 2, .kind = 1 },
	};
	struct heap_rows r = { 0 };

	(void)state;
	free(h->blocks);
	h->blocks = blocks;
	h->nr_blocks = 3;
	assert_int_equal(heap_rows_look(&r, h, 6, 0), 0);
	assert_int_equal(r.rows.v[0].old_objects, 1);
	assert_int_equal(r.rows.v[0].old_bytes, 1000);
	assert_int_equal(r.rows.v[1].old_objects, 1);
	assert_int_equal(r.rows.v[1].old_bytes, 100);
	assert_int_equal(r.all.old_objects, 2);
	assert_int_equal(heap_rows_look(&r, h, 0, 0), 0);
	assert_int_equal(r.all.old_objects, 0);
	heap_rows_fini(&r);
	h->blocks = NULL;
	h->nr_blocks = 0;
	heap_free(h);
}

/* ---- text ---- */

static char *doc_text(const struct doc *d, unsigned width)
{
	const struct style style = { .width = width };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(doc_print_text(d, &style, out), 0);
	fclose(out);
	return text;
}

static void test_text(void **state)
{
	struct heap *h = numbered(FIRST);
	struct heap_rows r = { 0 };
	struct names names;
	struct trace_heap_result heaps[] = {
		{ .pid = 7, .comm = "demo", .heap = h, .names = &names, .rows = &r },
		{ .pid = 8, .comm = "other", .rows = &r, .why = "it is traced" },
	};
	const struct trace_result result = { .heaps = heaps, .nr_heaps = 2, .top = 1 };
	struct doc d = { 0 };
	char *text;

	(void)state;
	recipe_names(&names, h);
	assert_int_equal(heap_rows_look(&r, h, 0, 0), 0);
	trace_section_heap(&d, &result);
	text = doc_text(&d, 100);
	assert_string_equal(text,
			    "Heaps of processes\n"
			    "  pid     bytes  objects  allocated  freed  command\n"
			    "    7  1.17 KiB        3          4      1  demo\n"
			    "    8                                       other\n"
			    "  process 8 is not seen: it is traced\n"
			    "\nOutstanding heap memory, by stack\n"
			    "   bytes  objects  grown by  allocated  freed  allocated by\n"
			    "  1000 B        1  +1000 B           1      0  b  b.c:7\n"
			    "                                                 main  main.c:7\n"
			    "  1 more row (--top=0 shows all)\n");
	free(text);
	doc_fini(&d);
	names_fini(&names);
	heap_rows_fini(&r);
	heap_free(h);
}

/* ---- page faults by whose memory it is ---- */

static void test_faults_of_blocks(void **state)
{
	struct heap *h = recipe_heap(
		FIRST "kernel classes=faults,swap bin=10ms complete=1 stacks=1\n"
		      "kernel-kind fault events=1\n"
		      "event fault main>touch area=heap write of=block site=main>a events=7 records=7\n"
		      "event swap_in main>touch area=heap of=block site=main>a events=2\n"
		      "event fault main area=stack events=3 records=1\n");
	struct names names;
	struct trace_block_result block = { .pid = 7, .heap = h, .names = &names };
	struct trace_result result = { .blocks = &block, .nr_blocks = 1 };
	struct doc d = { 0 }, none = { 0 };
	char *text;

	(void)state;
	recipe_names(&names, h);
	trace_fault_blocks(&d, &result);
	text = doc_text(&d, 120);
	assert_string_equal(text, "Page faults by the line that allocated the memory\n"
				  "  pid  faults  first  swap-ins  allocated by\n"
				  "    7       7      5         2  a  a.c:7\n"
				  "            7                     touched by touch  touch.c:7\n"
				  "    7       3      3         -  in no block: stack\n"
				  "  of processes that pmm tracks; estimated from faults that have a "
				  "stack, and without those that its agent caused\n");
	free(text);
	result.nr_blocks = 0;
	trace_fault_blocks(&none, &result);
	assert_int_equal(none.sections.nr, 0);
	doc_fini(&d);
	doc_fini(&none);
	names_fini(&names);
	heap_free(h);
}

/* Processes without a ledger, and what is no page fault. */
static void test_faults_of_others(void **state)
{
	struct trace_record r = { .kind = TRACE_FAULT, .tgid = (uint32_t)getpid(), .weight = 1 };
	struct trace_blocks b = { 0 };
	struct stack_table stacks;
	struct modules modules = { 0 };

	(void)state;
	stack_table_init(&stacks, 0);
	trace_blocks_add(&b, &r, 0, false);
	assert_int_equal(b.processes.nr, 1);
	trace_blocks_add(&b, &r, 0, false);
	assert_int_equal(b.processes.nr, 1);
	r.kind = TRACE_MMAP;
	r.tgid = 1;
	trace_blocks_add(&b, &r, 0, false);
	assert_int_equal(b.processes.nr, 1);
	assert_int_equal(trace_blocks_result(&b, &stacks, &modules), 0);
	assert_int_equal(b.results.nr, 0);
	trace_blocks_fini(&b);
	stack_table_fini(&stacks);
}

/* ---- the rest ---- */

static void test_source_without_events(void **state)
{
	struct trace_options o = { .source = &fake_source, .classes = 1u << EVENT_HEAP };
	struct trace_counts counts[TRACE_NR_KINDS];
	struct kernel_options k = { 0 };
	struct kernel_source *s;
	struct err e = { 0 };

	(void)state;
	assert_ptr_equal(trace_session_source(&o), &no_source);
	o.classes |= 1u << EVENT_MMAP;
	assert_ptr_equal(trace_session_source(&o), &fake_source);
	assert_int_equal(kernel_source_open(&no_source, &k, &s, &e), 0);
	assert_string_equal(kernel_source_name(s), "none");
	assert_int_equal(kernel_source_step(s, NULL, NULL), 0);
	assert_int_equal(kernel_source_counts(s, counts), 0);
	assert_int_equal(counts[TRACE_MMAP].seen, 0);
	assert_int_equal(kernel_source_table(s, KERNEL_TABLE_RSS, NULL, NULL), -ENOENT);
	assert_int_equal(kernel_source_target(s, 1, true), 0);
	assert_int_equal(kernel_source_group(s, KERNEL_CALLS).status, KERNEL_GROUP_UNUSED);
	kernel_source_close(s);
}

static void test_priority_there_and_back(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0);
	struct prompt p = { 0 };

	(void)state;
	prompt_begin(&p);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), p.on ? -15 : before);
	prompt_end(&p);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_false(p.on);
}

static void test_results(void **state)
{
	struct trace_heap known = { .pid = 3, .comm = "a" }, not_known = { .pid = 4 };
	struct trace_heap *list[] = { &known, &not_known };
	struct trace_heaps t = { .heaps = { .v = list, .nr = 2, .room = 2 } };
	struct trace_heaps_result r = { 0 };

	(void)state;
	known.heap = heap_new();
	err_set(&not_known.why, -EPERM, "it may not be traced");
	assert_int_equal(trace_heaps_result(&r, &t), 0);
	assert_int_equal(r.v.nr, 2);
	assert_ptr_equal(r.v.v[0].heap, known.heap);
	assert_ptr_equal(r.v.v[0].names, &known.naming.names);
	assert_null(r.v.v[1].heap);
	assert_string_equal(r.v.v[1].why, "it may not be traced");
	assert_int_equal(trace_heaps_result(&r, NULL), 0);
	assert_int_equal(r.v.nr, 0);
	vec_fini(&r.v);
	heap_free(known.heap);
}

/* A process that is not there, and a command that cannot be executed: nothing is left behind. */
static void test_heaps_that_do_not_begin(void **state)
{
	static const struct session_ops ops = { 0 };
	static const struct session_sink sink = { .ops = &ops };
	char *argv[] = { (char *)"/nonexistent/program", NULL };
	struct trace_heaps_options o = { .nr_pids = 1 };
	struct trace_heaps *t;
	struct err e = { 0 };
	pid_t none = 4194304;	/* above the highest number there can be */

	(void)state;
	assert_int_equal(loop_new(&o.loop), 0);
	o.pids = &none;
	assert_int_equal(trace_heaps_open(&t, &o, &sink, &e), 0);
	assert_int_equal(trace_heaps_start(t, &e), -ESRCH);
	assert_string_equal(e.text, "no process 4194304");
	assert_int_equal(t->heaps.nr, 1);
	assert_true(t->heaps.v[0]->failed);
	trace_heaps_close(t);
	o.nr_pids = 0;
	o.argv = argv;
	assert_int_equal(trace_heaps_open(&t, &o, &sink, &e), 0);
	assert_true(trace_heaps_start(t, &e) < 0);
	assert_int_equal(trace_heaps_look(t), 0);
	assert_int_equal(trace_heaps_end(t), 0);
	trace_heaps_close(t);
	assert_int_equal(trace_heaps_hook_pc(none), 0);
	loop_free(o.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_and_growth),
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_faults_of_blocks),
		cmocka_unit_test(test_faults_of_others),
		cmocka_unit_test(test_source_without_events),
		cmocka_unit_test(test_priority_there_and_back),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_heaps_that_do_not_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
