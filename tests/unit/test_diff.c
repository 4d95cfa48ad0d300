/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps compared: what is the same in both, although addresses, lines, names and builds differ.
 * Also of src/analyze/diff/diff_lines.c, diff_match.c, diff_names.c, diff_rows.c,
 * diff_stacks.c and diff_trend.c.
 *
 * Frames of recipes are MODULE+0xOFFSET; names are words "MODULE+0xOFFSET=FUNCTION@FILE:LINE",
 * FUNCTION@FILE:LINE|... for inlined functions, the outermost first.
 */
#include "tests/unit/unit.h"

#include "src/analyze/diff/diff.h"
#include "src/analyze/diff/diff_names.h"
#include "src/analyze/diff/diff_trend.h"
#include "src/base/hash.h"
#include "src/base/str.h"
#include "tests/fake/fake.h"

static struct intern kept;

static const char *keep(const char *text, size_t n)
{
	return n ? intern_text(&kept, (uint32_t)intern_addn(&kept, text, n)) : NULL;
}

static unsigned resolve_word(const char *at, struct frame_name *out)
{
	struct frame_name frame[8];
	unsigned nr = 0;

	for (const char *end; *at && *at != ' '; at = *end == '|' ? end + 1 : end) {
		size_t function = strcspn(at, "@"), file = strcspn(at + function + 1, ":");

		end = at + function + 1 + file + 1;
		frame[nr] = (struct frame_name){ .function = keep(at, function),
						 .file = keep(at + function + 1, file),
						 .line = (uint32_t)strtoul(end, NULL, 10) };
		end += strcspn(end, "| ");
		nr++;
	}
	for (unsigned i = 0; i < nr; i++)
		out[i] = frame[nr - 1 - i];
	return nr;
}

