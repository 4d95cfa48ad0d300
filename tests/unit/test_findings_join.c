/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/analyze/findings_join.c: heap errors of several runs, each once.
 */
#include "tests/unit/recipe_heap.h"

#include "include/pmm/check.h"
#include "src/analyze/findings_join.h"

/* A run's modules lie elsewhere than another's. */
#define FIRST                                                                                      \
	"check guard\nprocess comm=app pid=100\nmodule app at=0x1000000 size=64K\nmodule lib "     \
	"at=0x2000000 size=64K\nthread main tid=100\n"
#define SECOND                                                                                     \
	"check guard\nprocess comm=app pid=200\nmodule lib at=0x1008000 size=64K\nmodule app "     \
	"at=0x5000000 size=64K\nthread main tid=200\n"

#define ERROR_A                                                                                    \
	"finding type=overrun access=read guarded site=app+0x100>lib+0x10 alloc=app+0x200 "        \
	"thread=main count=3 block=0x7000 block-size=57\n"
#define ERROR_B                                                                                    \
	"finding type=overrun access=read guarded site=app+0x100>lib+0x11 alloc=app+0x200 "        \
	"thread=main\n"
#define ERROR_C                                                                                    \
	"finding type=after-free access=read guarded site=app+0x100>lib+0x10 alloc=app+0x200 "     \
	"free=app+0x300 thread=main\n"
#define LATE                                                                                       \
	"finding type=overrun by=release access=write guarded site=app+0x900 alloc=app+0x200 "     \
	"kind=malloc block-size=20 release=free\n"
#define ACT                                                                                        \
	"finding type=overrun access=write guarded site=app+0x800 alloc=app+0x200 kind=malloc "    \
	"block-size=20\n"

static struct findings_join j;
static uint64_t left_out;

static struct heap *begin(const char *recipe)
{
	struct heap *h = recipe_heap(recipe);

	left_out = 0;
	assert_int_equal(findings_join_init(&j, h), 0);
	return h;
}

static void add_as(const char *recipe, unsigned run, bool program,
		   bool (*counts)(const struct heap_finding *f))
{
	struct heap *h = recipe_heap(recipe);

	assert_int_equal(findings_join_add(&j, h, run, program, counts, &left_out), 0);
	heap_free(h);		/* what was taken is a copy */
}

static void add(const char *recipe, unsigned run)
{
	add_as(recipe, run, true, NULL);
}

static void end(struct heap *h)
{
	char why[200];

	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	assert_int_equal(j.of.nr, h->nr_findings);
	findings_join_fini(&j);
	heap_free(h);
}

/* Where a frame is, as its file counts. */
static void assert_frame(const struct heap *h, uint32_t node, const char *path, uint64_t offset)
{
	const struct heap_module *m = &h->modules[h->nodes[node].module];

	assert_string_equal(m->path, path);
	assert_int_equal(h->nodes[node].pc - m->bias, offset);
	assert_true(h->nodes[node].pc >= m->start && h->nodes[node].pc < m->end);
}

static void same_stacks_elsewhere_are_the_same(void **state)
{
	struct heap *h = begin(FIRST ERROR_A ERROR_C);

	(void)state;
	add(SECOND ERROR_A, 1);
	add(SECOND ERROR_C, 2);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(j.of.v[0].runs, 3);
	assert_int_equal(j.of.v[1].runs, 5);
	assert_int_equal(j.of.v[0].run, 0);
	assert_int_equal(h->findings[0].count, 3);
	end(h);
}

static void others_are_taken_with_their_stacks(void **state)
{
	struct heap *h = begin(FIRST ERROR_A);
	const struct heap_finding *f;
	uint32_t node;

	(void)state;
	add(SECOND ERROR_B ERROR_C, 1);
	assert_int_equal(h->nr_findings, 3);
	assert_int_equal(h->nr_modules, 3);
	f = &h->findings[1];
	assert_int_equal(j.of.v[1].runs, 2);
	assert_int_equal(j.of.v[1].run, 1);
	assert_int_equal(j.of.v[1].pid, 200);
	assert_int_equal(h->threads[f->thread].tid, 200);
	node = h->sites[f->site].node;
	assert_frame(h, node, "lib", 0x11);
	assert_frame(h, h->nodes[node].parent, "app", 0x100);
	assert_int_equal(h->nodes[h->nodes[node].parent].parent, 0);
	assert_frame(h, h->sites[f->alloc_site].node, "app", 0x200);
	assert_int_equal(f->free_site, HEAP_NO_SITE);
	assert_frame(h, h->sites[h->findings[2].free_site].node, "app", 0x300);
	end(h);
}

