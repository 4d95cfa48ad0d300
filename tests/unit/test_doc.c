/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Documents: the same tables and series through both renderers.
 * Also of src/document/doc.c, table.c, series.c, graph.c, render_json.c, render_text.c.
 * Also of src/document/doc_record.c.
 */
#include "tests/unit/unit.h"

#include "src/document/doc.h"
#include "src/document/doc_record.h"

static char *printed(const struct doc *d, const struct style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(style ? doc_print_text(d, style, out) : doc_print_json(d, out), 0);
	fclose(out);
	return text;
}

/* Compare without white space outside strings, so that indentation is the writer's affair. */
static void squeeze(char *text)
{
	char *to = text;
	bool quoted = false;

	for (char *p = text; *p; p++) {
		quoted ^= *p == '"' && (p == text || p[-1] != '\\');
		if (quoted || !strchr(" \n", *p))
			*to++ = *p;
	}
	*to = '\0';
}

static void expect(struct doc *d, const char *text, const char *json)
{
	const struct style style = { .width = 60 };
	char *got = printed(d, &style);

	assert_int_equal(doc_error(d), 0);
	assert_string_equal(got, text);
	free(got);
	got = printed(d, NULL);
	squeeze(got);
	assert_string_equal(got, json);
	free(got);
	doc_fini(d);
}

