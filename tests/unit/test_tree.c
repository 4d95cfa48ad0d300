/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call trees: sums, order, depth, what is folded.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/tree.h"

/*
 *	main 1000 in 10
 *	  load 700 in 4:  parse 600 in 3 (of these 400 in 2 through node), 100 in 1 its own
 *	  draw 300 in 6:  parse 300 in 6
 */
static const char recipe[] = "site main>load>parse allocs=1 size=200\n"
			     "site main>load>parse>node allocs=2 size=200\n"
			     "site main>load allocs=1 size=100\n"
			     "site main>draw>parse allocs=6 size=50\n";

static void print(char *out, const struct heap *h, const struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct tree_row *r = &t->row[i];

		out += sprintf(out, "%u:", r->depth);
		if (r->more)
			out += sprintf(out, "+%u", r->more);
		else
			out += sprintf(out, "%s",
				       r->node ? h->modules[h->nodes[r->node].module].path : "?");
		out += sprintf(out, "=%llu/%llu", (unsigned long long)r->weight.bytes,
			       (unsigned long long)r->weight.count);
		if (r->self.count)
			out += sprintf(out, "(%llu)", (unsigned long long)r->self.bytes);
		*out++ = ' ';
	}
	*out = '\0';
}

static void expect(const char *text, bool down, enum rank_key key, struct tree_limits limits,
		   const char *expected)
{
	struct heap *h = recipe_heap(text);
	struct tree t;
	char got[2000];

	assert_int_equal((down ? tree_top_down : tree_bottom_up)(h, NULL, key, &limits, &t), 0);
	print(got, h, &t);
	assert_string_equal(got, expected);
	tree_fini(&t);
	heap_free(h);
}

static void top_down_sums_callees(void **state)
{
	(void)state;
	expect(recipe, true, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:main=1000/10 1:load=700/4(100) 2:parse=600/3(200) 3:node=400/2(400) "
	       "1:draw=300/6 2:parse=300/6(300) ");
}

static void blocks_of_size_zero_are_blocks(void **state)
{
	static const char zero[] = "site main>a allocs=2 size=8\nsite main>b allocs=3 size=0\n";

	(void)state;
	expect(zero, true, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:main=16/5 1:a=16/2(16) 1:b=0/3(0) ");
	expect(zero, false, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:a=16/2 1:main=16/2 0:b=0/3 1:main=0/3 ");
}

static void bottom_up_sums_callers(void **state)
{
	(void)state;
	expect(recipe, false, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:parse=500/7 1:draw=300/6 2:main=300/6 1:load=200/1 2:main=200/1 "
	       "0:node=400/2 1:parse=400/2 2:load=400/2 3:main=400/2 "
	       "0:load=100/1 1:main=100/1 ");
}

static void counts_order_by_calls(void **state)
{
	(void)state;
	expect(recipe, true, RANK_CALLS, (struct tree_limits){ .depth = 2 },
	       "0:main=1000/10 1:draw=300/6 1:load=700/4(100) ");
}

static void depth_top_and_share_limit(void **state)
{
	(void)state;
	expect(recipe, true, RANK_LIVE, (struct tree_limits){ .depth = 1 }, "0:main=1000/10 ");
	expect(recipe, true, RANK_LIVE, (struct tree_limits){ .depth = 2, .top = 1 },
	       "0:main=1000/10 1:load=700/4(100) 1:+1=300/6 ");
	expect(recipe, false, RANK_LIVE, (struct tree_limits){ .depth = 1, .min_percent = 45 },
	       "0:parse=500/7 0:+2=500/3 ");
}

static void recursion_is_a_chain(void **state)
{
	(void)state;
	expect("site main>f>f>f allocs=1 size=8\n", true, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:main=8/1 1:f=8/1 2:f=8/1 3:f=8/1(8) ");
	expect("site main>f>f>f allocs=1 size=8\n", false, RANK_LIVE, (struct tree_limits){ 0 },
	       "0:f=8/1 1:f=8/1 2:f=8/1 3:main=8/1 ");
}

static void unknown_stacks_have_a_row(void **state)
{
	(void)state;
	expect("site - allocs=2 size=8\nsite main allocs=1 size=8\n", true, RANK_LIVE,
	       (struct tree_limits){ 0 }, "0:?=16/2(16) 0:main=8/1(8) ");
	expect("site - allocs=2 size=8\nsite main allocs=1 size=8\n", false, RANK_LIVE,
	       (struct tree_limits){ 0 }, "0:?=16/2 0:main=8/1 ");
}

static void bottom_up_begins_outside_the_allocator(void **state)
{
	(void)state;
	expect("site main>f>libjemalloc.so.2 allocs=1 size=8\n", false, RANK_LIVE,
	       (struct tree_limits){ 0 }, "0:f=8/1 1:main=8/1 ");
}

static void nothing_is_an_empty_tree(void **state)
{
	(void)state;
	expect("site main allocs=1 frees=1 size=8 peak-blocks=0\n", true, RANK_LIVE,
	       (struct tree_limits){ 0 }, "");
	expect("\n", false, RANK_LIVE, (struct tree_limits){ 0 }, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top_down_sums_callees),
		cmocka_unit_test(blocks_of_size_zero_are_blocks),
		cmocka_unit_test(bottom_up_sums_callers),
		cmocka_unit_test(counts_order_by_calls),
		cmocka_unit_test(depth_top_and_share_limit),
		cmocka_unit_test(recursion_is_a_chain),
		cmocka_unit_test(unknown_stacks_have_a_row),
		cmocka_unit_test(bottom_up_begins_outside_the_allocator),
		cmocka_unit_test(nothing_is_an_empty_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
