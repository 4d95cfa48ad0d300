/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of the overview, to the letter. */
#include "src/view/overview/overview.h"
#include "tests/unit/recipe_heap.h"

/* As text, without a terminal. */
static void check(const char *recipe, const struct limit *limit, const char *expected)
{
	const struct report_options options = { 0 };
	const struct style style = { .width = 200 };
	struct heap *h = recipe_heap(recipe);
	struct doc d = { .schema = OVERVIEW_SCHEMA };
	struct report r;
	struct names n;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	recipe_names(&n, h);
	assert_int_equal(report_init(&r, h, &n, &options, NULL), 0);
	doc_add(&d, overview_facts(&r, limit));
	assert_int_equal(doc_print_text(&d, &style, f), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
	doc_fini(&d);
	report_fini(&r);
	names_fini(&n);
	heap_free(h);
}

static void holders_and_churn_are_named(void **state)
{
	(void)state;
	check("site main>parse allocs=100 size=1K frees=10 temporary=10\n"
	      "site main>names allocs=10 size=1K\n"
	      "site main>a allocs=1 size=8\nsite main>b allocs=1 size=4\n"
	      "point 5s live=90K blocks=99 allocs=100 rss=400K\n",
	      NULL,
	      "  holds it   parse (parse.c:7) 90.0 KiB of 100 KiB (90.0%), in 90 blocks; names "
	      "(names.c:7) 10.0 KiB (10.0%); a (a.c:7) 8 B (<0.1%); and 1 more line\n"
	      "  grows      not known of the whole heap: that takes 10 s and 16 points in time\n"
	      "  churns     8.9% of 112 calls made a block that was freed as its thread's next "
	      "event; most in parse (parse.c:7): 10 calls\n"
	      "  explained  live blocks are 100 KiB of 400 KiB resident memory (25.0%)\n");
}

static void a_heap_of_nothing(void **state)
{
	(void)state;
	check("", NULL,
	      "  held it    nothing: nothing was allocated\n"
	      "  grows      not known of the whole heap: that takes 10 s and 16 points in time\n"
	      "  explained  resident memory was not seen\n");
}

static void what_was_given_back_was_held_at_the_peak(void **state)
{
	(void)state;
	check("site main>parse allocs=100 size=1K frees=100 peak-blocks=50\n"
	      "point 5s live=1K blocks=1 allocs=100 rss=400K\n",
	      NULL,
	      "  held it    parse (parse.c:7) 50.0 KiB of 50.0 KiB at the peak (100%), in 50 "
	      "blocks\n"
	      "  grows      not known of the whole heap: that takes 10 s and 16 points in time\n"
	      "  churns     no block was freed as its thread's next event\n"
	      "  explained  live blocks are 0 B of 400 KiB resident memory (0%)\n");
}

/* 600 blocks of 1000 bytes in a minute. */
static void make_growing(struct str *s)
{
	str_add(s, "process taken=60s end=running\n"
		   "site main>queue allocs=600 size=1000 first=0s last=60s\n");
	for (unsigned i = 1; i <= 60; i++)
		str_addf(s, "point %us live=%u blocks=%u allocs=%u rss=100K\n", i, i * 10000,
			 i * 10, i * 10);
}

static void growth_has_a_pace_and_an_end(void **state)
{
	const struct limit near = { .kind = LIMIT_CGROUP, .left_bytes = 6000000 },
			   far = { .kind = LIMIT_CGROUP, .left_bytes = 1ull << 40 };
	const char *const end[] = {
		"; which limit that will meet is not known, a capture has none",
		"; at this pace it uses up what the cgroup limit leaves (5.72 MiB) in about 10 "
		"minutes",
		"; it will not use up what the cgroup limit leaves (1.00 TiB) within 98 minutes",
	};
	const struct limit *const limits[] = { NULL, &near, &far };
	struct str recipe = STR_INIT, text = STR_INIT;

	(void)state;
	make_growing(&recipe);
	for (unsigned i = 0; i < 3; i++) {
		str_clear(&text);
		str_addf(&text,
			 "  holds it   queue (queue.c:7) 586 KiB of 586 KiB (100%%), in 600 "
			 "blocks\n"
			 "  grows      the heap grows steadily by 9.77 KiB/s since 1.00 s; "
			 "fastest queue (queue.c:7) by 9.75 KiB/s%s\n"
			 "  churns     no block was freed as its thread's next event\n"
			 "  explained  more is live (586 KiB) than resident (100 KiB): not all of it "
			 "was touched, or it was swapped out\n",
			 end[i]);
		check(str_text(&recipe), limits[i], str_text(&text));
	}
	str_fini(&recipe);
	str_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_and_churn_are_named),
		cmocka_unit_test(a_heap_of_nothing),
		cmocka_unit_test(what_was_given_back_was_held_at_the_peak),
		cmocka_unit_test(growth_has_a_pace_and_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
