/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks are bounded: none is lost from the count, and times stay in order. */
#include "tests/unit/unit.h"

#include <string.h>

#include "src/track/mark_series.h"
#include "tests/unit/recipe_heap.h"

static uint64_t count_of(const struct mark_series *s, uint8_t kind)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < s->all.nr; i++)
		if (s->all.v[i].kind == kind)
			nr += s->all.v[i].count;
	return nr;
}

static void two_of_a_kind_become_one(void **state)
{
	struct mark_series s = { 0 };

	(void)state;
	for (unsigned i = 0; i < MARKS_MOST; i++)	/* fork, exec, fork, exec ... */
		mark_series_add(&s, i % 2 ? HEAP_MARK_CHILD_EXEC : HEAP_MARK_FORK, i,
				(pid_t)(100 + i / 2), i % 2 ? "cc1" : "make");
	assert_int_equal(s.all.nr, MARKS_MOST);
	mark_series_add(&s, HEAP_MARK_FORK, 1000, 7, "last");
	assert_int_equal(s.all.nr, MARKS_MOST / 2 + 1);
	assert_int_equal(s.all.v[0].time_ns, 0);
	assert_int_equal(s.all.v[0].last_ns, 2);
	assert_int_equal(s.all.v[0].count, 2);
	assert_int_equal(s.all.v[0].pid, 100);
	assert_string_equal(s.all.v[0].name, "make");
	assert_int_equal(s.all.v[1].time_ns, 1);
	assert_int_equal(s.all.v[1].last_ns, 3);
	assert_int_equal(s.all.v[1].kind, HEAP_MARK_CHILD_EXEC);
	assert_int_equal(s.all.v[2].time_ns, 4);
	assert_int_equal(s.all.v[MARKS_MOST / 2].count, 1);
	assert_string_equal(s.all.v[MARKS_MOST / 2].name, "last");
	mark_series_fini(&s);
}

/* However many there are, and in whatever order. */
static void all_are_counted(void **state)
{
	uint64_t random = 1, nr[HEAP_NR_MARKS] = { 0 };
	struct mark_series s = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		mark_series_add(&s, random >> 62 ? HEAP_MARK_FORK : HEAP_MARK_CHILD_EXEC, i, 1,
				"x");
		nr[random >> 62 ? HEAP_MARK_FORK : HEAP_MARK_CHILD_EXEC]++;
		assert_true(s.all.nr <= MARKS_MOST);
	}
	assert_int_equal(count_of(&s, HEAP_MARK_FORK), nr[HEAP_MARK_FORK]);
	assert_int_equal(count_of(&s, HEAP_MARK_CHILD_EXEC), nr[HEAP_MARK_CHILD_EXEC]);
	for (size_t i = 1; i < s.all.nr; i++) {
		assert_true(s.all.v[i].time_ns > s.all.v[i - 1].time_ns);
		assert_true(s.all.v[i].last_ns >= s.all.v[i].time_ns);
	}
	mark_series_fini(&s);
}

/* Names come from the process; several marks may have one time, and marks may come late. */
static void what_is_from_outside_does_no_harm(void **state)
{
	struct heap *h = recipe_heap("process taken=5\nmark 1s name=before\n");
	struct mark_series s = { 0 };
	char name[100], why[200];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	name[0] = '\x1b';
	name[1] = '\x80';
	mark_series_add(&s, HEAP_MARK_FORK, 100, -5, name);
	mark_series_add(&s, HEAP_MARK_FORK, 90, 8, "");
	assert_int_equal(strlen(s.all.v[0].name), HEAP_MARK_NAME_BYTES - 1);
	assert_memory_equal(s.all.v[0].name, "??aa", 4);
	assert_int_equal(s.all.v[0].pid, 0);
	assert_int_equal(s.all.v[1].time_ns, 100);
	assert_int_equal(mark_series_give(&s, 99, h), 0);
	assert_int_equal(h->nr_marks, 2);
	assert_int_equal(h->marks[1].time_ns, 99);
	assert_int_equal(h->marks[1].last_ns, 99);
	assert_int_equal(h->marks[1].pid, 8);
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	mark_series_fini(&s);
	assert_int_equal(mark_series_give(&s, 99, h), 0);
	assert_int_equal(h->nr_marks, 0);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_of_a_kind_become_one),
		cmocka_unit_test(all_are_counted),
		cmocka_unit_test(what_is_from_outside_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
