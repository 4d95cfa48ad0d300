/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of trees: equal ones of many processes are one, the worst come first, and there is a
 * bound.
 * Also of src/analyze/merge.c.
 */
#include "src/analyze/findings_tree.h"
#include "include/pmm/check.h"
#include "include/pmm/ledger.h"
#include "tests/unit/recipe_heap.h"

#define OVERRUN	"process exe=/bin/server pid=7 taken=2s end=exited\n" \
		"check guard guarded=3 canaried=2 sweeps=1\n" \
		"finding type=overrun access=write site=main>copy alloc=main>make count=2\n"

static void add(struct findings_tree *t, const char *recipe, uint32_t pid, const char *known)
{
	struct heap *h = recipe_heap(recipe);
	bool is[16] = { false };

	h->pid = pid;
	assert_int_equal(findings_tree_add(t, h, 0, pid, is), 0);
	for (uint64_t i = 0; i < h->nr_findings; i++)
		assert_int_equal(is[i], known[i] == 'k');
	assert_int_equal(findings_tree_ended(t, h), 0);
	heap_free(h);
}

static void equal_errors_are_one(void **state)
{
	struct findings_tree t = { 0 };

	(void)state;
	for (uint32_t pid = 1; pid <= 40; pid++)
		add(&t, OVERRUN, pid, pid == 1 ? "n" : "k");
	assert_int_equal(findings_tree_begin(&t, NULL), 0);
	assert_int_equal(t.entries.nr, 1);
	assert_int_equal(t.merge.heap->nr_findings, 1);
	assert_int_equal(t.merge.heap->findings[0].count, 80);
	assert_int_equal(t.entries.v[0].group.processes, 40);
	assert_int_equal(t.times, 80);
	assert_int_equal(t.merge.heap->check.guarded, 120);
	assert_int_equal(t.merge.heap->check.scans, 40);
	findings_tree_fini(&t);
}

/* By kind, access, each of the stacks, and program. */
static void different_errors_stay_apart_the_worst_first(void **state)
{
	struct findings_tree t = { 0 };

	(void)state;
	add(&t,
	    "process exe=/bin/server\ncheck guard\n"
	    "finding type=size site=main\n"
	    "finding type=overrun access=read site=main>copy alloc=main>make\n"
	    "finding type=overrun access=write site=main>copy alloc=main>other\n"
	    "finding type=overrun access=write site=main>copy alloc=main>make\n"
	    "finding type=double-free by=function site=main>drop alloc=main>make free=main\n",
	    1, "nnnnn");
	add(&t, OVERRUN, 2, "k");
	add(&t,
	    "process exe=/bin/other\ncheck guard\nfinding type=overrun access=write site=main>copy "
	    "alloc=main>make\n",
	    3, "n");
	assert_int_equal(findings_tree_begin(&t, NULL), 0);
	assert_int_equal(t.merge.heap->nr_findings, 6);
	assert_int_equal(t.entries.v[0].group.processes, 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(t.merge.heap->findings[i].type, PMM_FINDING_OVERRUN);
		assert_int_equal(t.merge.heap->findings[i].access, PMM_ACCESS_WRITE);
	}
	assert_int_equal(t.merge.heap->findings[3].type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(t.merge.heap->findings[4].access, PMM_ACCESS_READ);
	assert_int_equal(t.merge.heap->findings[5].type, PMM_FINDING_SIZE);
	findings_tree_fini(&t);
}

/* It came more often after it was told. */
static void counts_grow(void **state)
{
	struct heap *h = recipe_heap(OVERRUN);
	struct findings_tree t = { 0 };
	const uint64_t told = 2;

	(void)state;
	assert_int_equal(findings_tree_add(&t, h, 0, 1, NULL), 0);
	h->findings[0].count = 1000;
	assert_int_equal(findings_tree_recount(&t, h, &told, 1), 0);
	assert_int_equal(t.entries.v[0].f.count, 1000);
	assert_int_equal(t.times, 1000);
	heap_free(h);
	findings_tree_fini(&t);
}

/*
 * The main thread of a process is the main thread of the whole; what is beyond the bound is
 * counted.
 */
static void threads_and_bounds(void **state)
{
	struct heap *h = recipe_heap("process exe=/bin/server pid=7\nthread main tid=7\nthread "
				     "worker tid=8\ncheck guard\n"
				     "finding type=overrun site=main thread=main\n"
				     "finding type=underrun site=main thread=worker\n");
	struct findings_tree t = { 0 };

	(void)state;
	assert_int_equal(findings_tree_add(&t, h, 0, 1, NULL), 0);
	for (uint32_t i = 0; i < FINDINGS_TREE_MAX; i++) {
		h->findings[0].by = (uint8_t)(i % PMM_NR_FINDING_BYS);
		h->findings[0].kind = (uint8_t)(i / PMM_NR_FINDING_BYS % 15);
		h->findings[0].place = (uint8_t)(i / PMM_NR_FINDING_BYS / 15 %
						 PMM_NR_FINDING_PLACES);
		h->findings[0].release = (uint8_t)(i / PMM_NR_FINDING_BYS / 15 /
						   PMM_NR_FINDING_PLACES);
		assert_int_equal(findings_tree_add(&t, h, 0, 1, NULL), 0);
	}
	assert_int_equal(t.entries.nr, FINDINGS_TREE_MAX);
	assert_true(t.nr_more > 0);
	h->pid = 99;
	assert_int_equal(findings_tree_begin(&t, h), 0);
	vec_each(&t.entries, e)
		assert_int_equal(t.merge.heap->threads[e->f.thread].tid,
				 e->f.type == PMM_FINDING_OVERRUN ? 99 : 8);
	heap_free(h);
	findings_tree_fini(&t);
}

/* What was lost is added up; the reason is that of the first process that lost anything. */
static void what_was_lost_has_a_reason(void **state)
{
	struct heap *h = recipe_heap("process exe=/bin/server pid=7\ncheck guard\n");
	struct findings_tree t = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		h->dropped[PMM_DROP_CTX_FULL] = i;
		h->off_reason = i == 1 ? PMM_OFF_NO_GROWTH : i == 3 ? PMM_OFF_NO_MEMORY : 0;
		h->ledger_bytes = i << 10;
		h->ledger_limit_bytes = i << 20;
		assert_int_equal(findings_tree_ended(&t, h), 0);
	}
	assert_int_equal(t.merge.heap->dropped[PMM_DROP_CTX_FULL], 6);
	assert_int_equal(t.merge.heap->off_reason, PMM_OFF_NO_GROWTH);
	assert_int_equal(t.merge.heap->ledger_bytes, 1 << 10);
	assert_int_equal(t.merge.heap->ledger_limit_bytes, 1 << 20);
	heap_free(h);
	findings_tree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_errors_are_one),
		cmocka_unit_test(different_errors_stay_apart_the_worst_first),
		cmocka_unit_test(counts_grow),
		cmocka_unit_test(threads_and_bounds),
		cmocka_unit_test(what_was_lost_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
