/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: what may be asked together, what sections there are, and that no heap and no wish
 * breaks it.
 * Also of src/render/graph.c, facts.c, process_row.c, stack_view.c.
 * Also of src/view/heap_facts.c, report_allocator.c, report_asked.c, report_functions.c,
 * resident.c.
 */
#include "tests/unit/report_of.h"

static const char recipe[] =
	"process comm=demo cmdline=demo\033 taken=10s\n"
	"thread main tid=7\nthread worker tid=8\n"
	"site main>parse|inner>xmalloc>libc.so.6 thread=worker allocs=20 frees=5 size=100 "
	"temporary=3 life=50ms\n"
	"site main>draw allocs=4 size=5000 failed=1 zero=2 huge=3\n"
	"site !truncated>deep allocs=1 size=8\n"
	"site - allocs=2 size=9\n"
	"site main>map kind=mmap allocs=2 frees=1 size=4096\n"
	"point 1s live=10 blocks=1 allocs=1\nsite-point 1s main>draw live=10 blocks=1\n";

static char *make(const char *text, struct report_options opt, bool json)
{
	const struct style style = { .width = 100 };

	return report_of(text, opt, json ? NULL : &style);
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void expect_refused(struct report_options opt, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(report_check(&opt, &e), -EINVAL);
	assert_string_equal(e.text, text);
	assert_int_equal(e.exit_code, 2);
	assert_string_not_equal(e.hint, "");
}

static void senseless_wishes_are_refused(void **state)
{
	(void)state;
	expect_refused((struct report_options){ .sort = RANK_PEAK,
						.sort_given = true,
						.filter.thread = "x" },
		       "'--sort peak' cannot be used with --thread, --size or --age");
	expect_refused((struct report_options){ .sort = RANK_CALLS,
						.sort_given = true,
						.filter.by_age = true },
		       "'--sort calls' cannot be used with --thread, --size or --age");
	expect_refused((struct report_options){ .blocks = true, .shape = REPORT_TOP_DOWN },
		       "'--blocks' cannot be used with --top-down or --bottom-up");
	assert_int_equal(
		report_check(&(struct report_options){ .sort_given = true, .filter.by_size = true },
			     NULL),
		0);
	assert_int_equal(report_check(&(struct report_options){ .sort = RANK_PEAK,
								.sort_given = true,
								.filter.function = "f" },
				      NULL),
			 0);
}

static void sort_falls_back_to_the_peak(void **state)
{
	char *live = make("site a size=8\n", (struct report_options){ .top = 3 }, false);
	char *gone = make("site a allocs=1 frees=1 peak-blocks=1 size=8\n",
			  (struct report_options){ .top = 3 }, false);
	char *asked = make("site a allocs=1 frees=1 peak-blocks=1 size=8\n",
			   (struct report_options){ .top = 3, .sort_given = true }, false);

	(void)state;
	assert_true(has(live, "Stacks by live bytes"));
	assert_true(has(gone, "Stacks by bytes at the peak"));
	assert_true(has(asked, "Stacks by live bytes"));
	free(live);
	free(gone);
	free(asked);
}

static void filters_leave_only_what_they_are_about(void **state)
{
	char *all = make(recipe, (struct report_options){ .top = 5 }, false);
	char *some = make(recipe, (struct report_options){ .top = 5, .filter.function = "parse" },
			  false);

	(void)state;
	assert_true(has(all, "Threads by bytes") && has(all, "Sizes of requests") &&
		    has(all, "draw"));
	assert_false(has(some, "Threads by bytes") || has(some, "Sizes of requests") ||
		     has(some, "draw"));
	assert_true(has(some, "only     function 'parse'"));
	free(all);
	free(some);
}

/* Said in one line; sites that only they name are in no list and no count. */
static void heap_errors_are_pointed_to(void **state)
{
	static const char two[] = "site main>a size=100\nfinding type=overrun site=main>bad "
				  "alloc=main>a free=main>gone\n"
				  "finding type=double-free site=main>bad\n";
	char *none = make("site main>a size=100\n", (struct report_options){ .top = 0 }, false);
	char *some = make(two, (struct report_options){ .top = 0, .source = "x.pmm" }, false);
	char *down = make(two, (struct report_options){ .top = 0, .shape = REPORT_TOP_DOWN },
			  false);
	char *json = make(two, (struct report_options){ .top = 0 }, true);

	(void)state;
	assert_false(has(none, "error"));
	assert_true(has(some, "  errors   2 heap errors, see 'pmm check x.pmm'\n"));
	assert_true(has(down, "  errors   2 heap errors, see 'pmm check FILE'\n"));
	assert_false(has(some, "bad") || has(some, "gone") || has(down, "bad") ||
		     has(down, "gone"));
	assert_true(has(json, "\"sites\": 2") && has(json, "\"heap_errors\": 2"));
	free(none);
	free(some);
	free(down);
	free(json);
}

static void stacks_show_who_answers_and_what_is_inside(void **state)
{
	char *text = make("site main>parse|inner>xmalloc>libc.so.6 size=100\n",
			  (struct report_options){ .top = 5 }, false);

	(void)state;
	assert_true(has(text, "100%       1  inner  inner.c:7\n"));
	assert_true(has(text, "via libc.so.6+0x10 < xmalloc\n"));
	assert_true(has(text, "  parse  parse.c:7\n"));
	free(text);
	text = make("site main>std::vector{int,std::allocator{int}}::push_back(int&&) size=100\n",
		    (struct report_options){ .top = 5 }, false);
	assert_true(has(text, "via std::vector::push_back\n"));
	assert_true(has(text, "  main  main.c:7\n"));
	free(text);
}

static void depth_says_what_it_left_out(void **state)
{
	static const char deep[] = "site main>a>b>c>d>e size=8\n";
	char *text = make(deep, (struct report_options){ .depth = 2, .depth_given = true }, false);

	(void)state;
	assert_true(has(text, "  d  d.c:7\n") && has(text, "  c  c.c:7\n"));
	assert_false(has(text, "  b  b.c:7\n"));
	assert_true(has(text, "... 3 more frames"));
	free(text);
}

/* Captures have no control characters, but ledgers have. */
static void nothing_raw_is_printed(void **state)
{
	static const char evil[] = "process comm=demo cmdline=\"x\033[2J\033]0;owned\007y\"\n"
				   "thread t\033[31m\n"
				   "site main>\033[31m\xc2\x9b\xe2\x80\xaex size=1 thread=t\033[31m\n";
	static const char first[] = "x\\x1b[2J\\x1b]0;owned\\x07y\n";
	const struct report_options opt = { .top = 5, .blocks = true };
	char *text = make(evil, opt, false), *json = make(evil, opt, true);

	(void)state;
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (unsigned char)*p >= ' ');
	assert_int_equal(strncmp(text, first, sizeof(first) - 1), 0);
	assert_true(has(text, "\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xaex"));
	for (const char *p = json; *p; p++)
		assert_true(*p == '\n' || (unsigned char)*p >= ' ');
	assert_true(has(json, "x\\u001b[2J\\u001b]0;owned\\u0007y"));
	assert_true(has(json, "\"\\u001b[31m\\u009b\\u202ex\""));
	free(text);
	free(json);
}

