/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/withheld.c: pages of this very process are kept as they were, found again by address,
 * and given back.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/ptrace/withheld.h"

#define PAGE	4096ul
#define PAGES	64u

static uint8_t *at;

/* Every third page was never touched. */
static bool touched(size_t page)
{
	return page % 3 != 1;
}

static int begin(void **state)
{
	(void)state;
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return 1;
	madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		if (touched(i))
			memset(at + i * PAGE, (int)i + 1, PAGE);
	return 0;
}

static int end(void **state)
{
	(void)state;
	return munmap(at, PAGES * PAGE);
}

static uint64_t page(size_t i)
{
	return (uint64_t)at + i * PAGE;
}

/* What is there is as it was, whatever the process did since. */
static void compare(const struct withheld *w, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		size_t bytes = 100;
		const uint8_t *p = withheld_find(w, page(i) + 50, &bytes);

		if (!touched(i)) {
			assert_null(p);
			assert_int_equal(bytes, 100);
			continue;
		}
		assert_non_null(p);
		assert_int_equal(bytes, 100);
		for (size_t k = 0; k < bytes; k++)
			assert_int_equal(p[k], i + 1);
	}
}

static void pages_stay_as_they_were(void **state)
{
	const size_t rooms[] = { 0, 3 * PAGE, PAGES * PAGE };
	struct withheld w;
	size_t bytes;

	(void)state;
	for (size_t i = 0; i < NR(rooms); i++) {
		for (size_t k = 0; k < PAGES; k++)
			if (touched(k))
				memset(at + k * PAGE, (int)k + 1, PAGE);
		assert_int_equal(withheld_begin(&w, getpid(), rooms[i]), 0);
		/* 34 pages, 11 of them untouched */
		assert_int_equal(withheld_add(&w, page(30), page(PAGES), 0), 23 * PAGE);
		assert_int_equal(withheld_add(&w, page(0), page(30), PAGES), 20 * PAGE);
		assert_int_equal(w.bytes, 43 * PAGE);
		withheld_order(&w);
		for (size_t k = 0; k < PAGES; k++)
			if (touched(k))
				memset(at + k * PAGE, 200, PAGE);
		compare(&w, 0, PAGES);
		withheld_fini(&w);
		assert_int_equal(w.bytes, 0);
		bytes = 10;
		assert_null(withheld_find(&w, page(0), &bytes));
		assert_int_equal(bytes, 10);
	}
}

static void what_is_in_a_row_is_told(void **state)
{
	struct withheld w;
	const uint8_t *p;
	size_t bytes = 10 * PAGE;

	(void)state;
	assert_int_equal(withheld_begin(&w, getpid(), 0), 0);
	assert_int_equal(withheld_add(&w, page(2), page(7), 0), 4 * PAGE);	/* 2 3, 5 6 */
	withheld_order(&w);
	p = withheld_find(&w, page(2) + 8, &bytes);
	assert_non_null(p);
	assert_int_equal(bytes, 2 * PAGE - 8);
	assert_int_equal(p[PAGE], 4);
	bytes = 10 * PAGE;
	/* missing up to the next piece */
	assert_null(withheld_find(&w, page(4) + 8, &bytes));
	assert_int_equal(bytes, PAGE - 8);
	bytes = 10 * PAGE;
	assert_null(withheld_find(&w, page(0), &bytes));
	assert_int_equal(bytes, 2 * PAGE);
	bytes = PAGE;
	assert_null(withheld_find(&w, page(0), &bytes));
	assert_int_equal(bytes, PAGE);
	bytes = 10 * PAGE;
	assert_null(withheld_find(&w, page(7), &bytes));		/* behind the last one */
	assert_int_equal(bytes, 10 * PAGE);
	bytes = 1;
	assert_ptr_equal(withheld_find(&w, page(6) + PAGE - 1, &bytes)[0], 7);
	assert_int_equal(bytes, 1);
	withheld_fini(&w);
}

/* No more than may be, the first ones. */
static void so_many_are_kept(void **state)
{
	struct withheld w;

	(void)state;
	assert_int_equal(withheld_begin(&w, getpid(), 4 * PAGE), 0);
	assert_int_equal(withheld_add(&w, page(0), page(3), 2), 2 * PAGE);
	assert_int_equal(withheld_add(&w, page(3), page(PAGES), 5), 5 * PAGE);	/* 3, 5 6, 8 9 */
	assert_int_equal(w.bytes, 7 * PAGE);
	withheld_order(&w);
	compare(&w, 0, 10);
	assert_null(withheld_find(&w, page(11), &(size_t){ 1 }));
	withheld_fini(&w);
}

static void who_is_not_there_has_none(void **state)
{
	struct withheld w;

	(void)state;
	assert_true(withheld_begin(&w, 0x7ffffff0, 0) < 0);
	withheld_fini(&w);
	withheld_fini(&w);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(pages_stay_as_they_were),
		TEST(what_is_in_a_row_is_told),
		TEST(so_many_are_kept),
		TEST(who_is_not_there_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
