/* Unit tests of src/capture/series.c. */
#include "tests/unit/unit.h"

#include "src/capture/series.h"

#define MS 1000000ull

static void points_thin_out(void **state)
{
	struct series s;
	uint64_t now = 0, taken = 0;

	(void)state;
	assert_int_equal(series_init(&s, 0, 0), 0);
	for (; now < 60000 * MS; now += 10 * MS) { /* a minute of ticks */
		if (now < s.next_ns)
			continue;
		series_add(&s, &(struct heap_point){ .time_ns = now, .allocs = now / MS });
		taken++;
	}
	/* 512 points of 10 ms last 5.12 s; then 256 each of 20 (to 10.24 s), 40, 80, 160 ms (81.9
	 * s) */
	assert_int_equal(s.interval_ns, 160 * MS);
	assert_int_equal(s.nr_points, 60000 / 160);
	assert_int_equal(taken, 512 + 3 * 256 + (60000 - 40960) / 160);
	for (uint32_t i = 0; i < s.nr_points; i++) {
		assert_int_equal(s.points[i].time_ns, i * 160 * MS);
		assert_int_equal(s.points[i].allocs, i * 160);
	}
	series_fini(&s);
}

static void interval_of_the_user_is_kept(void **state)
{
	struct series s;

	(void)state;
	assert_int_equal(series_init(&s, 7 * MS, 1000 * MS), 0);
	assert_true(series_due(&s, 7 * MS));
	series_add(&s, &(struct heap_point){ .time_ns = 7 * MS });
	assert_false(series_due(&s, 1006 * MS));
	assert_true(series_due(&s, 1007 * MS));
	assert_int_equal(s.interval_ns, 1000 * MS);
	series_fini(&s);
}

static void scans_rest_for_what_they_cost(void **state)
{
	struct ledger_top_site top[2] = { { 7, 300, 3 }, { 9, -5, 1 } };
	struct series s;

	(void)state;
	assert_int_equal(series_init(&s, 0, 0), 0);
	assert_int_equal(s.next_scan_ns, 10 * MS);
	series_add_scan(&s, 10 * MS, top, 2, 1000); /* 1 us: the interval is longer */
	assert_int_equal(s.next_scan_ns, 20 * MS);
	series_add_scan(&s, 20 * MS, top, 2, 3 * MS); /* 3 ms: rest for 1500 */
	assert_int_equal(s.next_scan_ns, 1520 * MS);
	assert_int_equal(s.nr_sites, 4);
	assert_int_equal(s.sites[2].site, 7);
	assert_int_equal(s.sites[2].live_bytes, 300);
	assert_int_equal(s.sites[3].site, 9);
	assert_int_equal(s.sites[3].live_bytes, 0);
	series_fini(&s);
}

static void scans_thin_out(void **state)
{
	struct ledger_top_site top[SERIES_TOP_SITES] = { { 1, 10, 1 }, { 2, 5, 1 } };
	struct series s;

	(void)state;
	assert_int_equal(series_init(&s, 0, 0), 0);
	for (uint64_t i = 0; i < SERIES_MAX_SCANS; i++)
		series_add_scan(&s, i * 10 * MS, top, i % 2 ? SERIES_TOP_SITES : 2, 0);
	assert_int_equal(s.nr_scans, SERIES_MAX_SCANS);
	series_add_scan(&s, 2560 * MS, top, 2, 0);
	assert_int_equal(s.nr_scans, SERIES_MAX_SCANS / 2 + 1);
	assert_int_equal(s.nr_sites, SERIES_MAX_SCANS + 2); /* two of each that is left */
	assert_int_equal(s.scan_interval_ns, 20 * MS);
	assert_int_equal(s.sites[2].time_ns, 20 * MS);
	for (uint64_t i = 0; i < 10000; i++) /* never beyond the room */
		series_add_scan(&s, (2570 + i) * MS, top, SERIES_TOP_SITES, 0);
	assert_true(s.nr_scans <= SERIES_MAX_SCANS);
	assert_true(s.nr_sites <= SERIES_MAX_SCANS * SERIES_TOP_SITES);
	series_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_thin_out),
		cmocka_unit_test(interval_of_the_user_is_kept),
		cmocka_unit_test(scans_rest_for_what_they_cost),
		cmocka_unit_test(scans_thin_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
