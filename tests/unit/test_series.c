/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/track/process_series.c. */
#include "tests/unit/unit.h"

#include "src/track/process_series.h"
#include "tests/unit/ledger_image.h"

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
	/*
	 * 512 points of 10 ms last 5.12 s; then 256 each of 20 (to 10.24 s), 40, 80, 160 ms
	 * (81.9 s)
	 */
	assert_int_equal(s.interval_ns, 160 * MS);
	assert_int_equal(s.nr_points, 60000 / 160);
	assert_int_equal(taken, 512 + 3 * 256 + (60000 - 40960) / 160);
	for (uint32_t i = 0; i < s.nr_points; i++) {
		assert_int_equal(s.points[i].time_ns, i * 160 * MS);
		assert_int_equal(s.points[i].allocs, i * 160);
	}
	series_fini(&s);
}

/* Wherever it is, and however often the series is thinned out. */
static void most_resident_memory_is_never_lost(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 3000; at += 7) {
		struct heap_point most = { 0 };
		struct series s;

		assert_int_equal(series_init(&s, 0, 1), 0);
		for (uint64_t i = 0; i < 3000; i++)
			series_add(&s, &(struct heap_point){ .time_ns = i,
							     .live_bytes = i,
							     .rss_bytes = i == at ? 1000
										  : 1 + i % 999 });
		for (uint32_t i = 0; i < s.nr_points; i++) {
			if (s.points[i].rss_bytes > most.rss_bytes)
				most = s.points[i];
			assert_true(!i || s.points[i].time_ns > s.points[i - 1].time_ns);
		}
		assert_int_equal(most.rss_bytes, 1000);
		assert_int_equal(most.time_ns, at);
		assert_int_equal(most.live_bytes, at);
		series_fini(&s);
	}
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
	series_add_scan(&s, 20 * MS, top, 2, 3 * MS / 2); /* 1.5 ms: rest for 3000 */
	assert_int_equal(s.next_scan_ns, 3020 * MS);
	assert_int_equal(s.nr_sites, 4);
	assert_int_equal(s.sites[2].site, 7);
	assert_int_equal(s.sites[2].live_bytes, 300);
	assert_int_equal(s.sites[3].site, 9);
	assert_int_equal(s.sites[3].live_bytes, 0);
	series_fini(&s);
}

static void scans_thin_out(void **state)
{
	struct ledger_top_site top[SERIES_SCAN_SITES] = { { 1, 10, 1 }, { 2, 5, 1 } };
	struct series s;

	(void)state;
	assert_int_equal(series_init(&s, 0, 0), 0);
	for (uint64_t i = 0; i < SERIES_MAX_SCANS; i++)
		series_add_scan(&s, i * 10 * MS, top, i % 2 ? SERIES_SCAN_SITES : 2, 0);
	assert_int_equal(s.nr_scans, SERIES_MAX_SCANS);
	series_add_scan(&s, 2560 * MS, top, 2, 0);
	assert_int_equal(s.nr_scans, SERIES_MAX_SCANS / 2 + 1);
	assert_int_equal(s.nr_sites, SERIES_MAX_SCANS + 2); /* two of each that is left */
	assert_int_equal(s.scan_interval_ns, 20 * MS);
	assert_int_equal(s.sites[2].time_ns, 20 * MS);
	for (uint64_t i = 0; i < 10000; i++) /* never beyond the room */
		series_add_scan(&s, (2570 + i) * MS, top, SERIES_SCAN_SITES, 0);
	assert_true(s.nr_scans <= SERIES_MAX_SCANS);
	assert_true(s.nr_sites <= SERIES_MAX_SCANS * SERIES_SCAN_SITES);
	series_fini(&s);
}

/*
 * Site 1 is large for one scan only: it is followed to the end, beside the largest ones of each
 * scan. Of the others, all as large as each other, only as many as there is room for.
 */
