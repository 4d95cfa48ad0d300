/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/known.c, known.h: which groups of words the stacks share that are known. */
#include "tests/unit/known_stacks.h"

/* Stacks share the groups from the outermost one on that are the same in all. */
static void test_shared_groups(void **state)
{
	unsigned nr = 2 * KNOWN_WORDS;

	(void)state;
	learn(1, nr);
	assert_int_equal(known->nr_groups, 2);
	words[0]++;
	learn(2, nr);				/* another inner one */
	assert_int_equal(known->nr_groups, 3);
	from.ra++;
	learn(3, nr);				/* the same stack, called from elsewhere */
	assert_int_equal(known->nr_groups, 3);
	assert_int_equal(site(), 3);
	words[nr - 1]++;
	learn(4, nr);				/* another outer one: so the inner one is, too */
	assert_int_equal(known->nr_groups, 5);
	assert_int_equal(site(), 4);
	words[nr - 1]--;
	assert_int_equal(site(), 3);
	hang_on(nr);
	for (unsigned i = 0; i < KNOWN_WORDS; i++)
		checks[i].address += 8;		/* the same values at other places */
	for (unsigned i = nr - 1; i >= KNOWN_WORDS; i--)
		words[i + 1] = checks[nr - 1 - i].value;
	note(5);
	note(5);
	assert_int_equal(known->nr_groups, 7);
	assert_int_equal(site(), 5);
	/* ... at one other place, with the same base */
	for (unsigned i = 0; i < 20; i++)
		words[i] = 77;
	known_clear(known);
	hang_on(5);
	note(1);
	note(1);
	checks[1].address = checks[0].address;
	known_memo_changed(known, 0);
	note(2);
	note(2);
	assert_int_equal(known->nr_groups, 2);
}

/* Hundreds of groups, several in a bucket: each is met again. */
static void test_many_groups(void **state)
{
	unsigned n, nr = 2 * KNOWN_WORDS;

	(void)state;
	for (n = 1; n < KNOWN_GROUPS - 3; n++) {
		from.ra = RA + n % KNOWN_SETS * 16;
		words[1] = n;
		learn(n, nr);
		assert_int_equal(known->nr_groups, 1 + n);
		assert_int_equal(site(), n);
	}
	/* whatever of these is noted anew shares what is there */
	from.ra = 0x770001;
	for (unsigned k = 1; k < n; k++) {
		words[1] = k;
		learn(k, nr);
		assert_int_equal(known->nr_groups, n);
	}
}

/* Groups that differ only in where they are, and only in what is outside them. */
static void test_groups_of_the_same_values(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 77;
	for (unsigned n = 1; n <= 300; n++) {
		from.ra = RA + n;
		hang_on(KNOWN_WORDS);
		for (unsigned i = 0; i < KNOWN_WORDS; i++)
			checks[i].address += 8 * n;
		note(n);
		note(n);
		assert_int_equal(known->nr_groups, n);
	}
	known_clear(known);
	for (unsigned n = 1; n <= 300; n++) {
		from.ra = RA + n;
		words[2 * KNOWN_WORDS - 1] = n;
		learn(n, 2 * KNOWN_WORDS);
		assert_int_equal(known->nr_groups, 2 * n);
	}
}

/* Which group the checks [5 * k, 5 * k + 5) of the memo are in. */
static uint32_t group_of(unsigned k)
{
	uint32_t group = way_of(9)->group;

	for (unsigned inner = (memo.nr_checks - 1) / KNOWN_WORDS; inner > k; inner--)
		group = known->group[group].outer;
	return group;
}

/* As if for the first time, but for the groups. */
static void note_again(void)
{
	memset(known->stack, 0, sizeof(known->stack));
	note(9);
	note(9);
}

/* Groups of checks that are as they were are not made again; those behind the first new one are. */
static void test_what_has_not_changed(void **state)
{
	const unsigned nr = 3 * KNOWN_WORDS + 2;

	(void)state;
	for (unsigned first = 0; first <= nr; first++) {
		unsigned kept = first / KNOWN_WORDS < 3 ? first / KNOWN_WORDS : 3;
		uint32_t was[4];

		known_clear(known);
		learn(9, nr);
		for (unsigned k = 0; k < 4; k++)
			was[k] = group_of(k);
		/* said to have changed from there on; they all have, so that it shows */
		for (unsigned i = 0; i < nr; i++)
			checks[i].value++;
		known_memo_changed(known, first);
		note_again();
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(group_of(k) == was[k], k < kept);
		assert_int_equal(known->nr_groups, 4 + 4 - kept);
		note_again();			/* nothing has: only what is no whole group */
		assert_int_equal(known->nr_groups, 4 + 4 - kept);
		known_memo_changed(known, first);
		known_clear(known);
		note_again();
		assert_int_equal(known->nr_groups, 4);
	}
	/* there is no room: all are made again */
	known->nr_groups = KNOWN_GROUPS - 2;
	for (unsigned i = 0; i < nr; i++)
		checks[i].value++;
	known_memo_changed(known, 2 * KNOWN_WORDS);
	note_again();
	assert_int_equal(known->nr_groups, 4);
	assert_true(group_of(0) < group_of(1) && group_of(2) < group_of(3));
}

/* When there are too many groups all go, but each stack is known again after one more time. */
static void test_no_more_groups(void **state)
{
	unsigned last = KNOWN_GROUPS - 2, nr = 2 * KNOWN_WORDS;

	(void)state;
	for (unsigned n = 1; n <= last; n++) {
		words[1] = n;
		learn(n, nr);
		assert_int_equal(known->nr_groups, n < last ? 1 + n : 2);
		assert_int_equal(site(), n);
	}
	words[1] = last - 1;
	assert_int_equal(site(), 0);
	hang_on(nr);
	note(last - 1);
	assert_int_equal(site(), last - 1);
	assert_int_equal(known->nr_groups, 3);
	for (unsigned i = 0; i < KNOWN_BUCKETS; i++)
		assert_in_range(known->bucket[i], 0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shared_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_many_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_groups_of_the_same_values, begin, end),
		cmocka_unit_test_setup_teardown(test_what_has_not_changed, begin, end),
		cmocka_unit_test_setup_teardown(test_no_more_groups, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