static const struct column columns[] = {
	{ "size_bytes", "size", UNIT_BYTES },
	{ "name", "who", UNIT_TEXT },
	{ "calls", "calls", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "secret", NULL, UNIT_NUMBER, COLUMN_JSON_ONLY },
	{ NULL, "where", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	{ NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void put(struct table *t, uint32_t depth, uint64_t size, const char *name, const char *label,
		const char *tail)
{
	table_row(t, depth, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, size);
	table_set_text(t, 1, name);
	table_set(t, 2, 0);
	table_set_text(t, 4, label);
	table_set_text(t, 5, tail);
}

static void rows_align_and_keep_the_tail(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", "Rows", columns, NR(columns));

	(void)state;
	put(t, 0, 5, "a", "short", "f.c:1");
	put(t, 0, 2048, "long name", "a_function_with_a_long_name_indeed", "file.c:12");
	table_set(t, 2, 30);
	table_note(t, "a note");
	doc_add(&d, t);
	expect(&d,
	       "Rows\n"
	       "      size  who        calls  where\n"
	       "       5 B  a              -  short  f.c:1\n"
	       "  2.00 KiB  long name     30  a_function_with_a_~  file.c:12\n"
	       "  a note\n",
	       "{\"schema\":\"s/"
	       "1\",\"rows\":[{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null},"
	       "{\"size_bytes\":2048,\"name\":\"long name\",\"calls\":30,\"secret\":null}]}");
}

/* A module is cut before the function in it is; left out where next to nothing of it remains. */
static void modules_give_way(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", "Rows", columns, NR(columns));

	(void)state;
	put(t, 0, 5, "a", "short", "[libc.so.6]");
	put(t, 0, 5, "a", "a_longer_name", "[libc.so.6]");
	put(t, 0, 5, "a", "a_function_of_thirty_two_letters", "[redis-check-rdb]");
	put(t, 0, 5, "a", "a_function_with_a_long_name_indeed_that", "[redis-check-rdb]");
	doc_add(&d, t);
	expect(&d,
	       "Rows\n"
	       "  size  who  where\n"
	       "   5 B  a    short  [libc.so.6]\n"
	       "   5 B  a    a_longer_name  [libc.so.6]\n"
	       "   5 B  a    a_function_of_thirty_two_letters  ~s-check-rdb]\n"
	       "   5 B  a    a_function_with_a_long_name_indeed_that\n",
	       "{\"schema\":\"s/1\",\"rows\":["
	       "{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null},"
	       "{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null},"
	       "{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null},"
	       "{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null}]}");
}

static void columns_of_zeros_are_not_shown(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", "Rows", columns, NR(columns));

	(void)state;
	put(t, 0, 5, "a", "short", "f.c:1");
	doc_add(&d, t);
	expect(&d,
	       "Rows\n"
	       "  size  who  where\n"
	       "   5 B  a    short  f.c:1\n",
	       "{\"schema\":\"s/"
	       "1\",\"rows\":[{\"size_bytes\":5,\"name\":\"a\",\"calls\":0,\"secret\":null}]}");
}

static void records_are_objects(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = record_new("process");

	(void)state;
	record_number(t, "pid", 7);
	record_text(t, "x", NULL);
	record_float(t, "share_percent", UNIT_PERCENT, 12.5);
	record_bool(t, "ok", true);
	record_add(t, "at", UNIT_ADDRESS, 0x7f00);
	doc_add(&d, t);
	expect(&d, "",
	       "{\"schema\":\"s/"
	       "1\",\"process\":{\"pid\":7,\"share_percent\":12.5,\"ok\":true,\"at\":\"0x7f00\"}}");
}

static const struct column tree_columns[] = {
	{ "n", "n", UNIT_COUNT },
	{ NULL, "frame", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

static void leaf(struct table *t, uint32_t depth, uint64_t n, const char *name)
{
	table_row(t, depth, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, n);
	table_set_const(t, 1, name);
}

static struct table *tree(const char *children)
{
	struct table *t = table_new(TABLE_TREE, "tree", NULL, tree_columns, NR(tree_columns));

	t->children_key = children;
	leaf(t, 0, 3, "main");
	leaf(t, 1, 3, "run");
	leaf(t, 2, 2, "load");
	leaf(t, 3, 2, "parse");
	leaf(t, 2, 1, "draw");
	return t;
}

static void call_trees_fold_chains_and_come_flat(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = tree(NULL);

	(void)state;
	t->fold_chains = true;
	doc_add(&d, t);
	expect(&d,
	       "  n  frame\n"
	       "  3  main\n"
	       "  3  run\n"
	       "  2    load\n"
	       "  2    parse\n"
	       "  1    draw\n",
	       "{\"schema\":\"s/"
	       "1\",\"tree\":[{\"depth\":0,\"n\":3},{\"depth\":1,\"n\":3},{\"depth\":2,\"n\":2},"
	       "{\"depth\":3,\"n\":2},{\"depth\":2,\"n\":1}]}");
}

static void nested_trees_have_two_levels(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_TREE, "sites", NULL, tree_columns, NR(tree_columns));

	(void)state;
	t->children_key = "frames";
	leaf(t, 0, 2, "a");
	leaf(t, 1, 5, "a1");
	leaf(t, 1, 6, "a2");
	leaf(t, 0, 1, "b");
	doc_add(&d, t);
	expect(&d,
	       "  n  frame\n"
	       "  2  a\n"
	       "  5    a1\n"
	       "  6    a2\n"
	       "  1  b\n",
	       "{\"schema\":\"s/"
	       "1\",\"sites\":[{\"n\":2,\"frames\":[{\"n\":5},{\"n\":6}]},{\"n\":1,\"frames\":[]}]"
	       "}");
}

static void two_rows(struct table *t, uint64_t group)
{
	leaf(t, 0, group, "made");
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_setf(t, 1, "of group %d", (int)group);
	table_row(t, 0, ROW_PLAIN, ROW_JSON_ONLY);
	table_set(t, 0, 100 + group);
}

static void rows_can_be_made_on_demand(void **state)
{
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", NULL, tree_columns, NR(tree_columns));

	(void)state;
	t->fill = two_rows;
	t->nr_groups = 2;
	doc_add(&d, t);
	expect(&d,
	       "  n  frame\n"
	       "  0  made\n"
	       "     of group 0\n"
	       "  1  made\n"
	       "     of group 1\n",
	       "{\"schema\":\"s/1\",\"rows\":[{\"n\":0},{\"n\":100},{\"n\":1},{\"n\":101}]}");
}

static const struct column series_columns[] = {
	{ "time_ns", NULL, UNIT_DURATION },
	{ "live_bytes", NULL, UNIT_BYTES },
};

static struct series *three_points(void)
{
	struct series *s = series_new("history", "Over time", series_columns, 2, 3);
	const uint64_t v[3][2] = { { 0, 0 }, { 5000000000, 800 }, { 10000000000, 400 } };

	for (size_t i = 0; i < 3; i++) {
		series_set(s, i, 0, v[i][0]);
		series_set(s, i, 1, v[i][1]);
	}
	s->mark = 1;
	s->mark_key = "peak_index";
	s->mark_name = "peak";
	return s;
}

static void series_fold_to_the_highest_in_each_stretch(void **state)
{
	struct series *s = three_points();
	uint64_t v[4];

	(void)state;
	assert_int_equal(series_fold(s, v, 4), 800);
	assert_int_equal(v[0], 0);
	assert_int_equal(v[1], 0);
	assert_int_equal(v[2], 800);
	assert_int_equal(v[3], 800); /* the fall to 400 is at its very end: it began with 800 */
	series_fold(s, v, 1);
	assert_int_equal(v[0], 800);
	series_free(s);
}

/* Of a series that does not begin at 0. */
static void events_are_counted_in_each_column(void **state)
{
	struct series *s = three_points();
	uint64_t first, last, v[4];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		series_set(s, i, 0, series_get(s, i, 0) + 7000000000);
	first = series_get(s, 0, 0);
	last = series_get(s, 2, 0);
	assert_int_equal(series_add_row(s, "faults"), 0);
	assert_int_equal(series_add_row(s, "none"), 1);
	assert_int_equal(series_mark(s, 0, first, 1), 0);
	assert_int_equal(series_mark(s, 0, first + (last - first) / 4, 10), 0);
	assert_int_equal(series_mark(s, 0, first + (last - first) / 4 - 1, 100), 0);
	assert_int_equal(series_mark(s, 0, last, 5), 0);
	assert_int_equal(series_mark(s, 0, UINT64_MAX, 2), 0);
	assert_int_equal(series_mark(s, 0, 0, 1000), 0);
	series_fold_row(s, 0, v, 4);
	assert_int_equal(v[0], 1101);
	assert_int_equal(v[1], 10);
	assert_int_equal(v[2], 0);
	assert_int_equal(v[3], 7);
	series_fold_row(s, 1, v, 4);
	assert_int_equal(v[0] + v[1] + v[2] + v[3], 0);
	series_fold_row(s, 0, v, 1);
	assert_int_equal(v[0], 1118);
	series_free(s);
	/* without time everything is in the first column */
	s = series_new("history", "Over time", series_columns, 2, 1);
	assert_int_equal(series_add_row(s, "faults"), 0);
	assert_int_equal(series_mark(s, 0, 7, 3), 0);
	series_fold_row(s, 0, v, 4);
	assert_int_equal(v[0], 3);
	assert_int_equal(v[3], 0);
	series_free(s);
}

static void series_draw_their_peak(void **state)
{
	struct doc d = { .schema = "s/1" };

	(void)state;
	doc_add_series(&d, three_points());
	expect(&d,
	       "Over time\n"
	       "     800 B |                        ########################\n"
	       "           |                        ########################\n"
	       "           |                        ########################\n"
	       "           |                        ########################\n"
	       "     400 B |                        ########################\n"
	       "           |                        ########################\n"
	       "           |                        ########################\n"
	       "         0 |                        ########################\n"
	       "                                    ^ peak 800 B at 5.00 s\n"
	       "            0 s                                       10.0 s\n",
	       "{\"schema\":\"s/"
	       "1\",\"history\":{\"time_ns\":[0,5000000000,10000000000],\"live_bytes\":[0,800,400],"
	       "\"peak_index\":1}}");
}

static void sentences_are_broken_never_cut(void **state)
{
	static const struct { unsigned width; const char *text; } cases[] = {
		/* the measure of 30 characters holds where there is more room, too */
		{ 60, "  1 B  one two three four five six\n"
		      "       seven eight\n"
		      "         two three four five six seven\n"
		      "         eight nine\n" },
		{ 33, "  1 B  one two three four five\n"
		      "       six seven eight\n"
		      "         two three four five six\n"
		      "         seven eight nine\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const struct column of[] = {
			TEXT_COLUMN(NULL, UNIT_BYTES),
			{ NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
		};
		struct doc d = { .schema = "s/1" };
		struct table *t = table_new(TABLE_ROWS, NULL, NULL, of, 2);
		char *got;

		doc_add(&d, t);
		table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
		table_set(t, 0, 1);
		table_wrap(t, 1, "one two three four five six seven eight", 30, 0, ROW_PLAIN, true);
		table_wrap(t, 1, "two three four five six seven eight nine", 30, 1,
			   ROW_PLAIN, false);
		got = printed(&d, &(struct style){ .width = cases[i].width });
		assert_string_equal(got, cases[i].text);
		free(got);
		doc_fini(&d);
	}
}

/* A path loses its beginning where the line has no room, but keeps as much as a label's least. */
static void paths_lose_their_beginning(void **state)
{
	static const struct { unsigned width; const char *text; } cases[] = {
		{ 60, "  calls  module                            id\n"
		      "      1  /usr/lib/x86_64-linux-gnu/lib.so  0123456789abcdef\n"
		      "      2  /lib/lib.so                       ab\n" },
		{ 59, "  calls  module                            id\n"
		      "      1  /usr/lib/x86_64-linux-gnu/lib.so  0123456789abcdef\n"
		      "      2  /lib/lib.so                       ab\n" },
		{ 58, "  calls  module                           id\n"
		      "      1  ~sr/lib/x86_64-linux-gnu/lib.so  0123456789abcdef\n"
		      "      2  /lib/lib.so                      ab\n" },
		{ 20, "  calls  module                    id\n"
		      "      1  ~x86_64-linux-gnu/lib.so  0123456789abcdef\n"
		      "      2  /lib/lib.so               ab\n" },
	};
	static const struct column of[] = {
		TEXT_COLUMN("calls", UNIT_COUNT),
		{ NULL, "module", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_GIVES_WAY },
		TEXT_COLUMN("id", UNIT_TEXT),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doc d = { .schema = "s/1" };
		struct table *t = table_new(TABLE_ROWS, NULL, NULL, of, 3);
		char *got;

		doc_add(&d, t);
		table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
		table_set(t, 0, 1);
		table_set_text(t, 1, "/usr/lib/x86_64-linux-gnu/lib.so");
		table_set_text(t, 2, "0123456789abcdef");
		table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
		table_set(t, 0, 2);
		table_set_text(t, 1, "/lib/lib.so");
		table_set_text(t, 2, "ab");
		got = printed(&d, &(struct style){ .width = cases[i].width });
		assert_string_equal(got, cases[i].text);
		free(got);
		doc_fini(&d);
	}
}

static void colour_only_when_asked(void **state)
{
	const struct style style = { .width = 60, .colour = true };
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", NULL, tree_columns, NR(tree_columns));
	char *got;

	(void)state;
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set_text(t, 1, "a\033b");
	doc_add(&d, t);
	got = printed(&d, &style);
	assert_non_null(strstr(got, "\033[1m     a\\x1bb\033[0m\n"));
	free(got);
	doc_fini(&d);
}

static void a_failed_table_fails_the_document(void **state)
{
	struct doc d = { .schema = "s/1" };

	(void)state;
	doc_add(&d, NULL);
	assert_int_equal(doc_error(&d), -ENOMEM);
	doc_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_align_and_keep_the_tail),
		cmocka_unit_test(modules_give_way),
		cmocka_unit_test(columns_of_zeros_are_not_shown),
		cmocka_unit_test(records_are_objects),
		cmocka_unit_test(call_trees_fold_chains_and_come_flat),
		cmocka_unit_test(nested_trees_have_two_levels),
		cmocka_unit_test(rows_can_be_made_on_demand),
		cmocka_unit_test(series_fold_to_the_highest_in_each_stretch),
		cmocka_unit_test(events_are_counted_in_each_column),
		cmocka_unit_test(series_draw_their_peak),
		cmocka_unit_test(sentences_are_broken_never_cut),
		cmocka_unit_test(paths_lose_their_beginning),
		cmocka_unit_test(colour_only_when_asked),
		cmocka_unit_test(a_failed_table_fails_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