/* 30 ms by steps of the clock, 20.1 ms by what is known. */
static void no_point_is_after_the_end(void **state)
{
	char *json = make("process attach=1009900us taken=1030ms\nsite a size=8\n"
			  "point 1019ms live=4 blocks=1\npoint 1030ms live=6 blocks=1\n",
			  (struct report_options){ .top = 5 }, true);

	(void)state;
	assert_true(has(json, "\"run_ns\": 20100000,"));
	assert_true(has(json, "\"peak_ns\": 20000000,"));
	assert_true(has(json, "\"time_ns\": [0, 10000000, 20000000, 20000000],"));
	assert_true(has(json, "\"live_bytes\": [0, 4, 6, 8],"));
	free(json);
}

static void losses_are_said(void **state)
{
	char *text = make("watch off=2 drift=5 min-size=64\ntotals skipped=9 skipped-bytes=100\n"
			  "drop block-full=1234 site-full=2 ctx-full=3 nested=4 module-full=5 "
			  "address=6\nsite a size=8\n",
			  (struct report_options){ .top = 5 }, false);

	(void)state;
	assert_true(has(text, "!  tracking stopped early (no memory for the ledger)"));
	assert_true(has(text, "!  1,234 blocks were not recorded: the ledger reached its limit"));
	assert_true(has(text, "!  2 events could not be charged to a stack: "));
	assert_true(has(text, "!  5 blocks changed while"));
	assert_true(has(text, "\n  mode     exact, of large enough blocks, but at least 1,247 "
			      "calls are missing\n"));
	assert_true(has(text, "!  9 allocations below 64 B were skipped (100 B in all)"));
	free(text);
}

/* A heap that is grown past the hooks, and an allocator without a file (the full form of pmm.h). */
static void what_is_not_known_is_not_made_up(void **state)
{
	char *text = make("allocator \"\" arena=1M used=3K free=4K free-chunks=5 at=1s\n"
			  "mapping brk=1M brk-peak=2M\nsite a size=8\n",
			  (struct report_options){ .top = 5 }, false);

	(void)state;
	assert_true(has(text, "\n  allocator  1.00 MiB from the system, 3.00 KiB used, 4.00 KiB "
			      "free in 5 chunks\n"));
	assert_true(has(text, "\n  mappings   brk at most 2.00 MiB; calls by the C library itself "
			      "are not counted\n"));
	free(text);
}

/* Every combination of wishes on full, empty and made-up heaps: for the sanitizers to watch. */
static void every_wish_on_every_heap(void **state)
{
	static const char *const heaps[] = {
		"\n",
		recipe,
		"watch mode=sampled sample=512K\nsite a allocs=5 frees=2 size=100 samples-in=5\n",
		"generate sites=300 blocks=900 seed=2 depth=40 points=20\n",
	};

	(void)state;
	for (size_t i = 0; i < NR(heaps); i++)
		for (unsigned wish = 0; wish < RANK_NR * 3 * 4 * 2; wish++) {
			struct report_options opt = {
				.sort = (enum rank_key)(wish % RANK_NR),
				.sort_given = true,
				.shape = (enum report_shape)(wish / RANK_NR % 3),
				.top = wish / 30 % 2 ? 3 : 0,
				.depth = 2,
				.depth_given = wish / 15 % 2,
				.blocks = wish / 60 % 2,
			};

			free(make(heaps[i], opt, wish % 7 == 0));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senseless_wishes_are_refused),
		cmocka_unit_test(sort_falls_back_to_the_peak),
		cmocka_unit_test(filters_leave_only_what_they_are_about),
		cmocka_unit_test(heap_errors_are_pointed_to),
		cmocka_unit_test(stacks_show_who_answers_and_what_is_inside),
		cmocka_unit_test(depth_says_what_it_left_out),
		cmocka_unit_test(nothing_raw_is_printed),
		cmocka_unit_test(no_point_is_after_the_end),
		cmocka_unit_test(losses_are_said),
		cmocka_unit_test(what_is_not_known_is_not_made_up),
		cmocka_unit_test(every_wish_on_every_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