static unsigned resolve(void *words, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	const struct heap_module *m = &h->modules[h->nodes[node].module];
	char want[200];
	const char *at;

	(void)max;
	snprintf(want, sizeof(want), "%s+0x%llx=", m->path,
		 (unsigned long long)(h->nodes[node].pc - m->bias));
	at = strstr(words, want);
	return at ? resolve_word(at + strlen(want), out) : 0;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

static struct heap *heap_of(const char *recipe)
{
	struct heap *h = NULL;
	struct err e = { 0 };

	if (fake_make(recipe, &h, &e))
		fail_msg("%s", e.text);
	return h;
}

static void add(struct diff *d, const char *recipe, const char *words)
{
	struct heap *h = heap_of(recipe);
	struct names n;

	names_init(&n, h, resolve, (void *)words);
	assert_int_equal(diff_add(d, h, &n, NULL, false), 0);
	names_fini(&n);
	heap_free(h);
}

static void add_name(struct str *s, const struct diff_name *n)
{
	str_add(s, n->function ? n->function : n->module ? str_basename(n->module) : "?");
	if (!n->function && n->offset)
		str_addf(s, "+0x%llx", (unsigned long long)n->offset);
	if (n->line)
		str_addf(s, ":%u", n->line);
}

static void add_list(struct str *s, const struct diff *d, enum diff_list list, enum diff_key key)
{
	enum diff_metric m = diff_metric_of(key);
	struct diff_ranking r;

	assert_int_equal(diff_rank(d, list, key, 0, diff_sides(d) - 1, 0, &r), 0);
	for (uint32_t i = 0; i < r.nr; i++) {
		struct diff_name name = diff_name_of(d, list, r.row[i]);
		uint32_t at = 0;

		if (s->len)
			str_addc(s, ' ');
		if (list == DIFF_STACKS && !name.mark)
			while ((at = diff_next_frame(d, r.row[i], at, &name)) != 0) {
				add_name(s, &name);
				str_addc(s, '<');
			}
		else
			add_name(s, &name);
		for (unsigned side = 0; side < diff_sides(d); side++)
			str_addf(s, "%c%lld", side ? '>' : '=',
				 (long long)diff_values(d, list, r.row[i], side)[m]);
	}
	diff_ranking_fini(&r);
}

/* Rows of each list add up to the totals, for all figures and heaps. */
static void check_sums(const struct diff *d)
{
	for (unsigned list = 0; list < DIFF_NR_LISTS; list++)
		for (unsigned side = 0; side < diff_sides(d); side++)
			for (unsigned m = 0; m < DIFF_NR_METRICS; m++) {
				int64_t sum = 0;

				for (uint32_t i = 0; i < diff_rows(d, list); i++)
					sum += diff_values(d, list, i, side)[m];
				assert_int_equal(sum, diff_total(d, side)[m]);
			}
}

struct side {
	const char *recipe, *words;
};

static void expect(struct side a, struct side b, enum diff_list list, const char *wanted)
{
	struct diff *d = diff_new();
	struct str s = STR_INIT;

	add(d, a.recipe, a.words);
	add(d, b.recipe, b.words);
	check_sums(d);
	add_list(&s, d, list, DIFF_LIVE);
	assert_string_equal(str_text(&s), wanted);
	str_fini(&s);
	diff_free(d);
}

#define BUILD_1 "module app build-id=11\n"
#define BUILD_2 "module app build-id=22\n"
#define MAIN "app+0x100=main@a.c:10 app+0x200=parse@a.c:30 app+0x300=parse@a.c:40 "
#define SITES                                                                                      \
	"site app+0x100>app+0x200 size=100\nsite app+0x100>app+0x300 size=200\nsite app+0x100 "    \
	"size=7\n"

static void the_same_heap_has_no_difference(void **state)
{
	const struct side a = { BUILD_1 SITES "site - size=5\n", MAIN };

	(void)state;
	for (unsigned list = 0; list < DIFF_NR_LISTS; list++)
		expect(a, a, list, "");
}

static void addresses_of_modules_may_differ(void **state)
{
	const struct side a = { "module app at=0x10000 bias=0x10000 build-id=11\n" SITES, MAIN };
	const struct side b = { "module app at=0x70000 bias=0x70000 build-id=11\n" SITES
				"site app+0x100>app+0x200 size=11\n",
				MAIN };

	(void)state;
	expect(a, b, DIFF_LINES, "parse:30=100>111");
	expect(a, b, DIFF_FUNCTIONS, "parse=300>311");
	expect(a, b, DIFF_MODULES, "app=307>318");
	expect(a, b, DIFF_STACKS, "parse:30<main:10<=100>111");
}

static void lines_may_move(void **state)
{
	const struct side a = { BUILD_1 SITES, MAIN };
	const struct side b = { BUILD_2 "site app+0x110>app+0x220 size=100\n"
					"site app+0x110>app+0x330 size=260\nsite app+0x110 size=7\n",
				"app+0x110=main@a.c:13 app+0x220=parse@a.c:33 app+0x330=parse@a.c:43" };

	(void)state;
	expect(a, b, DIFF_LINES, "parse:43=200>260");
	expect(a, b, DIFF_STACKS, "parse:43<main:13<=200>260");
	expect(b, a, DIFF_LINES, "parse:40=260>200");
}

/* Between two lines that have moved by three there is one more. */
static void a_new_line_among_moved_ones(void **state)
{
	const struct side a = { BUILD_1 SITES, MAIN };
	const struct side b = { BUILD_2 "site app+0x110>app+0x220 size=100\n"
					"site app+0x110>app+0x240 size=50\n"
					"site app+0x110>app+0x330 size=200\nsite app+0x110 size=7\n",
				"app+0x110=main@a.c:13 app+0x220=parse@a.c:33 app+0x240=parse@a.c:40 "
				"app+0x330=parse@a.c:43" };

	(void)state;
	expect(a, b, DIFF_LINES, "parse:40=0>50");
	expect(b, a, DIFF_LINES, "parse:40=50>0");
	expect(a, b, DIFF_STACKS, "parse:40<main:13<=0>50");
}

static void lines_of_one_build_do_not_move(void **state)
{
	const struct side a = { BUILD_1 "site app+0x100>app+0x200 size=100\n", MAIN };
	const struct side b = { BUILD_1 "site app+0x100>app+0x300 size=100\n", MAIN };
	const struct side c = { BUILD_2 "site app+0x100>app+0x300 size=100\n", MAIN };

	(void)state;
	expect(a, b, DIFF_LINES, "parse:30=100>0 parse:40=0>100");
	expect(a, b, DIFF_STACKS, "parse:30<main:10<=100>0 parse:40<main:10<=0>100");
	expect(a, b, DIFF_FUNCTIONS, "");
	expect(a, c, DIFF_LINES, "");
	expect(a, c, DIFF_STACKS, "");
}

static void inlined_functions_may_differ(void **state)
{
	const struct side a = { BUILD_1 SITES,
				"app+0x100=main@a.c:10 app+0x200=parse@a.c:30|old@b.h:5 "
				"app+0x300=parse@a.c:40" };
	const struct side b = { BUILD_2 SITES "site app+0x100>app+0x200 size=1\n",
				"app+0x100=main@a.c:10 app+0x200=parse@a.c:30|new@b.h:9 "
				"app+0x300=parse@a.c:40" };

	(void)state;
	expect(a, b, DIFF_STACKS, "new:9<parse:30<main:10<=100>101");
	expect(a, b, DIFF_LINES, "new:9=100>101");
	expect(a, b, DIFF_FUNCTIONS, "new=100>101");
	expect(b, a, DIFF_FUNCTIONS, "old=101>100");
}

/* Which of the two is the old one cannot be said. */
static void one_inlined_function_in_place_of_two(void **state)
{
	const struct side a = { BUILD_1 SITES, "app+0x100=main@a.c:10 "
					       "app+0x200=parse@a.c:30|old@b.h:5 "
					       "app+0x300=parse@a.c:40|older@b.h:7" };
	const struct side b = { BUILD_2 SITES, "app+0x100=main@a.c:10 "
					       "app+0x200=parse@a.c:30|new@b.h:9 "
					       "app+0x300=parse@a.c:40|new@b.h:9" };

	(void)state;
	expect(a, b, DIFF_FUNCTIONS, "new=0>300 older=200>0 old=100>0");
	expect(a, b, DIFF_STACKS, "");
}

/* The C library is another one, without names. */
static void frames_without_names_of_another_library(void **state)
{
	const struct side a = { BUILD_1 "module /lib/libc.so.6 build-id=33\n"
					"site /lib/libc.so.6+0x10>app+0x100>app+0x200 size=100\n",
				MAIN };
	const struct side b = { BUILD_2 "module /lib/libc.so.6 build-id=44\n"
					"site /lib/libc.so.6+0x20>app+0x100>app+0x200 size=103\n",
				MAIN };

	(void)state;
	expect(a, b, DIFF_STACKS, "parse:30<main:10<libc.so.6+0x20<=100>103");
}

static void copies_of_functions_are_the_function(void **state)
{
	const struct side a = { BUILD_1 SITES, MAIN };
	const struct side b = { BUILD_2 SITES,
				"app+0x100=main@a.c:10 app+0x200=parse.constprop.0@a.c:30 "
				"app+0x300=parse.isra.0.cold@a.c:40" };

	(void)state;
	expect(a, b, DIFF_FUNCTIONS, "");
	expect(a, b, DIFF_LINES, "");
	expect(a, b, DIFF_STACKS, "");
}

static void files_and_modules_may_have_other_names(void **state)
{
	const struct side a = { BUILD_1 SITES, MAIN };
	const struct side b = { "module app-2 build-id=22\nsite app-2+0x100>app-2+0x200 size=100\n"
				"site app-2+0x100>app-2+0x300 size=200\nsite app-2+0x100 size=9\n",
				"app-2+0x100=main@a.c:10 app-2+0x200=parse@a.c:30 "
				"app-2+0x300=parse@a.c:40" };
	const struct side c = { BUILD_2 SITES, "app+0x100=main@new.c:10 app+0x200=parse@:0 "
					       "app+0x300=parse@:0" };

	(void)state;
	expect(a, b, DIFF_LINES, "main:10=7>9");
	expect(a, c, DIFF_FUNCTIONS, "");
	expect(a, c, DIFF_STACKS, "");
}

static void functions_of_one_name_in_two_files_are_two(void **state)
{
	const char *two = "app+0x100=main@a.c:10 app+0x200=init@a.c:30 app+0x300=init@b.c:40";
	const struct side a = { BUILD_1 SITES, two };
	const struct side b = { BUILD_2 SITES "site app+0x100>app+0x300 size=1\n", two };

	(void)state;
	expect(a, b, DIFF_FUNCTIONS, "init=200>201");
}

static void offsets_of_one_build_are_exact(void **state)
{
	const struct side a = { BUILD_1 SITES, "" };
	const struct side b = { BUILD_1 SITES "site app+0x100>app+0x300 size=1\n", "" };

	(void)state;
	expect(a, b, DIFF_LINES, "app+0x300=200>201");
	expect(a, a, DIFF_STACKS, "");
}

static void what_cannot_be_matched_is_counted(void **state)
{
	const struct side a = { BUILD_1 SITES "site - size=5\n", "" };
	const struct side b = { BUILD_2 SITES, "" };
	struct diff *d = diff_new();

	(void)state;
	add(d, a.recipe, a.words);
	add(d, b.recipe, b.words);
	assert_int_equal(diff_unmatched(d, 0).unnamed[DIFF_LIVE_BYTES], 307);
	assert_int_equal(diff_unmatched(d, 1).unnamed[DIFF_LIVE_BYTES], 307);
	assert_int_equal(diff_unmatched(d, 0).unknown[DIFF_LIVE_BYTES], 5);
	assert_int_equal(diff_unmatched(d, 1).unknown[DIFF_LIVE_BYTES], 0);
	assert_string_equal(diff_unmatched(d, 0).module, "app");
	diff_free(d);

	d = diff_new();
	add(d, SITES, "");
	add(d, SITES, "");
	assert_int_equal(diff_unmatched(d, 0).unnamed[DIFF_LIVE_BYTES], 0);
	assert_int_equal(diff_unmatched(d, 1).guessed[DIFF_LIVE_BYTES], 307);
	diff_free(d);
}

/* The heap's peak was 1000, of which the sites know 307. */
static void what_no_site_accounts_for_is_a_row(void **state)
{
	struct diff *d = diff_new();
	struct str s = STR_INIT;

	(void)state;
	add(d, BUILD_1 SITES, MAIN);
	add(d, BUILD_1 SITES "totals peak=1000\n", MAIN);
	check_sums(d);
	add_list(&s, d, DIFF_LINES, DIFF_PEAK);
	assert_string_equal(str_text(&s), "[in no stack]=0>693");
	str_fini(&s);
	diff_free(d);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void any_two_heaps(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 12; seed++) {
		struct diff *ab = diff_new(), *ba = diff_new();
		char a[200], b[200];

		snprintf(a, sizeof(a), "generate sites=300 blocks=900 seed=%u depth=9\n", seed);
		snprintf(b, sizeof(b), "generate sites=%u blocks=700 seed=%u depth=%u\n",
			 250 + seed, seed % 2 ? seed : seed + 1, 8 + seed % 3);
		add(ab, a, "");
		add(ab, b, "");
		add(ba, b, "");
		add(ba, a, "");
		check_sums(ab);
		check_sums(ba);
		for (unsigned list = 0; list < DIFF_NR_LISTS; list++)
			for (unsigned key = 0; key < DIFF_NR_KEYS; key++) {
				struct diff_ranking x, y;

				assert_int_equal(diff_rank(ab, list, key, 0, 1, 0, &x), 0);
				assert_int_equal(diff_rank(ba, list, key, 0, 1, 0, &y), 0);
				assert_int_equal(x.nr, y.nr);
				assert_int_equal(x.more, -y.less);
				assert_int_equal(x.less, -y.more);
				assert_int_equal(x.more + x.less,
						 diff_total(ab, 1)[diff_metric_of(key)] -
							 diff_total(ab, 0)[diff_metric_of(key)]);
				diff_ranking_fini(&x);
				diff_ranking_fini(&y);
			}
		diff_free(ab);
		diff_free(ba);
	}
}

static void more_than_two_heaps(void **state)
{
	struct diff *d = diff_new();
	struct str s = STR_INIT;

	(void)state;
	add(d, BUILD_1 "site app+0x100 size=10\n", MAIN);
	add(d, BUILD_2 "site app+0x110 size=20\n", "app+0x110=main@a.c:13");
	add(d, "module app build-id=33\nsite app+0x120 size=30\n", "app+0x120=main@a.c:16");
	check_sums(d);
	add_list(&s, d, DIFF_LINES, DIFF_LIVE);
	assert_string_equal(str_text(&s), "main:16=10>20>30");
	str_fini(&s);
	diff_free(d);
}

/*
 * 0x100 grows by 10 a heap, at heaps that are 2 apart; 0x200 falls; 0x300 does not change; 0x400
 * rises and falls.
 */
static void lines_over_many_heaps(void **state)
{
	static const int wave[] = { 5, 9, 4, 8, 6, 7 };
	double t[6];
	struct diff *d = diff_new();
	struct diff_trends r;
	struct diff_trend total;

	(void)state;
	for (int i = 0; i < 6; i++) {
		char recipe[300];

		t[i] = 2 * i;
		snprintf(recipe, sizeof(recipe),
			 BUILD_1 "site app+0x100 allocs=%d size=10\nsite app+0x200 allocs=%d "
				 "size=2\nsite app+0x300 size=5\nsite app+0x400 allocs=%d size=1\n",
			 i + 1, 10 - i, wave[i]);
		add(d, recipe, "");
	}
	assert_int_equal(diff_trends_rank(d, DIFF_LINES, DIFF_LIVE, t, 0, &r), 0);
	assert_int_equal(r.nr, 3);
	assert_int_equal(diff_name_of(d, DIFF_LINES, r.v[0].row).offset, 0x100);
	assert_float_equal(r.v[0].slope, 5, 1e-9);
	assert_float_equal(r.v[0].r_squared, 1, 1e-9);
	assert_int_equal(r.v[0].first, 10);
	assert_int_equal(r.v[0].last, 60);
	assert_true(r.v[0].steady);
	assert_int_equal(diff_name_of(d, DIFF_LINES, r.v[1].row).offset, 0x400);
	assert_false(r.v[1].steady);
	assert_true(r.v[1].r_squared < 0.1);
	assert_int_equal(diff_name_of(d, DIFF_LINES, r.v[2].row).offset, 0x200);
	assert_float_equal(r.v[2].slope, -1, 1e-9);
	assert_false(r.v[2].steady);
	diff_trends_fini(&r);
	assert_int_equal(diff_trends_rank(d, DIFF_LINES, DIFF_LIVE, t, 1, &r), 0);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.nr_all, 3);
	diff_trends_fini(&r);
	assert_int_equal(diff_trend_total(d, DIFF_LIVE, t, &total), 0);
	assert_int_equal(total.first, 40);
	assert_int_equal(total.last, 82);
	diff_free(d);
}

