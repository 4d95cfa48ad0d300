/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaks of trees: equal entries of many processes are one, whatever addresses modules have;
 * different ones stay apart; what is kept does not grow with the number of processes.
 */
#include "src/analyze/leaks_tree.h"
#include "tests/unit/recipe_heap.h"

/* As if the loader had put everything elsewhere: by this many bytes. */
static void slide(struct heap *h, uint64_t by)
{
	for (uint32_t i = 1; i < h->nr_modules; i++) {
		h->modules[i].start += by;
		h->modules[i].end += by;
		h->modules[i].bias += by;
	}
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		if (h->nodes[i].module)
			h->nodes[i].pc += by;
}

static struct heap *process(const char *recipe, uint32_t pid, uint64_t by)
{
	struct heap *h = recipe_heap(recipe);

	h->pid = pid;
	slide(h, by);
	return h;
}

static void add(struct leaks_tree *t, const char *recipe, uint32_t pid, uint64_t by)
{
	struct heap *h = process(recipe, pid, by);

	assert_int_equal(leaks_tree_add(t, h, 0), 0);
	heap_free(h);
}

static void end(struct leaks_tree *t)
{
	char why[200] = "";

	assert_int_equal(leaks_tree_begin(t, NULL), 0);
	assert_int_equal(leaks_judge(&t->leaks, t->merge.heap, &(struct leaks_options){ 0 }), 0);
	if (heap_check(t->merge.heap, why, sizeof(why)))
		fail_msg("%s", why);
}

#define SERVER	"process exe=/bin/server taken=20s end=exited\n" \
		"module libz.so size=1M\n" \
		"site main>handle>copy size=16 allocs=1\n" \
		"site main>inflate@libz.so size=16 allocs=1\n" \
		"search exit complete at=20s\n"

static void equal_entries_are_one(void **state)
{
	struct leaks_tree t = { 0 };
	const struct merge_group *g;
	const struct leak_entry *e;

	(void)state;
	for (uint32_t i = 1; i <= 40; i++)
		add(&t,
		    SERVER "leak definite main>handle>copy blocks=2 bytes=32 indirect-blocks=1 "
			   "indirect-bytes=5 oldest=1s newest=2s\n",
		    100 + i, i * 0x100000000ull);
	end(&t);
	assert_int_equal(t.leaks.entries.nr, 1);
	e = &t.leaks.entries.v[0];
	assert_int_equal(e->verdict, LEAK_CERTAIN);
	assert_int_equal(e->blocks, 80);
	assert_int_equal(e->bytes, 1280);
	assert_int_equal(e->indirect_bytes, 200);
	g = leaks_tree_group(&t, e);
	assert_int_equal(g->processes, 40);
	assert_int_equal(g->pids[0], MERGE_PIDS);
	assert_int_equal(g->pids[1], 101);
	assert_string_equal(merge_program(&t.merge, g->program), "/bin/server");
	assert_int_equal(t.leaks.by_class[REACH_DEFINITE].blocks, 80);
	assert_int_equal(t.leaks.by_class[REACH_DEFINITE].sites, 1);
	assert_int_equal(t.merge.heap->search.at_ns - e->oldest_ns, 19000000000ull);
	assert_int_equal(t.merge.heap->search.at_ns - e->newest_ns, 18000000000ull);
	leaks_tree_fini(&t);
}

/* By program, stack, class and holder. */
static void different_entries_stay_apart(void **state)
{
	struct leaks_tree t = { 0 };

	(void)state;
	add(&t,
	    SERVER "leak definite main>handle>copy bytes=16\n"
		   "leak definite main>inflate@libz.so bytes=16\n",
	    1, 0);
	add(&t, SERVER "leak possible main>handle>copy bytes=16\n", 2, 0);
	add(&t, SERVER "leak reachable main>handle>copy bytes=16\n", 3, 0x1000);
	add(&t, SERVER "leak indirect main>handle>copy bytes=16 holder=main>inflate@libz.so\n", 4,
	    0x2000);
	add(&t,
	    "process exe=/bin/other taken=20s end=exited\n"
	    "site main>handle>copy size=16 allocs=1\n"
	    "search exit complete at=20s\n"
	    "leak definite main>handle>copy bytes=16\n",
	    5, 0);
	end(&t);
	assert_int_equal(t.leaks.entries.nr, 6);
	vec_each(&t.leaks.entries, e)
		assert_int_equal(leaks_tree_group(&t, e)->processes, 1);
	assert_int_equal(t.leaks.by_class[REACH_DEFINITE].blocks, 3);
	assert_int_equal(t.leaks.by_class[REACH_POSSIBLE].blocks, 1);
	assert_int_equal(t.leaks.by_class[REACH_REACHED].blocks, 1);
	assert_int_equal(t.leaks.by_class[REACH_INDIRECT].blocks, 1);
	leaks_tree_fini(&t);
}

