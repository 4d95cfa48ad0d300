/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was allocated in a stretch of time and is still there at its end: exact, and in bounds. */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/time/window.h"

#define S 1000000000ull

/* The rows as text: site least..most kept/blocks. */
static void expect(const char *recipe, uint64_t from_s, uint64_t to_s, const char *expected)
{
	struct heap *h = recipe_heap(recipe);
	struct window w;
	char text[1000] = "", *at = text;

	assert_int_equal(window_init(&w, h, from_s * S, to_s * S), 0);
	assert_int_equal(w.exact, to_s * S >= h->taken_ns);
	for (uint32_t i = 0; i < w.nr; i++) {
		const struct window_row *r = &w.row[i];

		at += sprintf(at, "%u %llu..", r->site, (unsigned long long)r->least_bytes);
		at += r->most_bytes == WINDOW_UNKNOWN
			      ? sprintf(at, "?")
			      : sprintf(at, "%llu", (unsigned long long)r->most_bytes);
		at += sprintf(at, " %llu/%llu\n", (unsigned long long)r->kept_bytes,
			      (unsigned long long)r->kept_blocks);
	}
	assert_string_equal(text, expected);
	window_fini(&w);
	assert_int_equal(w.nr, 0);
	heap_free(h);
}

/* Five blocks of 100 bytes, born at 1, 3, 5, 7 and 9 s; two of 40 at 2 and 8 s. */
#define HEAP                                                                                       \
	"process taken=10s\nsite a size=100 allocs=5 first=1s last=9s\n"                           \
	"site b size=40 allocs=2 first=2s last=8s\n"

static void to_the_end_births_are_exact(void **state)
{
	(void)state;
	expect(HEAP, 0, 10, "1 500..500 500/5\n2 80..80 80/2\n");
	expect(HEAP, 3, 10, "1 400..400 400/4\n2 40..40 40/1\n");
	expect(HEAP, 4, 99, "1 300..300 300/3\n2 40..40 40/1\n");
	expect(HEAP, 10, 10, "");
}

/* Without a series, what is still there at the end of the heap is the least. */
static void before_the_end_births_are_the_least(void **state)
{
	(void)state;
	expect(HEAP, 3, 5, "1 200..? 200/2\n");
	expect(HEAP, 0, 2, "1 100..? 100/1\n2 40..? 40/1\n");
	/* what had not allocated yet has nothing */
	expect(HEAP, 0, 0, "");
}

/*
 * a held 150 at 3 s and 700 at 6 s: at least 550 of it are new, at most 700 - 100, as 100 that are
 * there at the end are older. b is not in the later look. Nothing is left of c: all that it held at
 * 6 s came after 3 s, when it had allocated nothing. d has shrunk.
 */
static void the_series_has_bounds(void **state)
{
	static const char recipe[] =
		HEAP "site c size=10 allocs=9 frees=9 first=4s\nsite d size=10 allocs=99 frees=99\n"
		     "site-point 2s a live=9\n"
		     "site-point 3s a live=150\nsite-point 3s b live=40\nsite-point 3s d live=70\n"
		     "site-point 6s a live=700\nsite-point 6s c live=90\nsite-point 6s d live=30\n"
		     "site-point 9s a live=9\n";

	(void)state;
	expect(recipe, 3, 6, "1 550..600 200/2\n3 90..90 0/0\n4 0..30 0/0\n");
	/*
	 * of a moment the look before it counts; at 4 s a held 200 at least, of which 200 are live
	 * at the end
	 */
	expect(recipe, 4, 8, "1 500..500 200/2\n3 90..90 0/0\n2 40..? 40/1\n4 0..30 0/0\n");
	/* before the first look */
	expect(recipe, 0, 1, "1 100..? 100/1\n");
}

/* The look before the end is too early for the block of 9 s: what is certain counts. */
static void a_look_may_be_too_early(void **state)
{
	(void)state;
	expect("process taken=10s\nsite a size=100 allocs=2 first=5s last=9s\n"
	       "site-point 8s a live=100\n",
	       1, 9, "1 200..200 200/2\n");
}

/* Each block of 10 bytes in a sample of one in 10 bytes stands for 1.58 of its kind. */
static void samples_stand_for_others(void **state)
{
	(void)state;
	expect("process taken=10s\nwatch mode=sampled sample=10\n"
	       "site a size=10 allocs=4 first=1s last=7s samples-in=4\n",
	       2, 10, "1 47..47 47/5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_the_end_births_are_exact),
		cmocka_unit_test(before_the_end_births_are_the_least),
		cmocka_unit_test(the_series_has_bounds),
		cmocka_unit_test(a_look_may_be_too_early),
		cmocka_unit_test(samples_stand_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
