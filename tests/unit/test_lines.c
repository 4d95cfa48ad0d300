/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that hold the memory: which frame answers, how stacks join, how few names are asked for.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/lines.h"

static void expect(const char *recipe, enum rank_key key, uint64_t top, const char *expected)
{
	struct heap *h = recipe_heap(recipe);
	struct names n;
	struct lines l;
	char got[1000] = "", *p = got;

	recipe_names(&n, h);
	assert_int_equal(lines_rank(h, NULL, &n, key, top, &l), 0);
	for (uint32_t i = 0; i < l.nr; i++) {
		const struct frame_name *f = l.line[i].frame;

		p += sprintf(p, "%s=%llu/%u ",
			     !f		   ? "?"
			     : f->function ? f->function
					   : f->module,
			     (unsigned long long)rank_value(key, l.line[i].weight),
			     l.line[i].nr_sites);
	}
	assert_string_equal(got, expected);
	lines_fini(&l);
	names_fini(&n);
	heap_free(h);
}

static void stacks_of_one_line_join(void **state)
{
	(void)state;
	expect("site main>a>leaf allocs=1 size=100\nsite main>b>leaf allocs=2 size=100\nsite "
	       "main>b allocs=1 size=250\n",
	       RANK_LIVE, 5, "leaf=300/2 b=250/1 ");
}

static void blocks_of_size_zero_are_blocks(void **state)
{
	(void)state;
	expect("site main>a allocs=2 size=8\nsite main>b allocs=3 size=0\nsite main>b>a allocs=1 "
	       "size=0\n",
	       RANK_LIVE, 5, "a=16/2 b=0/1 ");
}

static void libraries_and_wrappers_hand_on(void **state)
{
	(void)state;
	expect("site main>parse>/lib/libc.so.6 allocs=1 size=100\n"
	       "site main>parse>xmalloc allocs=1 size=50\n"
	       "site main>parse>xmalloc>libc.so.6 allocs=1 size=7\n"
	       "site main>xmalloc allocs=1 size=20\n",
	       RANK_LIVE, 5, "parse=157/3 main=20/1 ");
}

static void inlined_frames_answer_first(void **state)
{
	(void)state;
	expect("site main>outer|inner allocs=1 size=8\n", RANK_LIVE, 5, "inner=8/1 ");
	expect("site main>outer|std::vector allocs=1 size=8\n", RANK_LIVE, 5, "outer=8/1 ");
}

static void without_a_program_frame_the_library_answers(void **state)
{
	(void)state;
	expect("site libc.so.6 allocs=1 size=8\nsite - allocs=1 size=16\n", RANK_LIVE, 5,
	       "?=16/1 libc.so.6=8/1 ");
}

static void a_dissolved_group_can_make_another_the_largest(void **state)
{
	(void)state;
	/*
	 * xmalloc is largest by address (120), but its two callers have 60 each, less than
	 * direct (100)
	 */
	expect("site main>one>xmalloc allocs=1 size=60\nsite main>two>xmalloc allocs=1 size=60\n"
	       "site main>direct allocs=1 size=100\n",
	       RANK_LIVE, 1, "direct=100/1 ");
	expect("site main>one>xmalloc allocs=1 size=60\nsite main>two>xmalloc allocs=1 size=60\n"
	       "site main>one allocs=1 size=50\nsite main>direct allocs=1 size=100\n",
	       RANK_LIVE, 2, "one=110/2 direct=100/1 ");
}

static void who_comes_to_a_group_that_is_gone_is_counted(void **state)
{
	(void)state;
	/* calloc's site comes to xmalloc's address when malloc's has moved on from there */
	expect("site main>one>xmalloc>malloc allocs=1 size=100\nsite main>two>xmalloc>calloc "
	       "allocs=1 size=10\n",
	       RANK_LIVE, 5, "one=100/1 two=10/1 ");
}

