/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/known.c, known.h: which stacks are known, and in which way of their set. */
#include "tests/unit/known_stacks.h"

#include <sys/mman.h>

static void test_the_second_time(void **state)
{
	(void)state;
	assert_int_equal(site(), 0);
	hang_on(3);
	note(7);
	assert_int_equal(site(), 0);
	note(7);
	assert_int_equal(site(), 7);
	assert_int_equal(known->nr_groups, 1);
	known_forget(known);
	assert_int_equal(site(), 0);
	note(7);
	assert_int_equal(site(), 0);
	note(7);
	assert_int_equal(site(), 7);
	assert_int_equal(known->nr_groups, 1);
}

/* Whatever number of words a stack hangs on, each of them decides, and no other. */
static void test_each_word(void **state)
{
	(void)state;
	for (unsigned nr = 1; nr <= 3 * KNOWN_WORDS; nr++) {
		known_clear(known);
		learn(nr, nr);
		assert_int_equal(known->nr_groups, (nr + KNOWN_WORDS - 1) / KNOWN_WORDS);
		for (unsigned i = 0; i < nr + 2; i++) {
			words[i] ^= 1ull << 63;
			assert_int_equal(site(), i < nr ? 0 : nr);
			words[i] ^= 1ull << 63;
			assert_int_equal(site(), nr);
		}
	}
}

