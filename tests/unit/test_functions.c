/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with what is held through them: each stack counts once for a function, however often
 * that is in it.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/functions.h"

static void expect(const char *recipe, enum rank_key key, uint64_t top, const char *expected)
{
	struct heap *h = recipe_heap(recipe);
	struct functions f;
	struct names n;
	char got[1000] = "", *p = got;

	recipe_names(&n, h);
	assert_int_equal(functions_rank(h, NULL, &n, key, top, &f), 0);
	for (uint32_t i = 0; i < f.nr; i++)
		p += sprintf(p, "%s=%llu/%u ", f.v[i].frame->function,
			     (unsigned long long)rank_value(key, f.v[i].weight), f.v[i].nr_sites);
	sprintf(p, "of %u", f.nr_all);
	assert_string_equal(got, expected);
	functions_fini(&f);
	names_fini(&n);
	heap_free(h);
}

#define TWO                                                                                        \
	"site main>a>leaf allocs=1 size=100\nsite main>b>leaf allocs=2 size=100\nsite main>b "     \
	"allocs=1 size=250\n"

static void callers_have_what_they_call(void **state)
{
	(void)state;
	expect(TWO, RANK_LIVE, 0, "main=550/3 b=450/2 leaf=300/2 a=100/1 of 4");
	expect(TWO, RANK_LIVE, 2, "main=550/3 b=450/2 of 4");
	expect(TWO, RANK_CALLS, 0, "main=4/3 b=3/2 leaf=3/2 a=1/1 of 4");
}

static void recursion_counts_once(void **state)
{
	(void)state;
	expect("site main>f>f>g>f allocs=1 size=10\nsite main>f allocs=1 size=1\n", RANK_LIVE, 0,
	       "f=11/2 main=11/2 g=10/1 of 3");
}

static void inlined_functions_are_functions(void **state)
{
	(void)state;
	expect("site main>outer|inner allocs=1 size=8\n", RANK_LIVE, 0,
	       "inner=8/1 main=8/1 outer=8/1 of 3");
}

static void libraries_and_allocators_are_none_of_the_programs(void **state)
{
	(void)state;
	expect("site main>std::sort>parse>xmalloc>libc.so.6 allocs=1 size=8\nsite libc.so.6 "
	       "allocs=1 size=5\n",
	       RANK_LIVE, 0, "main=8/1 parse=8/1 of 2");
}

static void blocks_of_size_zero_are_blocks(void **state)
{
	(void)state;
	expect("site main>a allocs=2 size=8\nsite main>b allocs=3 size=0\n", RANK_LIVE, 0,
	       "main=16/2 a=16/1 b=0/1 of 3");
}

static void nothing_is_held(void **state)
{
	(void)state;
	expect("site main>a allocs=1 frees=1 size=8\n", RANK_LIVE, 0, "of 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_size_zero_are_blocks),
		cmocka_unit_test(callers_have_what_they_call),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_functions_are_functions),
		cmocka_unit_test(libraries_and_allocators_are_none_of_the_programs),
		cmocka_unit_test(nothing_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
