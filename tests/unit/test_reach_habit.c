/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Habits: blocks to which only pointers behind a header lead, and pools whose parts are pointed to,
 * are reached with all that hangs on them; a stray pointer into a block is neither.
 */
#include "src/analyze/reach/reach_habit.h"
#include "tests/unit/reach_fixture.h"

#define BLOCK	(FIXTURE_BASE + 0x10000)

static int setup(void **state)
{
	return fixture_begin(state, 1 << 20);
}

/* A block of a site, pointed to by a word at an offset. */
static void pointed(struct fixture *s, uint64_t size, uint32_t site, uint32_t offset)
{
	uint64_t address = BLOCK + 1024 * s->blocks.nr;

	fixture_block(s, address, size);
	s->blocks.v[s->blocks.nr - 1].site = site;
	fixture_word(s, address + offset);
}

static unsigned count(const struct fixture *s, unsigned class)
{
	unsigned nr = 0;

	for (uint64_t i = 0; i < s->reach.nr; i++)
		nr += s->reach.class[i] == class;
	return nr;
}

/* `nr` blocks of each of `sites` sites, at one offset: so many are reached. */
static unsigned reached(struct fixture *s, unsigned sites, unsigned nr, uint32_t offset)
{
	s->blocks.nr = s->memory.words.nr = 0;
	for (unsigned i = 0; i < sites * nr; i++)
		pointed(s, 300, 1 + i / nr, offset);
	fixture_run(s);
	assert_int_equal(count(s, REACH_REACHED) + count(s, REACH_POSSIBLE), sites * nr);
	assert_int_equal(s->reach.habits.nr, count(s, REACH_REACHED));
	for (size_t i = 0; i < s->reach.habits.nr; i++)
		assert_int_equal(s->reach.habits.v[i].header_bytes, offset);
	return count(s, REACH_REACHED);
}

static void a_header_is_one_of_many_blocks_or_sites(void **state)
{
	struct fixture *s = *state;

	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, 16), HABIT_SITE_BLOCKS);
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS - 1, 16), 0);
	assert_int_equal(reached(s, HABIT_SITES, 1, 16), HABIT_SITES);
	assert_int_equal(reached(s, HABIT_SITES - 1, 1, 16), 0);
	assert_int_equal(reached(s, HABIT_SITES - 1, 2, 16), 0);
	/* strings with a length */
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, 3), HABIT_SITE_BLOCKS);
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, HABIT_MAX_HEADER), HABIT_SITE_BLOCKS);
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, HABIT_MAX_HEADER + 1), 0);
	s->options.heuristics = REACH_MEMCHECKS | REACH_POOL;
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, 16), 0);
	s->options.heuristics = REACH_HEADER;
	assert_int_equal(reached(s, 1, HABIT_SITE_BLOCKS, 16), HABIT_SITE_BLOCKS);
}

/*
 * Offsets that differ are no header, and a second pointer elsewhere takes a block out of the count.
 */
static void pointers_anywhere_are_no_header(void **state)
{
	struct fixture *s = *state;

	for (unsigned i = 0; i < 20; i++)
		pointed(s, 300, 1, 8 + 8 * i);
	fixture_run(s);
	assert_int_equal(count(s, REACH_POSSIBLE), 20);
	s->blocks.nr = s->memory.words.nr = 0;
	for (unsigned i = 0; i < HABIT_SITE_BLOCKS; i++)
		pointed(s, 300, 1, 16);
	fixture_word(s, BLOCK + 24);
	fixture_run(s);
	assert_int_equal(count(s, REACH_POSSIBLE), HABIT_SITE_BLOCKS);
}

/* Of a large block so many parts are in use. */
static void a_pool_is_pointed_to_in_several_places(void **state)
{
	struct fixture *s = *state;
	static const uint32_t offsets[] = { 8, 16, 24, 40 };

	for (unsigned places = 1; places <= HABIT_POOL_PLACES; places++) {
		for (unsigned small = 0; small < 2; small++) {
			s->blocks.nr = s->memory.words.nr = 0;
			fixture_block(s, BLOCK, HABIT_POOL_BYTES - small);
			/* one place may be pointed to often */
			for (unsigned i = 0; i < 4; i++)
				fixture_word(s, BLOCK + offsets[i % places]);
			fixture_run(s);
			assert_int_equal(s->reach.class[0], places == HABIT_POOL_PLACES && !small
								    ? REACH_REACHED
								    : REACH_POSSIBLE);
		}
	}
	s->options.heuristics = REACH_MEMCHECKS | REACH_HEADER;
	s->blocks.v[0].size_bytes = HABIT_POOL_BYTES;
	fixture_run(s);
	assert_int_equal(s->reach.class[0], REACH_POSSIBLE);
}