/* A word further out is not read where one further in differs: it may be there no more. */
static void test_innermost_first(void **state)
{
	char *pages = mmap(NULL, 2 * ARCH_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned nr = 2 * KNOWN_WORDS;

	(void)state;
	assert_true(pages != MAP_FAILED);
	for (unsigned inner = 1; inner < nr; inner++) {
		uint64_t *at = (uint64_t *)(pages + ARCH_PAGE) - inner;

		known_clear(known);
		for (unsigned i = 0; i < nr; i++)
			checks[nr - 1 - i] = (struct check){ (uint64_t)&at[i], at[i] = i };
		memo.nr_checks = (uint16_t)nr;
		known_memo_changed(known, 0);
		note(3);
		note(3);
		assert_int_equal(site(), 3);
		assert_int_equal(mprotect(pages + ARCH_PAGE, ARCH_PAGE, PROT_NONE), 0);
		at[inner - 1]++;
		assert_int_equal(site(), 0);
		assert_int_equal(mprotect(pages, 2 * ARCH_PAGE, PROT_READ | PROT_WRITE), 0);
	}
	munmap(pages, 2 * ARCH_PAGE);
}

static void test_the_key(void **state)
{
	struct caller was = from;

	(void)state;
	learn(7, 4);
	from.fp++;
	assert_int_equal(site(), 7);		/* nobody needs it */
	for (unsigned i = 0; i < KNOWN_WAYS; i++) {
		struct known_stack *k = known->stack[known_set(&from)];

		if (k[i].site != 7)
			continue;
		k[i].ra++;
		assert_int_equal(site(), 0);
		k[i].ra--;
		k[i].sp += 8;
		assert_int_equal(site(), 0);
		k[i].sp -= 8;
	}
	assert_int_equal(site(), 7);
	from = was;
	memo.needs_fp = true;
	learn(8, 3);
	words[3]++;				/* so that it is not the other one */
	assert_int_equal(site(), 8);
	from.fp++;
	assert_int_equal(site(), 0);
	from = was;
	assert_int_equal(site(), 8);
}

/* One site at two stack pointers, and called from two places, in the same set: both are known. */
static void test_the_key_of_a_site(void **state)
{
	struct caller was = from;
	uint32_t set = known_set(&from);

	(void)state;
	learn(7, 4);
	do
		from.sp += 8;
	while (known_set(&from) != set);
	learn(7, 4);
	assert_int_equal(site(), 7);
	from.sp = was.sp;
	assert_int_equal(site(), 7);
	do
		from.ra++;
	while (known_set(&from) != set);
	learn(7, 4);
	assert_int_equal(site(), 7);
	from = was;
	assert_int_equal(site(), 7);
}

/* However often, also when the eras begin anew; what is forgotten is replaced first. */
static void test_forgotten(void **state)
{
	struct known_stack *set = known->stack[known_set(&from)];

	(void)state;
	known_clear(known);
	known->era = 0;
	for (uint64_t era = 0; era < 3; era++) {
		assert_int_equal(known->era, era << 48);
		learn(7, 3);
		assert_int_equal(site(), 7);
		known_forget(known);
		assert_int_equal(site(), 0);
		known_forget(known);		/* there is nothing: the era stays */
	}
	/* what is of the first era is not believed when the last one is over */
	known_clear(known);
	known->era = 0;
	learn(7, 3);
	known->era = (uint64_t)UINT16_MAX << 48;
	known_forget(known);
	assert_int_equal(known->era, 0);
	assert_int_equal(site(), 0);
	known_clear(known);
	learn(1, 3);
	assert_int_equal(site(), 1);			/* found, and forgotten: */
	known_forget(known);
	known->turn[known_set(&from)] = (uint8_t)(way_of(1) - set);
	learn(2, 3);
	assert_null(way_of(1));
	assert_int_equal(site(), 2);
}

static void learn_ways(void)
{
	for (unsigned n = 1; n <= KNOWN_WAYS; n++) {
		be(n);
		learn(n, 10);
	}
}

/* As many of one caller as a set has ways are known at once; the one found last is tried first. */
static void test_four_ways(void **state)
{
	struct known_stack *set = known->stack[known_set(&from)];

	(void)state;
	learn_ways();
	for (unsigned turn = 0; turn < 16; turn++) {
		unsigned n = 1 + turn * 7 % 16 / 4;

		be(n);
		assert_int_equal(site(), n);
		assert_int_equal(known->last[known_set(&from)], way_of(n) - set);
		be(9);
		assert_int_equal(site(), 0);
		assert_int_equal(known->last[known_set(&from)], way_of(n) - set);
	}
	/* two that both hold (here because one's words were put into the other): the last one */
	be(3);
	assert_int_equal(site(), 3);
	assert_int_equal(known_other(known, from.ra, from.sp, from.fp, known_set(&from)), 0);
	way_of(1)->group = way_of(3)->group;
	assert_int_equal(site(), 3);
	known->last[known_set(&from)] = (uint8_t)(way_of(1) - set);
	assert_int_equal(site(), 1);
}

/* A stack that was not found goes first; of those that were, the one whose turn it is. */
static void test_replacement(void **state)
{
	(void)state;
	for (unsigned idle = 1; idle <= KNOWN_WAYS; idle++) {
		known_clear(known);
		memset(known->turn, 0, sizeof(known->turn));
		learn_ways();
		for (unsigned n = 1; n <= KNOWN_WAYS; n++) {
			be(n);
			if (n != idle)
				assert_int_equal(site(), n);
		}
		be(5);
		learn(5, 10);
		assert_int_equal(site(), 5);
		for (unsigned n = 1; n <= KNOWN_WAYS; n++) {
			be(n);
			assert_int_equal(site(), n == idle ? 0 : n);
		}
	}
	known_clear(known);
	memset(known->turn, 0, sizeof(known->turn));
	learn_ways();
	for (unsigned n = 1; n <= KNOWN_WAYS; n++) {
		be(n);
		assert_int_equal(site(), n);
	}
	note(5);
	assert_non_null(way_of(1));
	note(5);				/* once around, and all have to be found anew */
	assert_null(way_of(1));
	learn(6, 10);
	assert_null(way_of(2));
	be(3);
	assert_int_equal(site(), 3);
	be(7);
	learn(7, 10);
	assert_null(way_of(4));
	assert_true(way_of(3) && way_of(5) && way_of(6) && way_of(7));
}

/* The same site with other words each time: noted the 2nd, 3rd, 5th, 9th ... 129th, 257th time. */
static void test_in_vain(void **state)
{
	unsigned noted = 0;

	(void)state;
	for (unsigned time = 1; time <= 130 + 2 * 128; time++) {
		unsigned vain = time - 1;

		words[2] = time;
		hang_on(4);
		note(7);
		if (vain && (vain < 256 ? !(vain & (vain - 1)) : !(vain % 128)))
			noted = time;
		/* a look at the words only, which does not count as found */
		words[2] = noted;
		assert_int_equal(way_of(7) && known_holds(known, way_of(7)->group), !!noted);
	}
	words[2] = noted;
	assert_int_equal(site(), 7);		/* found: the next one counts from the start */
	for (unsigned time = 0; time < 3; time++) {
		words[2] = 2000 + time;
		hang_on(4);
		note(7);
		assert_true(known_holds(known, way_of(7)->group));
	}
	words[2] = 2003;
	hang_on(4);
	note(7);
	assert_false(known_holds(known, way_of(7)->group));
}

/* What cannot be kept is not: no words, too many, too far from each other, between words. */
static void test_limits(void **state)
{
	static uint64_t far[UINT16_MAX + 2];

	(void)state;
	learn(1, 0);
	assert_int_equal(site(), 0);
	learn(2, MOST);
	assert_int_equal(site(), 2);
	assert_int_equal(known->nr_groups, KNOWN_CHAIN);
	words[0] = 1;
	learn(3, MOST + 1);
	assert_int_equal(site(), 0);
	memo.nr_checks = 2;
	for (unsigned way = 0; way < 4; way++) {
		from.ra = RA + 16 * way;
		checks[way & 1] = (struct check){ (uint64_t)&far[UINT16_MAX + way / 2], 0 };
		checks[!(way & 1)] = (struct check){ (uint64_t)far, 0 };
		note(4 + way);
		note(4 + way);
		assert_int_equal(site(), way < 2 ? 4 + way : 0);
	}
	known_clear(known);
	checks[0] = (struct check){ (uint64_t)&far[1] + 4, 0 };
	note(9);
	note(9);
	assert_int_equal(site(), 0);
}

/* So many walks, with so many allocations for 128 of them. */
static void walk(unsigned nr, unsigned allocs)
{
	while (nr--) {
		ctx->pub.class[0].calls[PMM_KIND_MALLOC] +=
			allocs / 128 + (nr % 128 < allocs % 128);
		known_weigh(ctx);
	}
}

static void expect(bool at_work)
{
	assert_ptr_equal(ctx->known, at_work ? known : NULL);
	assert_ptr_equal(ctx->known_resting, at_work ? NULL : known);
}

/*
 * With and without known stacks in turn, then for long the way that took fewer walks: without if
 * there were not half as many allocations again to a walk.
 */
static void test_it_rests_where_it_does_not_pay(void **state)
{
	(void)state;
	ctx->pub.class[0].calls[PMM_KIND_MALLOC] = 1000;
	known_weigh(ctx);				/* from here on */
	expect(true);
	walk(KNOWN_WALKS, 191);
	expect(false);
	walk(KNOWN_WALKS, 128);
	expect(false);
	walk(KNOWN_LONG - 1, 128);
	expect(false);
	walk(1, 128);
	expect(true);
	for (unsigned turn = 0; turn < 3; turn++) {
		unsigned without = 128 + turn * 64;

		walk(KNOWN_WALKS - 1, without * 3 / 2);
		expect(true);
		walk(1, without * 3 / 2);
		expect(false);
		walk(KNOWN_WALKS - 1, without);
		expect(false);
		walk(1, without);
		expect(true);				/* it pays */
		learn(5 + turn, 3);
		assert_int_equal(site(), 5 + turn);
		walk(KNOWN_LONG, without * 3 / 2);	/* compared with what is measured now */
		expect(false);
		assert_int_equal(pmm_ctx_sums(&ctx->pub).allocs, ctx->weighed_allocs);
		walk(KNOWN_WALKS, without + 2);
		expect(false);
		walk(KNOWN_LONG, without);
		expect(true);
		assert_int_equal(site(), 0);		/* code may have gone meanwhile */
	}
	for (unsigned turn = 0; turn < 3; turn++) {	/* it surely pays */
		walk(KNOWN_WALKS, KNOWN_SURE * 128);
		expect(true);
	}
	walk(KNOWN_WALKS, KNOWN_SURE * 128 - 1);
	expect(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_second_time, begin, end),
		cmocka_unit_test_setup_teardown(test_forgotten, begin, end),
		cmocka_unit_test_setup_teardown(test_each_word, begin, end),
		cmocka_unit_test_setup_teardown(test_innermost_first, begin, end),
		cmocka_unit_test_setup_teardown(test_the_key, begin, end),
		cmocka_unit_test_setup_teardown(test_the_key_of_a_site, begin, end),
		cmocka_unit_test_setup_teardown(test_four_ways, begin, end),
		cmocka_unit_test_setup_teardown(test_replacement, begin, end),
		cmocka_unit_test_setup_teardown(test_in_vain, begin, end),
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_it_rests_where_it_does_not_pay, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
