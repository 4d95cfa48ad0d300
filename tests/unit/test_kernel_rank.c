/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of a heap's kernel events: by kind, line, detail; page faults by whose memory it is and who
 * touches it. Also of src/analyze/trace/kernel_rank.c, kernel_fault_rank.c.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/trace/kernel_fault_rank.h"
#include "src/analyze/trace/kernel_rank.h"
#include "src/base/str.h"
#include "src/kernel/event_class.h"

static const char *name_of(const struct frame_name *f)
{
	return !f ? "?" : f->function ? f->function : f->module;
}

#define U(x) ((unsigned long long)(x))

/* ---- kinds ---- */

static void expect_kinds(const char *recipe, const char *expected)
{
	struct heap *h = recipe_heap(recipe);
	struct kernel_kind_sum *k;
	struct str got = STR_INIT;
	size_t nr;

	assert_int_equal(kernel_kinds_sum(h, &k, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		str_addf(&got, "%u=%llu(%llu/%llu,%lluB,%lluns,%lluns)-%llu!%llu!%llu ", k[i].kind,
			 U(k[i].events), U(k[i].rows.records), U(k[i].rows.failed),
			 U(k[i].rows.bytes), U(k[i].rows.ns), U(k[i].rows.max_ns),
			 U(k[i].by_agent), U(k[i].lost), U(k[i].dropped));
	assert_string_equal(str_text(&got), expected);
	str_fini(&got);
	free(k);
	heap_free(h);
}

static void kinds_have_all_their_events(void **state)
{
	(void)state;
	expect_kinds("kernel\n", "");
	expect_kinds("kernel\nevent mmap a events=4 bytes=10 failed=1 took=9ns longest=5ns\n"
		     "event mmap b events=2 bytes=7 took=8ns failed=1 of=agent\n"
		     "kernel-kind fault events=50 lost=3\nevent fault a events=40 records=4\n"
		     "kernel-kind writeback dropped=2\nkernel-kind brk\nevent 127 -\n",
		     "6=6(6/1,10B,9ns,5ns)-2!0!0 19=90(4/0,0B,0ns,0ns)-0!3!0 "
		     "31=0(0/0,0B,0ns,0ns)-0!0!2 127=1(1/0,0B,0ns,0ns)-0!0!0 ");
}

/* What the kernel has counted may be less than the rows, where the two were read one by one. */
static void no_kind_has_fewer_events_than_its_rows(void **state)
{
	struct heap *h = recipe_heap("kernel\nevent mmap a events=4\n");
	struct kernel_kind_sum *k;
	size_t nr;

	(void)state;
	h->kernel_kinds[0].events = 3;
	assert_int_equal(kernel_kinds_sum(h, &k, &nr), 0);
	assert_int_equal(k[0].events, 4);
	free(k);
	h->nr_kernel_kinds = 0;
	assert_int_equal(kernel_kinds_sum(h, &k, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(k[0].events, 4);
	free(k);
	heap_free(h);
}

/* ---- lines ---- */

static void expect_lines(const char *recipe, enum kernel_part part, uint64_t top,
			 const char *expected)
{
	struct heap *h = recipe_heap(recipe);
	struct str got = STR_INIT;
	struct kernel_lines l;
	struct names n;

	recipe_names(&n, h);
	assert_int_equal(kernel_lines_rank(h, &n, part, top, &l), 0);
	for (uint32_t i = 0; i < l.nr; i++)
		str_addf(&got, "%s:%s=%llu,%lluB,%lluns/%u@%u ", trace_kinds[l.line[i].kind].name,
			 name_of(l.line[i].frame), U(l.line[i].sum.events), U(l.line[i].sum.bytes),
			 U(l.line[i].sum.ns), l.line[i].nr_stacks, l.line[i].node);
	str_addf(&got, "of %u", l.nr_all);
	assert_string_equal(str_text(&got), expected);
	str_fini(&got);
	kernel_lines_fini(&l);
	names_fini(&n);
	heap_free(h);
}

static void calls_are_grouped_by_line_and_kind(void **state)
{
	/* nodes: main 1, a 2, malloc 3, b 4, a 5 */
	static const char recipe[] =
		"kernel\nevent mmap main>a>malloc bytes=10 events=2\nevent mmap main>b>a bytes=5 "
		"events=3\nevent munmap main>a bytes=40\nevent brk main events=9\nevent mmap - "
		"bytes=1\nevent mmap main>b bytes=1000 of=agent\nevent memcg_reclaim main took=5s\n"
		"event mmap main>b>a detail=3 bytes=1\n";

	(void)state;
	expect_lines(recipe, KERNEL_PART_CALLS, 0,
		     "munmap:a=1,40B,0ns/1@2 mmap:a=6,16B,0ns/2@5 mmap:?=1,1B,0ns/1@0 "
		     "brk:main=9,0B,0ns/1@1 of 4");
	expect_lines(recipe, KERNEL_PART_CALLS, 2,
		     "munmap:a=1,40B,0ns/1@2 mmap:a=6,16B,0ns/2@5 of 4");
}

static void a_line_shows_its_heaviest_stack(void **state)
{
	(void)state;
	expect_lines("kernel\nevent mmap x>a events=2\nevent mmap y>a events=4\n"
		     "event mmap z>a events=3\n",
		     KERNEL_PART_CALLS, 0, "mmap:a=9,0B,0ns/3@4 of 1");
}

static void waits_are_ranked_by_time(void **state)
{
	(void)state;
	expect_lines("kernel\nevent compaction a took=5ns\nevent direct_reclaim b took=7ns "
		     "bytes=1\nevent throttled c took=6ns\nevent direct_reclaim a took=1ns "
		     "bytes=100 events=4\nevent shrink_slab a took=9s\n",
		     KERNEL_PART_WAITS, 0,
		     "direct_reclaim:b=1,1B,7ns/1@2 throttled:c=1,0B,6ns/1@3 "
		     "compaction:a=1,0B,5ns/1@1 direct_reclaim:a=4,100B,1ns/1@1 of 4");
}

static void each_kind_is_in_one_part(void **state)
{
	(void)state;
	assert_int_equal(kernel_part_of(TRACE_FAULT), KERNEL_PART_FAULTS);
	assert_int_equal(kernel_part_of(TRACE_FAULT_MAJOR), KERNEL_PART_FAULTS);
	assert_int_equal(kernel_part_of(TRACE_SWAP_IN), KERNEL_PART_FAULTS);
	assert_int_equal(kernel_part_of(TRACE_OOM_SCORE), KERNEL_PART_OTHERS);
	assert_int_equal(kernel_part_of(TRACE_MMAP), KERNEL_PART_CALLS);
	assert_int_equal(kernel_part_of(TRACE_SHM_UNLINK), KERNEL_PART_CALLS);
	assert_int_equal(kernel_part_of(TRACE_RECLAIM_NODE), KERNEL_PART_WAITS);
	assert_int_equal(kernel_part_of(TRACE_SHRINK), KERNEL_PART_OTHERS);
	assert_int_equal(kernel_part_of(TRACE_COMPACTION), KERNEL_PART_WAITS);
	assert_int_equal(kernel_part_of(TRACE_THROTTLED), KERNEL_PART_WAITS);
	assert_int_equal(kernel_part_of(TRACE_OOM), KERNEL_PART_OTHERS);
	assert_int_equal(kernel_part_of(127), KERNEL_PART_OTHERS);
}

static void the_rest_is_by_kind_and_detail(void **state)
{
	struct heap *h = recipe_heap("kernel\nevent 99 a\nevent migrate a detail=2 bytes=4\n"
				     "event migrate b detail=1 bytes=8 failed=1\nevent migrate b "
				     "detail=2 bytes=1\nevent mmap a\nevent oom_kill a of=agent\n");
	struct kernel_detail *d;
	size_t nr;

	(void)state;
	assert_int_equal(kernel_details_sum(h, &d, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(d[0].kind, TRACE_MIGRATE);
	assert_int_equal(d[0].detail, 1);
	assert_int_equal(d[0].sum.failed, 1);
	assert_int_equal(d[1].detail, 2);
	assert_int_equal(d[1].sum.bytes, 5);
	assert_int_equal(d[1].sum.events, 2);
	assert_int_equal(d[2].kind, 99);
	free(d);
	heap_free(h);
}

/* ---- page faults ---- */

static void add_faults(struct str *s, const struct kernel_faults *f)
{
	str_addf(s, "=%llu/%llu p%llu m%llu s%llu", U(f->faults), U(f->records), U(f->present),
		 U(f->major), U(f->swap_ins));
}

static void expect_fault_lines(const char *recipe, const char *expected)
{
	static const char *const of[] = { "no ", "", "map ", "agent ", "unknown " };
	struct heap *h = recipe_heap(recipe);
	struct kernel_fault_lines l;
	struct str got = STR_INIT;
	struct names n;

	recipe_names(&n, h);
	assert_int_equal(kernel_fault_lines_rank(h, &n, &l), 0);
	vec_each (&l.lines, line) {
		bool site = line->of == HEAP_KERNEL_OF_BLOCK || line->of == HEAP_KERNEL_OF_MAPPING;

		str_addf(&got, "%s%s", of[line->of],
			 site ? name_of(line->frame) : fault_area_name(line->area));
		add_faults(&got, &line->faults);
		str_addf(&got, " %u[", line->nr_sites);
		for (uint32_t i = 0; i < line->nr_touchers; i++) {
			struct kernel_toucher *t = &l.touchers.v[line->first_toucher + i];

			assert_int_equal(t->owner, line->number);
			str_addf(&got, "%s%s", i ? ", " : "", name_of(t->frame));
			add_faults(&got, &t->faults);
		}
		str_add(&got, "] ");
	}
	str_addf(&got, "%zu", l.nr_sites);
	add_faults(&got, &l.total);
	assert_string_equal(str_text(&got), expected);
	str_fini(&got);
	kernel_fault_lines_fini(&l);
	names_fini(&n);
	heap_free(h);
}

static void faults_have_the_line_that_allocated(void **state)
{
	(void)state;
	expect_fault_lines("kernel\n", "0=0/0 p0 m0 s0");
	/* two sites of one line, touched by two stacks of one line and by another */
	expect_fault_lines(
		"site main>a>leaf size=8\nsite main>b>leaf size=8\nsite main>b size=8\nkernel\n"
		"event fault main>x>touch of=block site=main>a>leaf events=5 records=1\n"
		"event fault main>y>touch of=block site=main>b>leaf events=2 present\n"
		"event fault main of=block site=main>b>leaf events=4\n"
		"event swap_in main>x>touch of=block site=main>b>leaf events=3\n"
		"event major main of=block site=main>b events=6\n"
		"event fault - of=block site=main>b\n",
		"leaf=11/7 p2 m0 s3 2[touch=7/3 p2 m0 s3, main=4/4 p0 m0 s0] "
		"b=1/1 p0 m6 s0 1[?=1/1 p0 m0 s0, main=0/0 p0 m6 s0] 2=12/8 p2 m6 s3");
}

static void faults_of_other_memory_have_its_area(void **state)
{
	(void)state;
	/* mappings and blocks of one line are two, areas come last; an area that is not known */
	expect_fault_lines(
		"site main>a size=8\nsite main>a kind=mmap size=4K\nkernel\n"
		"event fault main area=stack events=100\n"
		"event fault main area=heap of=unknown events=7\n"
		"event fault main area=heap events=8\n"
		"event fault main area=heap write events=1\n"
		"event fault main detail=200 events=2\n"
		"event fault main of=block site=main>a events=3 area=heap\n"
		"event fault main of=mapping site=main>a events=4 area=anonymous\n"
		"event fault main of=agent events=1000\nevent mmap main events=9\n",
		"map a=4/4 p0 m0 s0 1[main=4/4 p0 m0 s0] a=3/3 p0 m0 s0 1[main=3/3 p0 m0 s0] "
		"no stack=100/100 p0 m0 s0 0[main=100/100 p0 m0 s0] "
		"no heap=9/9 p0 m0 s0 0[main=9/9 p0 m0 s0] "
		"unknown heap=7/7 p0 m0 s0 0[main=7/7 p0 m0 s0] "
		"no unknown=2/2 p0 m0 s0 0[main=2/2 p0 m0 s0] 2=125/125 p0 m0 s0");
}

static void first_touches_found_no_page(void **state)
{
	struct kernel_faults f = { .faults = 10, .present = 3, .swap_ins = 2 }, none = { 0 };

	(void)state;
	assert_int_equal(kernel_faults_first(&f), 5);
	f.swap_ins = 8;
	assert_int_equal(kernel_faults_first(&f), 0);
	f.major = 4;
	assert_int_equal(kernel_faults_weight(&f, &f), 10);
	assert_int_equal(kernel_faults_weight(&f, &none), 12);
}

static void faults_have_the_stack_that_touches(void **state)
{
	struct heap *h = recipe_heap("site a size=8\nkernel\nevent fault main>x of=block site=a "
				     "events=5\nevent fault main>x events=2\nevent major main "
				     "events=9\nevent fault - events=6\nevent swap_in main>x\n"
				     "event fault main of=agent events=70\n");
	struct kernel_fault_stack *s;
	size_t nr;

	(void)state;
	assert_int_equal(kernel_fault_stacks_rank(h, &s, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(s[0].node, 3);
	assert_int_equal(s[0].faults.faults, 7);
	assert_int_equal(s[0].faults.swap_ins, 1);
	assert_int_equal(s[1].node, 0);
	assert_int_equal(s[1].faults.faults, 6);
	assert_int_equal(s[2].node, 2);
	assert_int_equal(s[2].faults.major, 9);
	free(s);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_all_their_events),
		cmocka_unit_test(no_kind_has_fewer_events_than_its_rows),
		cmocka_unit_test(calls_are_grouped_by_line_and_kind),
		cmocka_unit_test(a_line_shows_its_heaviest_stack),
		cmocka_unit_test(waits_are_ranked_by_time),
		cmocka_unit_test(each_kind_is_in_one_part),
		cmocka_unit_test(the_rest_is_by_kind_and_detail),
		cmocka_unit_test(faults_have_the_line_that_allocated),
		cmocka_unit_test(faults_of_other_memory_have_its_area),
		cmocka_unit_test(first_touches_found_no_page),
		cmocka_unit_test(faults_have_the_stack_that_touches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
