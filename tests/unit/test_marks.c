/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened when: marks that were noted, and those that the heap itself tells of. */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/time/marks.h"

#define S 1000000000ull

static void expect(const struct mark *m, uint64_t time, uint64_t last, uint64_t count,
		   enum mark_what what)
{
	assert_int_equal(m->time_ns, time);
	assert_int_equal(m->last_ns, last);
	assert_int_equal(m->count, count);
	assert_int_equal(m->what, what);
}

static void all_of_them_by_time(void **state)
{
	struct heap *h = recipe_heap(
		"process taken=10s end=exited\nsite a size=1\n"
		"mark 2s pid=8 name=child count=3 last=9s\nmark 3s kind=child-exec pid=8 name=cc1\n"
		"mark 10s\n"
		"search exit at=10s pause=2s\n"
		"check guard\nfinding type=overrun first=3s last=5s count=4 number=7\n");
	struct marks m;

	(void)state;
	assert_int_equal(marks_init(&m, h), 0);
	assert_int_equal(m.all.nr, 6);
	expect(&m.all.v[0], 2 * S, 9 * S, 3, MARK_FORK);
	assert_int_equal(m.all.v[0].pid, 8);
	assert_string_equal(m.all.v[0].name, "child");
	expect(&m.all.v[1], 3 * S, 3 * S, 1, MARK_CHILD_EXEC);
	assert_string_equal(m.all.v[1].name, "cc1");
	expect(&m.all.v[2], 3 * S, 5 * S, 4, MARK_ERROR);
	assert_int_equal(m.all.v[2].number, 7);
	expect(&m.all.v[3], 10 * S, 10 * S, 1, MARK_FORK);
	expect(&m.all.v[4], 10 * S, 12 * S, 1, MARK_SEARCH);
	expect(&m.all.v[5], 10 * S, 10 * S, 1, MARK_END);
	assert_string_equal(m.all.v[5].name, "");
	marks_fini(&m);
	assert_int_equal(m.all.nr, 0);
	heap_free(h);
}

static void a_capture_is_a_moment(void **state)
{
	struct heap *h = recipe_heap("process taken=7s end=running\n");
	struct marks m;

	(void)state;
	h->captured = true;
	assert_int_equal(marks_init(&m, h), 0);
	assert_int_equal(m.all.nr, 1);
	expect(&m.all.v[0], 7 * S, 7 * S, 1, MARK_SNAPSHOT);
	marks_fini(&m);
	heap_free(h);
}

static void who_runs_has_no_end(void **state)
{
	struct heap *h = recipe_heap("process end=running\n");
	struct marks m;

	(void)state;
	assert_int_equal(marks_init(&m, h), 0);
	assert_int_equal(m.all.nr, 0);
	marks_fini(&m);
	heap_free(h);
}

/* Of a newer pmm, and a search that says it took for ever. */
static void what_makes_no_sense_is_kept_in_bounds(void **state)
{
	struct heap *h = recipe_heap("process end=running\nsite a size=1\nmark 2s\n"
				     "search copy at=3s\n");
	struct marks m;

	(void)state;
	h->marks[0].kind = 200;
	h->search.pause_ns = UINT64_MAX;
	assert_int_equal(marks_init(&m, h), 0);
	assert_int_equal(m.all.nr, 2);
	expect(&m.all.v[0], 2 * S, 2 * S, 1, MARK_OTHER);
	expect(&m.all.v[1], 3 * S, 3 * S, 1, MARK_SEARCH);
	marks_fini(&m);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them_by_time),
		cmocka_unit_test(who_runs_has_no_end),
		cmocka_unit_test(a_capture_is_a_moment),
		cmocka_unit_test(what_makes_no_sense_is_kept_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
