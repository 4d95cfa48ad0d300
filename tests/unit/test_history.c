/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap over time: peak and end take their places; what the peak was made of.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/history.h"

#define S 1000000000ull
#define MS 1000000ull

static void expect(const char *recipe, size_t nr, size_t peak, const uint64_t (*points)[2])
{
	struct heap *h = recipe_heap(recipe);
	struct history y;

	assert_int_equal(history_init(&y, h), 0);
	assert_int_equal(y.nr, nr);
	assert_int_equal(y.peak, peak);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(y.point[i].time_ns, points[i][0]);
		assert_int_equal(y.point[i].live_bytes, points[i][1]);
	}
	history_fini(&y);
	heap_free(h);
}

static void peak_goes_between_points(void **state)
{
	(void)state;
	expect("process taken=10s\ntotals peak=900 peak-at=3s\nsite a size=500 peak-bytes=900\n"
	       "point 2s live=100 blocks=1 allocs=1\npoint 4s live=200 blocks=1 allocs=1\n",
	       5, 2,
	       (const uint64_t[][2]){
		       { 0, 0 }, { 2 * S, 100 }, { 3 * S, 900 }, { 4 * S, 200 }, { 10 * S, 500 } });
}

static void a_point_that_is_the_peak_is_there_once(void **state)
{
	(void)state;
	expect("process taken=10s\ntotals peak=900 peak-at=4s\nsite a size=500 peak-bytes=900\n"
	       "point 2s live=100 blocks=1 allocs=1\npoint 4s live=900 blocks=1 allocs=1\n",
	       4, 2,
	       (const uint64_t[][2]){ { 0, 0 }, { 2 * S, 100 }, { 4 * S, 900 }, { 10 * S, 500 } });
}

/* The agent's clock has steps of 10 ms: which of a step's points came before the peak? */
static void peak_goes_beside_the_highest_point_of_its_tick(void **state)
{
	(void)state;
	/* it only grew: the point was taken before the peak */
	expect("process taken=10s\ntotals peak=900 peak-at=20ms\nsite a size=900\n"
	       "point 10ms live=100 blocks=1 allocs=1\npoint 23ms live=800 blocks=1 allocs=1\n"
	       "point 30ms live=900 blocks=1 allocs=1\n",
	       6, 3,
	       (const uint64_t[][2]){ { 0, 0 },
				      { 10 * MS, 100 },
				      { 23 * MS, 800 },
				      { 23 * MS, 900 },
				      { 30 * MS, 900 },
				      { 10 * S, 900 } });
	/* it only fell afterwards */
	expect("process taken=10s\ntotals peak=900 peak-at=20ms\nsite a size=50 peak-bytes=900\n"
	       "point 10ms live=800 blocks=1 allocs=1\npoint 23ms live=100 blocks=1 allocs=1\n",
	       5, 2,
	       (const uint64_t[][2]){ { 0, 0 },
				      { 10 * MS, 800 },
				      { 20 * MS, 900 },
				      { 23 * MS, 100 },
				      { 10 * S, 50 } });
	/* between two points of its tick; and either is possible: after it */
	expect("process taken=10s\ntotals peak=900 peak-at=20ms\nsite a size=50 peak-bytes=900\n"
	       "point 21ms live=700 blocks=1 allocs=1\npoint 23ms live=100 blocks=1 allocs=1\n",
	       5, 2,
	       (const uint64_t[][2]){ { 0, 0 },
				      { 21 * MS, 700 },
				      { 21 * MS, 900 },
				      { 23 * MS, 100 },
				      { 10 * S, 50 } });
}

static void a_point_of_the_peaks_tick_that_is_as_high_is_the_peak(void **state)
{
	(void)state;
	expect("process taken=10s\ntotals peak=900 peak-at=20ms\nsite a size=50 peak-bytes=900\n"
	       "point 23ms live=900 blocks=1 allocs=1\n",
	       3, 1, (const uint64_t[][2]){ { 0, 0 }, { 23 * MS, 900 }, { 10 * S, 50 } });
}

static void peak_in_the_last_tick_comes_before_the_end(void **state)
{
	(void)state;
	expect("process taken=25ms\ntotals peak=900 peak-at=20ms\nsite a size=50 peak-bytes=900\n"
	       "point 25ms live=800 blocks=1 allocs=1\n",
	       4, 2,
	       (const uint64_t[][2]){
		       { 0, 0 }, { 25 * MS, 800 }, { 25 * MS, 900 }, { 25 * MS, 50 } });
}

static void peak_at_the_end_comes_before_the_end(void **state)
{
	(void)state;
	expect("process taken=10s\ntotals peak=900 peak-at=9s\nsite a size=500 peak-bytes=900\n", 3,
	       1, (const uint64_t[][2]){ { 0, 0 }, { 9 * S, 900 }, { 10 * S, 500 } });
}

static void a_heap_that_held_nothing_is_flat(void **state)
{
	(void)state;
	expect("process taken=10s\n", 2, 0, (const uint64_t[][2]){ { 0, 0 }, { 10 * S, 0 } });
}

static void a_child_begins_when_it_began(void **state)
{
	(void)state;
	expect("process attach=4s taken=10s\n", 2, 0,
	       (const uint64_t[][2]){ { 4 * S, 0 }, { 10 * S, 0 } });
}

static void time_never_runs_backwards(void **state)
{
	struct heap *h = recipe_heap("process taken=10s\npoint 5s live=1 blocks=1 allocs=1\n"
				     "point 6s live=1 blocks=1 allocs=1\n");
	struct history y;

	(void)state;
	h->points[1].time_ns = 2 * S;
	assert_int_equal(history_init(&y, h), 0);
	for (size_t i = 1; i < y.nr; i++)
		assert_true(y.point[i].time_ns >= y.point[i - 1].time_ns);
	history_fini(&y);
	heap_free(h);
}

static void peak_is_the_sum_of_its_sites(void **state)
{
	struct heap *h = recipe_heap("totals peak-at=3s\n"
				     "site a allocs=9 frees=9 size=100 peak-blocks=5\n"
				     "site b allocs=2 size=1000\n"
				     "site c allocs=4 frees=4 size=1000 peak-blocks=0\n");
	struct peak p;

	(void)state;
	peak_sum(h, &p);
	assert_int_equal(p.bytes, 2500);
	assert_int_equal(p.sites_bytes, 2500);
	assert_int_equal(p.sites_blocks, 7);
	assert_int_equal(p.nr_sites, 2);
	assert_int_equal(p.time_ns, 3 * S);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_goes_between_points),
		cmocka_unit_test(a_point_that_is_the_peak_is_there_once),
		cmocka_unit_test(peak_goes_beside_the_highest_point_of_its_tick),
		cmocka_unit_test(a_point_of_the_peaks_tick_that_is_as_high_is_the_peak),
		cmocka_unit_test(peak_in_the_last_tick_comes_before_the_end),
		cmocka_unit_test(peak_at_the_end_comes_before_the_end),
		cmocka_unit_test(a_heap_that_held_nothing_is_flat),
		cmocka_unit_test(a_child_begins_when_it_began),
		cmocka_unit_test(time_never_runs_backwards),
		cmocka_unit_test(peak_is_the_sum_of_its_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