/* A process's modules lie where another's do: each keeps its names. */
static void names_are_those_of_each_module(void **state)
{
	struct leaks_tree t = { 0 };
	struct names n;

	(void)state;
	add(&t,
	    "process exe=/a\nmodule first at=0x10000000 size=1M\nsite first size=16 "
	    "allocs=1\nsearch exit complete\nleak definite first bytes=16\n",
	    1, 0);
	add(&t,
	    "process exe=/b\nmodule second at=0x10000000 size=1M\nsite second size=16 "
	    "allocs=1\nsearch exit complete\nleak definite second bytes=17\n",
	    2, 0);
	end(&t);
	recipe_names(&n, t.merge.heap);
	assert_int_equal(t.leaks.entries.nr, 2);
	assert_string_equal(
		names_responsible(&n, t.merge.heap->sites[t.leaks.entries.v[0].site].node, NULL)
			->function,
		"second");
	assert_string_equal(
		names_responsible(&n, t.merge.heap->sites[t.leaks.entries.v[1].site].node, NULL)
			->function,
		"first");
	names_fini(&n);
	leaks_tree_fini(&t);
}

/* Twenty thousand processes take the room of one. */
static void many_processes_take_no_more_room(void **state)
{
	struct heap *h = recipe_heap(SERVER "leak definite main>handle>copy bytes=16\n"
					    "leak reachable main>inflate@libz.so bytes=16\n");
	struct leaks_tree t = { 0 };
	uint32_t nodes = 0;

	(void)state;
	for (uint32_t i = 1; i <= 20000; i++) {
		h->pid = i;
		slide(h, 0x1000);
		assert_int_equal(leaks_tree_add(&t, h, 0), 0);
		if (i == 1)
			nodes = t.merge.heap->nr_nodes;
	}
	end(&t);
	assert_int_equal(t.leaks.entries.nr, 2);
	assert_int_equal(leaks_tree_group(&t, &t.leaks.entries.v[0])->processes, 20000);
	assert_int_equal(t.merge.heap->nr_nodes, nodes);
	assert_int_equal(t.merge.heap->nr_sites, 3);
	assert_true(t.merge.room_nodes <= 64 && t.groups.room <= 64);
	leaks_tree_fini(&t);
	heap_free(h);
}

/* Not all blocks of some processes were known; nobody was searched at all. */
static void what_must_be_known_is_summed(void **state)
{
	struct leaks_tree t = { 0 };

	(void)state;
	add(&t, SERVER, 1, 0);
	add(&t, "process exe=/bin/server\nsearch exit at=2s\n", 2, 0);
	end(&t);
	assert_int_equal(t.nr, 2);
	assert_int_equal(t.nr_incomplete, 1);
	assert_false(t.merge.heap->search.complete);
	leaks_tree_fini(&t);
	end(&t);
	assert_int_equal(t.leaks.entries.nr, 0);
	assert_int_equal(t.merge.heap->search.how, HEAP_SEARCH_EXIT);
	leaks_tree_fini(&t);
}

/* How many sites are beyond those that are followed, where so many are. */
static uint64_t unjudged(uint64_t watched, uint64_t past)
{
	struct growing of_now = { .nr_left_out = watched }, before = { .nr_left_out = past };
	const struct leaks_options options = { .growing = watched ? &of_now : NULL,
					       .past = past ? &before : NULL };
	struct heap *h = recipe_heap("#\n");
	struct leaks l = { 0 };
	uint64_t nr;

	assert_int_equal(leaks_judge(&l, h, &options), 0);
	nr = l.nr_unjudged;
	leaks_fini(&l);
	heap_free(h);
	return nr;
}

static void sites_that_are_too_many_are_counted(void **state)
{
	(void)state;
	assert_int_equal(unjudged(0, 0), 0);
	assert_int_equal(unjudged(3, 0), 3);
	assert_int_equal(unjudged(0, 5), 5);
	assert_int_equal(unjudged(3, 5), 5);
	assert_int_equal(unjudged(6, 5), 6);
}

/* A process of so many sites that may grow. */
static void add_sites(struct leaks_tree *t, uint32_t pid, unsigned nr)
{
	const size_t room = 100 + nr * 80ul;
	char *recipe = malloc(room);
	size_t n;

	assert_non_null(recipe);
	n = (size_t)snprintf(recipe, room, "process taken=20s\nsearch exit complete at=20s\n");
	for (unsigned i = 0; i < nr; i++)
		n += (size_t)snprintf(recipe + n, room - n,
				      "site f%u>g%u allocs=16 size=8 first=1s last=15s\n",
				      i / 64, i % 64);
	add(t, recipe, pid, 0);
	free(recipe);
}

static void sites_that_were_too_many_are_summed(void **state)
{
	struct leaks_tree t = { 0 };

	(void)state;
	add_sites(&t, 1, GROWING_MAX_SITES + 2);
	add_sites(&t, 2, GROWING_MAX_SITES);
	add_sites(&t, 3, GROWING_MAX_SITES + 5);
	end(&t);
	assert_int_equal(t.leaks.nr_unjudged, 7);
	leaks_tree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_entries_are_one),
		cmocka_unit_test(different_entries_stay_apart),
		cmocka_unit_test(names_are_those_of_each_module),
		cmocka_unit_test(many_processes_take_no_more_room),
		cmocka_unit_test(what_must_be_known_is_summed),
		cmocka_unit_test(sites_that_are_too_many_are_counted),
		cmocka_unit_test(sites_that_were_too_many_are_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
