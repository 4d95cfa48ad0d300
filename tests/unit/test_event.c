/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/document/event.c and src/render/render_event.c. */
#include "src/document/event.h"

#include "tests/unit/unit.h"

static const struct style narrow = { .width = 30 };

static void expect(const struct event *e, const struct style *style, const char *wanted)
{
	size_t size;
	char *got;
	FILE *out = open_memstream(&got, &size);

	assert_int_equal(style ? event_print_text(e, style, out) : event_print_json(e, out), 0);
	fclose(out);
	assert_string_equal(got, wanted);
	free(got);
}

static void fields_have_their_types(void **state)
{
	char name[] = "copied";
	struct event e = { 0 };

	(void)state;
	event_text(&e, "name", name);
	name[0] = '?';
	event_text(&e, "unknown", NULL);
	event_u64(&e, "blocks", UNIT_COUNT, 12345);
	event_u64(&e, "size_bytes", UNIT_BYTES, UINT64_MAX);
	event_u64(&e, "offset", UNIT_ADDRESS, 0x1f0);
	event_u64(&e, "silent", UNIT_BOOL, 7);
	event_u64(&e, "loud", UNIT_BOOL, 0);
	event_float(&e, "pace", 0.5);
	expect(&e, NULL,
	       "{\"name\": \"copied\", \"unknown\": null, \"blocks\": 12345, \"size_bytes\": "
	       "18446744073709551615, \"offset\": \"0x1f0\", \"silent\": true, \"loud\": false, "
	       "\"pace\": 0.5}\n");
	expect(&e, &narrow, "");
	event_fini(&e);
}

static void fill(struct event *e, const void *arg)
{
	for (unsigned i = 0; i < *(const unsigned *)arg; i++) {
		event_object(e, NULL);
		event_u64(e, "i", UNIT_COUNT, i);
		event_end(e);
	}
}

static void objects_and_lists_nest(void **state)
{
	static const unsigned two = 2, none;
	struct event e = { 0 };

	(void)state;
	event_object(&e, "range");
	event_u64(&e, "from", UNIT_COUNT, 1);
	event_end(&e);
	event_list(&e, "some");
	event_u64(&e, NULL, UNIT_COUNT, 5);
	event_text(&e, NULL, "x");
	event_end(&e);
	event_filled_list(&e, "filled", fill, &two);
	event_filled_list(&e, "empty", fill, &none);
	event_u64(&e, "last", UNIT_COUNT, 9);
	expect(&e, NULL,
	       "{\"range\": {\"from\": 1}, \"some\": [5, \"x\"], \"filled\": [{\"i\": 0}, "
	       "{\"i\": 1}], \"empty\": [], \"last\": 9}\n");
	event_fini(&e);
}

static struct table *table(const void *arg)
{
	static const struct column column = TEXT_COLUMN("title", UNIT_TEXT);
	struct table *t = table_new(TABLE_ROWS, NULL, NULL, &column, 1);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set_text(t, 0, arg);
	return t;
}

static void text_is_broken_and_a_table_stands_below(void **state)
{
	struct event e = { 0 };

	(void)state;
	str_add(&e.text, "  1 s  one line that is too long for it\n\nlast\n");
	expect(&e, NULL, "");
	e.below = table;
	e.below_arg = "row";
	expect(&e, &narrow,
	       "  1 s  one line that is too\n"
	       "       long for it\n"
	       "\n"
	       "last\n"
	       "  title\n"
	       "  row\n");
	event_fini(&e);
}

/* Nothing is left out silently: neither form takes an event for whole that is not. */
static void trouble_is_not_hidden(void **state)
{
	struct event e = { 0 }, text = { 0 };
	size_t size;
	char *got;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	event_u64(&e, "n", UNIT_COUNT, 1);
	e.failed = true;
	assert_int_equal(event_error(&e), -ENOMEM);
	assert_int_equal(event_print_json(&e, out), -ENOMEM);
	str_add(&text.text, "half of a li");
	text.text.failed = true;
	assert_int_equal(event_error(&text), -ENOMEM);
	assert_int_equal(event_print_text(&text, &narrow, out), -ENOMEM);
	fclose(out);
	assert_string_equal(got, "out of memory: a line is missing here\n");
	free(got);
	event_fini(&e);
	event_fini(&text);
}

static void fill_and_fail(struct event *e, const void *arg)
{
	fill(e, arg);
	e->failed = true;
}