static void parts_of_pmm_h_hand_on(void **state)
{
	(void)state;
	expect("site main>own>pmm_malloc>get_block>real_block allocs=1 size=100\nsite "
	       "main>own>pmm_strdup>get_block allocs=1 size=10\n",
	       RANK_LIVE, 5, "own=110/2 ");
	expect("site main>own>get_block>real_block allocs=1 size=100\n", RANK_LIVE, 5,
	       "real_block=100/1 ");
}

/* Of lines that hold as much, the one with more blocks comes first, then the first by name. */
static void equals_have_an_order(void **state)
{
	(void)state;
	expect("site main>c size=100\nsite main>b allocs=4 size=25\nsite main>a size=100\nsite "
	       "main>d allocs=2 size=50\n",
	       RANK_LIVE, 5, "b=100/1 d=100/1 a=100/1 c=100/1 ");
	expect("site main>c size=100\nsite main>b size=25\nsite main>a size=100\nsite main>d "
	       "size=50\n",
	       RANK_CALLS, 5, "a=1/1 c=1/1 d=1/1 b=1/1 ");
	expect("site main>c allocs=3 size=1\nsite main>f allocs=6 size=1\nsite main>a size=9\nsite "
	       "main>e allocs=5 size=1\nsite main>d allocs=4 size=2\n"
	       "site main>b allocs=2 size=8\n",
	       RANK_CALLS, 6, "f=6/1 e=5/1 d=4/1 c=3/1 b=2/1 a=1/1 ");
}

static void keys_are_followed(void **state)
{
	static const char recipe[] =
		"site main>a allocs=10 size=1 temporary=2\nsite main>b allocs=1 size=100\n";

	(void)state;
	expect(recipe, RANK_CALLS, 5, "a=10/1 b=1/1 ");
	expect(recipe, RANK_ALLOCATED, 5, "b=100/1 a=10/1 ");
	expect(recipe, RANK_TEMPORARY, 5, "a=2/1 ");
}

/*
 * The largest line may be made of stacks each of which is smaller than all others; how many are
 * asked for makes no difference.
 */
static void small_ones_make_a_large_line(void **state)
{
	static const char recipe[] = "site main>one>big size=100\nsite main>two>other "
				     "size=90\nsite main>many+0x10 size=40\n"
				     "site main>many+0x20 size=40\nsite main>many+0x30 size=40\n";

	(void)state;
	expect(recipe, RANK_LIVE, 1, "many=120/3 ");
	expect(recipe, RANK_LIVE, 2, "many=120/3 big=100/1 ");
	expect(recipe, RANK_LIVE, 5, "many=120/3 big=100/1 other=90/1 ");
}

static void each_address_is_looked_up_once(void **state)
{
	struct heap *h = recipe_heap("generate sites=5000 blocks=5000 seed=3 modules=4\n");
	struct names n;
	struct lines l;

	(void)state;
	recipe_names(&n, h);
	assert_int_equal(lines_rank(h, NULL, &n, RANK_LIVE, 10, &l), 0);
	assert_int_equal(l.nr, 10);
	assert_in_range(recipe_lookups, 10, 5000);
	lines_fini(&l);
	names_fini(&n);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_one_line_join),
		cmocka_unit_test(blocks_of_size_zero_are_blocks),
		cmocka_unit_test(libraries_and_wrappers_hand_on),
		cmocka_unit_test(inlined_frames_answer_first),
		cmocka_unit_test(without_a_program_frame_the_library_answers),
		cmocka_unit_test(a_dissolved_group_can_make_another_the_largest),
		cmocka_unit_test(who_comes_to_a_group_that_is_gone_is_counted),
		cmocka_unit_test(parts_of_pmm_h_hand_on),
		cmocka_unit_test(equals_have_an_order),
		cmocka_unit_test(keys_are_followed),
		cmocka_unit_test(small_ones_make_a_large_line),
		cmocka_unit_test(each_address_is_looked_up_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
