/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watching found, in words and as a table.
 */
#include "tests/unit/recipe_heap.h"

#include "src/view/watch.h"

static void paces_have_a_fitting_unit(void **state)
{
	(void)state;
	assert_string_equal(watch_pace(0).s, "0 B/day");
	assert_string_equal(watch_pace(10).s, "10 B/s");
	assert_string_equal(watch_pace(9.9).s, "594 B/min");
	assert_string_equal(watch_pace(1536).s, "1.50 KiB/s");
	assert_string_equal(watch_pace(-2048).s, "-2.00 KiB/s");
	assert_string_equal(watch_pace(0.01).s, "36 B/h");
	assert_string_equal(watch_pace(0.001).s, "86 B/day");
}

static void ranges_are_short(void **state)
{
	(void)state;
	assert_string_equal(watch_range(0, 10000000, 10000000).s, "under 10 ms");
	assert_string_equal(watch_range(20000000, 40000000, 10000000).s, "20 to 40 ms");
	assert_string_equal(watch_range(640000000, 1280000000, 10000000).s, "640 ms to 1.28 s");
	assert_string_equal(watch_range(50000000000, 80000000000, 10000000).s, "50.0 to 80.0 s");
	assert_string_equal(watch_range(3000000000, 3000000000, 10000000).s, "3.00 s");
	assert_string_equal(watch_range(0, 0, 10000000).s, "under 10 ms");
	assert_string_equal(watch_range(0, 0, 0).s, "0 s");
}

static void a_forecast_does_not_reach_far(void **state)
{
	const uint64_t s = 1000000000, day = 86400 * s;
	bool reached;

	(void)state;
	assert_string_equal(watch_forecast(50 * 60 * s, 30 * s, &reached).s, "in about 50 minutes");
	assert_true(reached);
	assert_string_equal(watch_forecast(50 * 60 * s + 1, 30 * s, &reached).s,
			    "within 50 minutes");
	assert_false(reached);
	assert_string_equal(watch_forecast(640 * day, 30 * s, &reached).s, "within 50 minutes");
	assert_false(reached);
	assert_string_equal(watch_forecast(640 * day, 10 * day, &reached).s, "in about 640 days");
	assert_true(reached);
	assert_string_equal(watch_forecast(640 * day, 0, &reached).s, "within 0 s");
	assert_false(reached);
}

static char *text_of(struct table *t)
{
	struct doc doc = { .schema = WATCH_SCHEMA };
	struct style style = { .width = 100 };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	doc_add(&doc, t);
	assert_int_equal(doc_print_text(&doc, &style, f), 0);
	fclose(f);
	doc_fini(&doc);
	return text;
}

static void a_site_says_all_that_is_known(void **state)
{
	struct heap *h = recipe_heap(
		"site main>serve>session allocs=12 frees=2 size=100 life=35ms\n");
	uint32_t site = recipe_site(h, "session");
	struct watch_site w = {
		.row = { .number = 3,
			 .site = site,
			 .live = { 10, 1000 },
			 .expired = { 4, 400 },
			 .ever = { 5, 500 },
			 .freed = { 1, 100 },
			 .oldest_ns = 90000000000,
			 .silent = true },
		.growth = { .verdict = GROWTH_STEADY,
			    .slope = 100,
			    .slope_low = 90,
			    .slope_high = 110,
			    .until_ns = 60000000000 },
		.evidence = { .has = EVIDENCE_STEADY | EVIDENCE_LONG,
			      .born = { 3, 0, 0, 0, 0, 0, 0, 4 } },
	};
	struct names names;
	char *text;

	(void)state;
	lifetime_range(h, &h->sites[site], &w.row.lifetime);
	recipe_names(&names, h);
	text = text_of(watch_sites(h, &names, &w, 1, 4, 360000));
	assert_string_equal(
		text,
		"Sites\n"
		"  #  expired  blocks  stack\n"
		"  3    400 B       4  session  session.c:7\n"
		"                        live: 10 blocks, 1000 B, the oldest 90.0 s old\n"
		"                        12 allocations of 1.17 KiB, 2 frees of 200 B\n"
		"                        expired so far: 5 blocks, 500 B; freed after that: 1 "
		"block, 100 B\n"
		"                        freed: lived min 20 to 40 ms, mean 20 to 40 ms, max 20 to "
		"40 ms\n"
		"                        GROWS steadily by 100 B/s (90 B/s to 110 B/s in 19 of 20 "
		"cases)\n"
		"                        may be a leak: 7 blocks are too few to tell\n"
		"                        at this pace it alone uses up what the limit leaves in about 60 minutes\n"
		"                        serve  serve.c:7\n"
		"                        main  main.c:7\n"
		"  3 more sites (--top 0 shows all)\n");
	free(text);
	text = text_of(watch_stack(h, &names, site));
	assert_string_equal(text, "    session  session.c:7\n"
				  "    serve  serve.c:7\n"
				  "    main  main.c:7\n");
	free(text);
	names_fini(&names);
	heap_free(h);
}

/* The first piece of evidence that is missing is named. */
static void doubts_are_named_in_order(void **state)
{
	static const struct { unsigned has; const char *text; unsigned freed;
	} cases[] = {
		{ EVIDENCE_STEADY, "8 blocks are too few to tell" },
		{ EVIDENCE_ALL & ~EVIDENCE_KEPT, "3 blocks that lived as long were freed", 3 },
		{ EVIDENCE_ALL & ~EVIDENCE_KEPT, "1 block that lived as long was freed", 1 },
		{ EVIDENCE_ALL & ~EVIDENCE_KEPT,
		  "it is not known whether older blocks were freed for it", 0 },
		{ EVIDENCE_ALL & ~EVIDENCE_SPREAD, "it does not grow all of the time" },
		{ EVIDENCE_ALL & ~EVIDENCE_PACE, "it slows down, as a cache that fills up" },
		{ EVIDENCE_ALL & ~EVIDENCE_LONG,
		  "a cache that fills does the same: likely a leak after 5m" },
		{ EVIDENCE_ALL, "" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct evidence e = { .has = cases[i].has,
				      .born = { 1, 1, 1, 1, 1, 1, 1, 1 },
				      .freed_aged = cases[i].freed,
				      .long_ns = 300000000000 };
		struct str s = STR_INIT;

		watch_doubt(&s, &e);
		assert_string_equal(str_text(&s), cases[i].text);
		str_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paces_have_a_fitting_unit),
		cmocka_unit_test(ranges_are_short),
		cmocka_unit_test(a_forecast_does_not_reach_far),
		cmocka_unit_test(a_site_says_all_that_is_known),
		cmocka_unit_test(doubts_are_named_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
