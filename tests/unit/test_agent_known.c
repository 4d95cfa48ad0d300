/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/known.c, known.h: which stacks are known, in which way of their set, and which groups of
 * words they share. The stack is an array, its checks are made up.
 */
#include "tests/unit/agent_host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/known.h"
#include "tests/unit/unit.h"

#define WORDS		512
#define RA		0x401001
#define MOST		(KNOWN_CHAIN * KNOWN_WORDS)

static uint64_t words[WORDS];
static struct check checks[MOST + 1];
static struct frame memo;
static struct tctx *ctx;
static struct known *known;
static struct caller from;

static int begin(void **state)
{
	(void)state;
	ctx = calloc(1, sizeof(*ctx) + 64);
	known = aligned_alloc(64, (sizeof(*known) + 63) / 64 * 64);
	assert_true(ctx && known);
	memset(known, 0, sizeof(*known));
	ctx->known = known;
	ctx->checks = checks;
	ctx->memo = &memo;
	ctx->memo_nr = 1;
	memo = (struct frame){ 0 };
	from = (struct caller){ RA, (uint64_t)words, 0x5555 };
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 1000 + i;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(known);
	free(ctx);
	return 0;
}

/* The stack hangs on the first nr words as they are: words[0] is the innermost. */
static void hang_on(unsigned nr)
{
	known_memo_changed(known, 0);
	for (unsigned i = 0; i < nr; i++)
		checks[nr - 1 - i] = (struct check){ (uint64_t)&words[i], words[i] };
	memo.nr_checks = (uint16_t)nr;
}

static void note(uint32_t site)
{
	ctx->last_site = site;
	known_note(ctx, &from);
}

/* Known from here on, if there is room. */
static void learn(uint32_t site, unsigned nr)
{
	hang_on(nr);
	note(site);
	note(site);
}

static uint32_t site(void)
{
	return known_site(known, &from);
}

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

/* Stack `n` of one caller: a word far out says which. */
static void be(unsigned n)
{
	words[8] = 5000 + n;
}

static struct known_stack *way_of(uint32_t number)
{
	struct known_stack *set = known->stack[known_set(&from)];

	for (unsigned i = 0; i < KNOWN_WAYS; i++)
		if (set[i].site == number)
			return &set[i];
	return NULL;
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
		cmocka_unit_test_setup_teardown(test_shared_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_many_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_groups_of_the_same_values, begin, end),
		cmocka_unit_test_setup_teardown(test_what_has_not_changed, begin, end),
		cmocka_unit_test_setup_teardown(test_no_more_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_it_rests_where_it_does_not_pay, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