static void what_was_large_once_is_followed(void **state)
{
	struct ledger_top_site top[SERIES_TOP_SITES];
	uint32_t rest[SERIES_FOLLOWED];
	struct series s;
	unsigned nr = 0;

	(void)state;
	assert_int_equal(series_init(&s, 0, 0), 0);
	assert_int_equal(series_follow(&s, &(struct ledger_top_site){ 1, 1000, 1 }, 1, rest), 0);
	for (uint32_t scan = 1; scan < 50; scan++) {
		for (uint32_t i = 0; i < SERIES_TOP_SITES; i++)
			top[i] = (struct ledger_top_site){ 100 * scan + i, 500, 1 };
		nr = series_follow(&s, top, SERIES_TOP_SITES, rest);
		/* the first scan's others fill the room, and later ones are no larger */
		assert_int_equal(nr, scan == 1 ? 1 : SERIES_FOLLOWED);
		assert_int_equal(rest[0], 1);
		assert_true(scan == 1 || rest[1] == 100);
	}
	/* one that held more takes the place of one that held less */
	top[0] = (struct ledger_top_site){ 7, 501, 1 };
	nr = series_follow(&s, top, 1, rest);
	assert_int_equal(nr, SERIES_FOLLOWED - 1);
	assert_int_equal(s.nr_followed, SERIES_FOLLOWED);
	assert_int_equal(s.followed[0].site, 1);
	assert_int_equal(s.followed[0].bytes, 1000);
	series_follow(&s, &(struct ledger_top_site){ 7, 300, 1 }, 1, rest);
	for (unsigned i = nr = 0; i < s.nr_followed; i++)
		nr += s.followed[i].site == 7 && s.followed[i].bytes == 501;
	assert_int_equal(nr, 1);
	series_fini(&s);
}

/* A process's ledger is looked at when it is time: its totals, and who holds most. */
static void a_look_takes_totals_and_sites(void **state)
{
	struct image im = image_new();
	pmm_ref ctx = image_ctx(&im);
	struct ledger_map *m = NULL;
	struct pmm_record *r;
	struct series s;

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		image_node(&im, i, 0, 0, 0x1000 * i);
		image_site(&im, i, i, 0);
		r = image_record(&im, ctx, i);
		r->allocs = 10 * i;
		r->frees = i;
		r->bytes_in = 1000 * i;
		r->bytes_out = 10 * i;
	}
	((struct pmm_ctx *)image_at(&im, ctx))->class[0].calls[PMM_KIND_MALLOC] = 60;
	((struct pmm_ctx *)image_at(&im, ctx))->class[0].frees = 6;
	((struct pmm_ctx *)image_at(&im, ctx))->class[0].bytes_in = 6000;
	((struct pmm_ctx *)image_at(&im, ctx))->class[0].bytes_out = 60;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(series_init(&s, 5 * MS, 100 * MS), 0);
	series_take(&s, m, 4 * MS, 77);				/* too early */
	assert_int_equal(s.nr_points, 0);
	series_take(&s, m, 5 * MS, 77);				/* a point, and no scan yet */
	assert_int_equal(s.nr_points, 1);
	assert_int_equal(s.points[0].time_ns, 5 * MS);
	assert_int_equal(s.points[0].live_bytes, 5940);
	assert_int_equal(s.points[0].live_blocks, 54);
	assert_int_equal(s.points[0].allocs, 60);
	assert_int_equal(s.points[0].rss_bytes, 77);
	assert_int_equal(s.nr_sites, 0);
	series_take(&s, m, 105 * MS, 78);
	assert_int_equal(s.nr_points, 2);
	assert_int_equal(s.nr_scans, 1);
	assert_int_equal(s.nr_sites, 3);
	assert_int_equal(s.sites[0].time_ns, 105 * MS);
	assert_int_equal(s.sites[0].site, 3);
	assert_int_equal(s.sites[0].live_bytes, 2970);
	assert_int_equal(s.sites[0].live_blocks, 27);
	assert_int_equal(s.sites[2].site, 1);
	assert_int_equal(s.sites[2].live_bytes, 990);
	series_take(&s, m, 106 * MS, 78);
	assert_int_equal(s.nr_points, 2);
	assert_int_equal(s.nr_scans, 1);
	r->bytes_out = r->bytes_in;	/* site 3 is empty, which is said of it */
	r->frees = r->allocs;
	series_take(&s, m, 3600000ull * MS, 79);	/* scans rest for what they cost */
	assert_int_equal(s.nr_scans, 2);
	assert_int_equal(s.nr_sites, 6);
	assert_int_equal(s.sites[3].site, 2);
	assert_int_equal(s.sites[5].site, 3);
	assert_int_equal(s.sites[5].time_ns, 3600000ull * MS);
	assert_int_equal(s.sites[5].live_bytes, 0);
	assert_int_equal(s.sites[5].live_blocks, 0);
	series_fini(&s);
	assert_null(s.points);
	assert_false(series_due(&s, UINT64_MAX));
	ledger_map_close(m);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_thin_out),
		cmocka_unit_test(interval_of_the_user_is_kept),
		cmocka_unit_test(most_resident_memory_is_never_lost),
		cmocka_unit_test(scans_rest_for_what_they_cost),
		cmocka_unit_test(scans_thin_out),
		cmocka_unit_test(what_was_large_once_is_followed),
		cmocka_unit_test(a_look_takes_totals_and_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
