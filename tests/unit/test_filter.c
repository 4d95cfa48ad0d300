/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters: patterns, frames, threads, sizes, ages, and the figures that remain.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/filter.h"
#include "src/analyze/rank.h"

static const char recipe[] =
	"process taken=10s\n"
	"thread main tid=7\nthread worker-1 tid=8\nthread worker-2 tid=9\n"
	"site main>load>parse thread=main allocs=5 frees=1 size=100 first=2s last=8s\n"
	"site main>load|inner>node thread=worker-1 allocs=2 size=5000 first=9s\n"
	"site main>/lib/libz.so.1 thread=worker-2 allocs=1 size=70 first=1s\n"
	"site main>old thread=worker-2 allocs=3 frees=3 size=10 peak-blocks=0\n";

struct fixture {
	struct heap *h;
	struct names n;
	struct selection s;
	struct filter f;
};

static void apply(struct fixture *x)
{
	struct err e = { 0 };

	x->h = recipe_heap(recipe);
	recipe_names(&x->n, x->h);
	assert_int_equal(selection_init(&x->s, x->h, &x->n, &x->f, &e), 0);
}

static void done(struct fixture *x)
{
	selection_fini(&x->s);
	names_fini(&x->n);
	heap_free(x->h);
	memset(x, 0, sizeof(*x));
}

/* Live bytes and blocks of all sites that pass. */
static void expect(struct filter f, uint64_t bytes, uint64_t blocks, uint64_t listed)
{
	struct fixture x = { .f = f };
	struct ranking r;

	apply(&x);
	assert_int_equal(rank_sites(x.h, &x.s, RANK_LIVE, 5, &r), 0);
	assert_int_equal(r.total.bytes, bytes);
	assert_int_equal(r.total.count, blocks);
	assert_int_equal(x.s.nr_blocks, listed);
	ranking_fini(&r);
	done(&x);
}

static void patterns(void **state)
{
	(void)state;
	assert_true(filter_match("ars", "parse"));
	assert_false(filter_match("ars*", "parse"));
	assert_true(filter_match("par*", "parse"));
	assert_true(filter_match("p[a-c]rse", "parse"));
	assert_false(filter_match("x", NULL));
	assert_true(filter_match("", "parse"));
}

static void no_filter_passes_everything(void **state)
{
	(void)state;
	expect((struct filter){ 0 }, 400 + 10000 + 70, 7, 7);
}

static void functions_match_anywhere_in_the_stack(void **state)
{
	(void)state;
	expect((struct filter){ .function = "main" }, 10470, 7, 7);
	expect((struct filter){ .function = "load" }, 10400, 6, 6);
	expect((struct filter){ .function = "parse" }, 400, 4, 4);
	expect((struct filter){ .function = "inn*" }, 10000, 2, 2);
	expect((struct filter){ .function = "nowhere" }, 0, 0, 0);
}

static void files_and_modules_match_the_same_frame(void **state)
{
	(void)state;
	expect((struct filter){ .file = "parse.c" }, 400, 4, 4);
	expect((struct filter){ .file = "*/node.c" }, 10000, 2, 2);
	expect((struct filter){ .file = "node.*" }, 10000, 2, 2);
	expect((struct filter){ .module = "libz" }, 70, 1, 1);
	expect((struct filter){ .module = "libz*" }, 70, 1, 1);
	expect((struct filter){ .function = "load", .file = "parse.c" }, 0, 0, 0);
	expect((struct filter){ .function = "inner", .file = "inner.c" }, 10000, 2, 2);
}

static void module_filter_asks_for_no_other_names(void **state)
{
	struct fixture x = { .f = { .module = "libz" } };

	(void)state;
	apply(&x);
	assert_int_equal(recipe_lookups, 1);
	done(&x);
}

static void threads_by_name_and_number(void **state)
{
	(void)state;
	expect((struct filter){ .thread = "main" }, 400, 4, 4);
	expect((struct filter){ .thread = "worker" }, 10070, 3, 3);
	expect((struct filter){ .thread = "9" }, 70, 1, 1);
}

static void an_unknown_thread_is_an_error(void **state)
{
	struct fixture x = { 0 };
	struct filter f = { .thread = "nobody" };
	struct selection s;
	struct err e = { 0 };

	(void)state;
	apply(&x);
	assert_int_equal(selection_init(&s, x.h, &x.n, &f, &e), -ENOENT);
	assert_string_equal(e.text, "no thread matches 'nobody'");
	done(&x);
}

static void sizes_include_both_ends(void **state)
{
	(void)state;
	expect((struct filter){ .by_size = true, .size_bytes = { 70, 100 } }, 470, 5, 5);
	expect((struct filter){ .by_size = true, .size_bytes = { 71, 4999 } }, 400, 4, 4);
	expect((struct filter){ .by_size = true, .size_bytes = { 101, UINT64_MAX } }, 10000, 2, 2);
}

/* parse: born at 2, 4, 6, 8 s, so 8, 6, 4, 2 s old; node: 1 s; libz: 9 s */
static void ages_include_both_ends(void **state)
{
	const uint64_t s = 1000000000;

	(void)state;
	expect((struct filter){ .by_age = true, .age_ns = { 4 * s, 8 * s } }, 300, 3, 3);
	expect((struct filter){ .by_age = true, .age_ns = { 0, 2 * s } }, 10100, 3, 3);
	expect((struct filter){ .by_age = true, .age_ns = { 8 * s + 1, UINT64_MAX } }, 70, 1, 1);
}

static void filters_add_up(void **state)
{
	(void)state;
	expect((struct filter){ .function = "load",
				.thread = "worker",
				.by_size = true,
				.size_bytes = { 1, 5000 } },
	       10000, 2, 2);
	expect((struct filter){ .function = "parse", .thread = "worker" }, 0, 0, 0);
}

static void stack_filters_keep_all_figures(void **state)
{
	struct fixture x = { .f = { .function = "parse" } };

	(void)state;
	apply(&x);
	assert_false(x.s.from_blocks);
	assert_int_equal(rank_weight(x.h, &x.s, RANK_ALLOCATED, recipe_site(x.h, "parse")).bytes,
			 500);
	assert_int_equal(rank_weight(x.h, &x.s, RANK_ALLOCATED, recipe_site(x.h, "old")).bytes, 0);
	done(&x);
}

static void block_filters_know_live_blocks_only(void **state)
{
	struct fixture x = { .f = { .thread = "main" } };

	(void)state;
	apply(&x);
	assert_true(x.s.from_blocks);
	assert_int_equal(rank_weight(x.h, &x.s, RANK_LIVE, recipe_site(x.h, "parse")).bytes, 400);
	assert_int_equal(rank_weight(x.h, &x.s, RANK_ALLOCATED, recipe_site(x.h, "parse")).bytes,
			 0);
	done(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(no_filter_passes_everything),
		cmocka_unit_test(functions_match_anywhere_in_the_stack),
		cmocka_unit_test(files_and_modules_match_the_same_frame),
		cmocka_unit_test(module_filter_asks_for_no_other_names),
		cmocka_unit_test(threads_by_name_and_number),
		cmocka_unit_test(an_unknown_thread_is_an_error),
		cmocka_unit_test(sizes_include_both_ends),
		cmocka_unit_test(ages_include_both_ends),
		cmocka_unit_test(filters_add_up),
		cmocka_unit_test(stack_filters_keep_all_figures),
		cmocka_unit_test(block_filters_know_live_blocks_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