/*
 * Each block holds the start of another, that of a third, and a pointer behind the header of the
 * next one. One is lost.
 */
static void what_hangs_on_them_is_reached(void **state)
{
	enum { LINKS = 40, EACH = 4096 };
	struct fixture *s = *state;

	for (unsigned i = 0; i < LINKS; i++) {
		uint64_t at = BLOCK + EACH * i;

		fixture_block(s, at, 64);
		fixture_block(s, at + 128, 64);
		fixture_block(s, at + 256, 64);
		s->blocks.v[s->blocks.nr - 3].site = 1;
		fixture_put(s, at + 24, at + 128);
		fixture_put(s, at + 128, at + 256);
		if (i)
			fixture_put(s, BLOCK + EACH * (i - 1) + 40, at + 16);
	}
	fixture_block(s, BLOCK + EACH * LINKS, 64);
	fixture_word(s, BLOCK + 16);
	for (s->options.nr_threads = 1; s->options.nr_threads <= 2; s->options.nr_threads++) {
		fixture_run(s);
		for (unsigned i = 0; i < 3 * LINKS; i++)
			assert_int_equal(s->reach.class[i], REACH_REACHED);
		assert_int_equal(s->reach.class[3 * LINKS], REACH_DEFINITE);
		assert_int_equal(s->reach.habits.nr, LINKS);
	}
	s->options.heuristics = 0;
	fixture_run(s);
	assert_int_equal(count(s, REACH_POSSIBLE), 3 * LINKS);
	assert_int_equal(s->reach.habits.nr, 0);
}

/* What a pointer to a start leads to is reached by that, and no habit. */
static void starts_need_no_habit(void **state)
{
	struct fixture *s = *state;

	for (unsigned i = 0; i < 2 * HABIT_SITE_BLOCKS; i++) {
		pointed(s, 300, 1, 16);
		if (i % 2)
			fixture_word(s, s->blocks.v[i].address);
	}
	fixture_run(s);
	assert_int_equal(count(s, REACH_REACHED), 2 * HABIT_SITE_BLOCKS);
	assert_int_equal(s->reach.habits.nr, HABIT_SITE_BLOCKS);
}

/*
 * Ten strays into blocks of 32 to 256 bytes, each of a site of its own, at any aligned offset: how
 * many blocks of 2000 seem held by a habit.
 */
static void strays_are_seldom_a_habit(void **state)
{
	struct fixture *s = *state;
	uint64_t seed = 1;
	unsigned held = 0;

	for (unsigned round = 0; round < 200; round++) {
		s->blocks.nr = s->memory.words.nr = 0;
		for (unsigned i = 0; i < 10; i++) {
			uint32_t size, offset;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			size = 32 + 8 * (uint32_t)(seed >> 40) % 232;
			offset = 8 + 8 * ((uint32_t)(seed >> 33) % (size / 8 - 1));
			pointed(s, size, i + 1, offset);
		}
		fixture_run(s);
		held += count(s, REACH_REACHED);
	}
	assert_in_range(held, 0, 40);		/* 2 % */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_header_is_one_of_many_blocks_or_sites, setup,
						fixture_end),
		cmocka_unit_test_setup_teardown(pointers_anywhere_are_no_header, setup,
						fixture_end),
		cmocka_unit_test_setup_teardown(a_pool_is_pointed_to_in_several_places, setup,
						fixture_end),
		cmocka_unit_test_setup_teardown(what_hangs_on_them_is_reached, setup, fixture_end),
		cmocka_unit_test_setup_teardown(starts_need_no_habit, setup, fixture_end),
		cmocka_unit_test_setup_teardown(strays_are_seldom_a_habit, setup, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
