/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rankings: order, totals, what each key measures, what is left out.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/rank.h"

/*
 *          live            peak           allocated      calls   temporary
 * big      6000 in 2       6000           10000          10      0
 * many     1000 in 100     1000           20000          2000    1500
 * past     0               9000 in 3      9000           3       1
 */
static const char recipe[] =
	"site main>big allocs=10 frees=8 size=1000 bytes-out=4000 peak-bytes=6000\n"
	"site main>many allocs=2000 frees=1900 size=10 temporary=1500\n"
	"site main>past allocs=3 frees=3 size=3000 peak-blocks=3 temporary=1\n";

static void order(const char *text, enum rank_key key, uint64_t top, const char *expected)
{
	struct heap *h = recipe_heap(text);
	struct ranking r;
	char got[200] = "";

	assert_int_equal(rank_sites(h, NULL, key, top, &r), 0);
	for (uint32_t i = 0; i < r.nr; i++) {
		strcat(got, i ? " " : "");
		strcat(got, h->modules[h->nodes[h->sites[r.site[i]].node].module].path);
	}
	assert_string_equal(got, expected);
	ranking_fini(&r);
	heap_free(h);
}

static void each_key_has_its_order(void **state)
{
	(void)state;
	order(recipe, RANK_LIVE, 5, "big many");
	order(recipe, RANK_PEAK, 5, "past big many");
	order(recipe, RANK_ALLOCATED, 5, "many big past");
	order(recipe, RANK_CALLS, 5, "many big past");
	order(recipe, RANK_TEMPORARY, 5, "many past");
}

static void top_cuts_and_zero_shows_all(void **state)
{
	(void)state;
	order(recipe, RANK_PEAK, 1, "past");
	order(recipe, RANK_LIVE, 0, "big many past");
}

static void equals_keep_the_order_of_sites(void **state)
{
	(void)state;
	order("site a allocs=1 size=8\nsite b allocs=1 size=8\nsite c allocs=1 size=8\n", RANK_LIVE,
	      2, "a b");
}

static void totals_are_over_all_sites(void **state)
{
	struct heap *h = recipe_heap(recipe);
	struct ranking r;

	(void)state;
	assert_int_equal(rank_sites(h, NULL, RANK_PEAK, 1, &r), 0);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.nr_all, 3);
	assert_int_equal(r.total.bytes, 6000 + 1000 + 9000);
	assert_int_equal(r.total.count, 2 + 100 + 3);
	ranking_fini(&r);
	assert_int_equal(rank_sites(h, NULL, RANK_TEMPORARY, 1, &r), 0);
	assert_int_equal(r.total.count, 1501);
	assert_int_equal(r.total.bytes, 0);
	ranking_fini(&r);
	heap_free(h);
}

static void negative_figures_count_as_nothing(void **state)
{
	struct heap *h = recipe_heap("site a allocs=1 size=8\n");
	uint32_t a = recipe_site(h, "a");

	(void)state;
	h->sites[a].live_bytes = -5;
	h->sites[a].live_blocks = -1;
	assert_int_equal(rank_weight(h, NULL, RANK_LIVE, a).bytes, 0);
	assert_int_equal(rank_weight(h, NULL, RANK_LIVE, a).count, 0);
	heap_free(h);
}

static void mappings_rank_by_what_is_mapped_then_by_what_was(void **state)
{
	struct heap *h = recipe_heap("site gone kind=mmap allocs=9 frees=9 size=1M\n"
				     "site held kind=mmap allocs=1 size=4096\n"
				     "site less kind=mmap allocs=2 frees=2 size=4096\n");
	struct ranking r;
	const char *expected[] = { "held", "gone", "less" };

	(void)state;
	assert_int_equal(rank_map_sites(h, 0, &r), 0);
	assert_int_equal(r.nr, 3);
	for (int i = 0; i < 3; i++) {
		const struct heap_site *s = &h->map_sites[r.site[i]];

		assert_string_equal(h->modules[h->nodes[s->node].module].path, expected[i]);
	}
	assert_int_equal(r.total.bytes, 4096);
	ranking_fini(&r);
	heap_free(h);
}

static void blocks_rank_by_size(void **state)
{
	struct heap *h = recipe_heap(
		"site a allocs=2 size=100\nsite b allocs=1 size=5000\nsite c allocs=1 size=1\n");
	uint64_t *block, nr;

	(void)state;
	assert_int_equal(rank_blocks(h, NULL, 3, &block, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(h->blocks[block[0]].size_bytes, 5000);
	assert_int_equal(h->blocks[block[1]].size_bytes, 100);
	assert_int_equal(h->blocks[block[2]].size_bytes, 100);
	assert_true(block[1] < block[2]);
	free(block);
	assert_int_equal(rank_blocks(h, NULL, 0, &block, &nr), 0);
	assert_int_equal(nr, 4);
	free(block);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_has_its_order),
		cmocka_unit_test(top_cuts_and_zero_shows_all),
		cmocka_unit_test(equals_keep_the_order_of_sites),
		cmocka_unit_test(totals_are_over_all_sites),
		cmocka_unit_test(negative_figures_count_as_nothing),
		cmocka_unit_test(mappings_rank_by_what_is_mapped_then_by_what_was),
		cmocka_unit_test(blocks_rank_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