static void names_lose_what_a_build_adds(void **state)
{
	static const struct {
		const char *name, *wanted;
	} functions[] = {
		{ "parse", "parse" },
		{ "parse.part.12", "parse" },
		{ "parse.isra.0.constprop.1", "parse" },
		{ "parse.cold", "parse" },
		{ "main.partly", "main.partly" },
		{ "main.run.func1", "main.run.func1" },
		{ "a::f(int) [clone .isra.0]", "a::f(int)" },
		{ "core::f::h0123456789abcdef", "core::f" },
		{ "core::f::h0123456789abcdeg", "core::f::h0123456789abcdeg" },
	};
	static const struct {
		const char *path, *wanted;
	} modules[] = {
		{ "/usr/lib/libz.so.1.2.13", "libz.so" },
		{ "/usr/lib/libz.so", "libz.so" },
		{ "/tmp/app (deleted)", "app" },
		{ "plugin.solid", "plugin.solid" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < NR(functions); i++) {
		char got[100];

		snprintf(got, sizeof(got), "%.*s", (int)diff_function_bytes(functions[i].name),
			 functions[i].name);
		assert_string_equal(got, functions[i].wanted);
	}
	for (size_t i = 0; i < NR(modules); i++) {
		size_t bytes;
		const char *part = diff_module_part(modules[i].path, &bytes);
		char got[100];

		snprintf(got, sizeof(got), "%.*s", (int)bytes, part);
		assert_string_equal(got, modules[i].wanted);
	}
}

static int release(void **state)
{
	(void)state;
	intern_fini(&kept);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_heap_has_no_difference),
		cmocka_unit_test(addresses_of_modules_may_differ),
		cmocka_unit_test(lines_may_move),
		cmocka_unit_test(a_new_line_among_moved_ones),
		cmocka_unit_test(lines_of_one_build_do_not_move),
		cmocka_unit_test(inlined_functions_may_differ),
		cmocka_unit_test(one_inlined_function_in_place_of_two),
		cmocka_unit_test(frames_without_names_of_another_library),
		cmocka_unit_test(copies_of_functions_are_the_function),
		cmocka_unit_test(files_and_modules_may_have_other_names),
		cmocka_unit_test(functions_of_one_name_in_two_files_are_two),
		cmocka_unit_test(offsets_of_one_build_are_exact),
		cmocka_unit_test(what_cannot_be_matched_is_counted),
		cmocka_unit_test(what_no_site_accounts_for_is_a_row),
		cmocka_unit_test(any_two_heaps),
		cmocka_unit_test(more_than_two_heaps),
		cmocka_unit_test(lines_over_many_heaps),
		cmocka_unit_test(names_lose_what_a_build_adds),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