static struct table *no_table(const void *arg)
{
	(void)arg;
	return NULL;
}

/* In a list that is filled late, in a table below, in a text that has not even begun. */
static void trouble_inside_is_not_hidden(void **state)
{
	const unsigned two = 2;
	struct event list = { 0 }, below = { .below = no_table }, nothing = { 0 };
	size_t size;
	char *got;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	event_filled_list(&list, "values", fill_and_fail, &two);
	event_u64(&list, "n", UNIT_COUNT, 1);
	assert_int_equal(event_print_json(&list, out), -ENOMEM);
	str_add(&below.text, "a line");
	assert_int_equal(event_print_text(&below, &narrow, out), -ENOMEM);
	nothing.text.failed = true;
	assert_int_equal(event_print_text(&nothing, &narrow, out), -ENOMEM);
	fclose(out);
	free(got);
	event_fini(&list);
	event_fini(&below);
	event_fini(&nothing);
}

static void what_cannot_be_written_is_an_error(void **state)
{
	struct event e = { 0 };
	FILE *full = fopen("/dev/full", "we");

	(void)state;
	assert_non_null(full);
	event_u64(&e, "n", UNIT_COUNT, 1);
	str_add(&e.text, "a line");
	assert_int_equal(event_print_json(&e, full), -ENOSPC);
	assert_int_equal(event_print_text(&e, &narrow, full), -ENOSPC);
	fclose(full);
	event_fini(&e);
}

/* A line with a name at its front goes on below what stands behind that, another one by two. */
static void lines_go_on_where_they_should(void **state)
{
	struct event e = { 0 };

	(void)state;
	event_float(&e, "ratio", 0.5);
	event_u64(&e, "share", UNIT_COUNT, 2);
	e.fields.v[0].unit = UNIT_PERCENT;
	str_add(&e.text, "a line without a name that is longer than that");
	expect(&e, NULL, "{\"ratio\": 0.5, \"share\": 2}\n");
	expect(&e, &narrow, "a line without a name that is\n  longer than that\n");
	event_fini(&e);
}

enum { NAME, BYTES, PIDS, TITLE, NR };

static void fill_group(struct table *t, uint64_t group)
{
	static const uint64_t pids[] = { 2, 11, 12 };

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_setf(t, NAME, "group %d", (int)group);
	table_set(t, BYTES, 10 * group);
	table_set_const(t, TITLE, "for people");
	if (!group)
		return;
	table_set_bars(t, PIDS, pids);
	for (uint64_t i = 0; i < group; i++) {
		table_row(t, 1, ROW_DIM, i ? ROW_JSON_ONLY : ROW_TEXT_ONLY);
		table_set(t, BYTES, i);
	}
}

/* A group of a document's table is the same object in an event. */
static void a_group_of_a_table(void **state)
{
	static const struct column column[NR] = {
		[NAME] = JSON_COLUMN("name", UNIT_TEXT),
		[BYTES] = JSON_COLUMN("size_bytes", UNIT_BYTES),
		[PIDS] = JSON_COLUMN("pids", UNIT_NUMBERS),
		[TITLE] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	};
	struct table *t = table_new(TABLE_TREE, "rows", NULL, column, NR);
	struct event e = { 0 }, bare = { 0 };

	(void)state;
	t->children_key = "below";
	t->fill = fill_group;
	t->nr_groups = 4;
	event_group(&e, t, 3);
	expect(&e, NULL, "{\"name\": \"group 3\", \"size_bytes\": 30, \"pids\": [11, 12], "
			 "\"below\": [{\"size_bytes\": 1}, {\"size_bytes\": 2}]}\n");
	event_group(&bare, t, 0);
	expect(&bare, NULL, "{\"name\": \"group 0\", \"size_bytes\": 0, \"below\": []}\n");
	event_fini(&e);
	event_fini(&bare);
	t->failed = true;
	event_group(&e, t, 0);
	assert_int_equal(event_error(&e), -ENOMEM);
	event_fini(&e);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_their_types),
		cmocka_unit_test(objects_and_lists_nest),
		cmocka_unit_test(text_is_broken_and_a_table_stands_below),
		cmocka_unit_test(trouble_is_not_hidden),
		cmocka_unit_test(trouble_inside_is_not_hidden),
		cmocka_unit_test(what_cannot_be_written_is_an_error),
		cmocka_unit_test(lines_go_on_where_they_should),
		cmocka_unit_test(a_group_of_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