/* A library that only one run loaded, where another has something else. */
static void modules_whose_place_is_taken_go_elsewhere(void **state)
{
	struct heap *h = begin(FIRST);

	(void)state;
	add("check guard\nmodule plugin at=0x1008000 size=64K\nmodule other at=0x1800000 size=64K\n"
	    "finding type=overrun site=plugin+0x10 alloc=other+0x20\nfinding type=overrun "
	    "site=plugin+0x30 alloc=other+0x20\n",
	    1);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(h->nr_modules, 5);
	assert_frame(h, h->sites[h->findings[0].site].node, "plugin", 0x10);
	assert_frame(h, h->sites[h->findings[1].site].node, "plugin", 0x30);
	assert_frame(h, h->sites[h->findings[1].alloc_site].node, "other", 0x20);
	for (uint32_t i = 1; i < h->nr_modules; i++)
		for (uint32_t k = 1; k < i; k++)
			assert_true(h->modules[i].start >= h->modules[k].end ||
				    h->modules[k].start >= h->modules[i].end);
	end(h);
}

static bool none(const struct heap_finding *f)
{
	(void)f;
	return false;
}

static void what_does_not_count_alone_counts_with_others(void **state)
{
	struct heap *h = begin(FIRST ERROR_A);

	(void)state;
	add_as(SECOND ERROR_A ERROR_B ERROR_C, 2, true, none);
	assert_int_equal(h->nr_findings, 1);
	assert_int_equal(j.of.v[0].runs, 5);
	assert_int_equal(left_out, 2);
	end(h);
}

static void processes_are_told_apart(void **state)
{
	struct heap *h = begin(FIRST ERROR_A);

	(void)state;
	add_as(SECOND ERROR_A, 0, false, NULL);
	add_as(SECOND ERROR_A, 1, false, NULL);
	add_as("process comm=tool pid=300\n" SECOND ERROR_A "process comm=tool\n", 1, false, NULL);
	assert_int_equal(h->nr_findings, 3);
	assert_int_equal(j.of.v[0].runs, 1);
	assert_true(j.of.v[0].program);
	assert_int_equal(j.of.v[1].runs, 3);
	assert_string_equal(j.of.v[1].comm, "app");
	assert_string_equal(j.of.v[2].comm, "tool");
	end(h);
}

/*
 * Damage noticed late is the write's that another run met, unless each run that met the write
 * noticed that, too.
 */
static void late_damage_goes_to_its_write(void **state)
{
	struct heap *h = begin(FIRST LATE);

	(void)state;
	add(SECOND LATE, 1);
	add(SECOND ACT, 2);
	findings_join_fold(&j);
	assert_int_equal(h->nr_findings, 1);
	assert_int_equal(h->findings[0].by, PMM_BY_ACCESS);
	assert_int_equal(j.of.v[0].runs, 7);
	end(h);

	h = begin(FIRST LATE ACT);
	add(SECOND LATE, 1);
	findings_join_fold(&j);
	assert_int_equal(h->nr_findings, 2);
	end(h);

	h = begin(FIRST LATE);
	add(SECOND "finding type=overrun access=write guarded site=app+0x800 alloc=app+0x200 "
		   "kind=malloc block-size=24\n",
	    1);
	add(SECOND "finding type=overrun access=read guarded site=app+0x800 alloc=app+0x200 "
		   "kind=malloc block-size=20\n",
	    1);
	add(SECOND "finding type=overrun access=write guarded site=app+0x800 alloc=app+0x204 "
		   "kind=malloc block-size=20\n",
	    1);
	findings_join_fold(&j);
	assert_int_equal(h->nr_findings, 4);
	end(h);
}

/* Two errors that look alike in one run are two in the other as well. */
static void likes_are_counted(void **state)
{
	struct heap *h = begin(FIRST ERROR_A ERROR_A);

	(void)state;
	add(SECOND ERROR_A ERROR_A, 1);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(j.of.v[0].runs, 3);
	assert_int_equal(j.of.v[1].runs, 3);
	end(h);
}

static void times_count_from_each_start(void **state)
{
	struct heap *h = begin("process attach=1s\n" FIRST);

	(void)state;
	add("process attach=5s\n" SECOND
	    "finding type=overrun site=app+0x1 alloc=app+0x2 first=7s last=8s alloc-at=6s\n",
	    1);
	assert_int_equal(h->findings[0].first_ns, 3000000000);
	assert_int_equal(h->findings[0].last_ns, 4000000000);
	assert_int_equal(h->findings[0].alloc_ns, 2000000000);
	assert_int_equal(h->findings[0].free_ns, 0);
	end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_stacks_elsewhere_are_the_same),
		cmocka_unit_test(others_are_taken_with_their_stacks),
		cmocka_unit_test(modules_whose_place_is_taken_go_elsewhere),
		cmocka_unit_test(what_does_not_count_alone_counts_with_others),
		cmocka_unit_test(processes_are_told_apart),
		cmocka_unit_test(late_damage_goes_to_its_write),
		cmocka_unit_test(likes_are_counted),
		cmocka_unit_test(times_count_from_each_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
