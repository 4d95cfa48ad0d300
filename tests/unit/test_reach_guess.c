/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability: pointers into the middle of a block that a heuristic takes for good, each by itself
 * and switched off.
 */
#include "tests/unit/reach_fixture.h"

#define BLOCK	(FIXTURE_BASE + 0x10000)
#define VTABLE	(FIXTURE_BASE + 0x8000)
#define CODE	0x400000ull

static int setup(void **state)
{
	struct fixture *s;

	fixture_begin(state, 1 << 20);
	s = *state;
	vec_push(&s->memory.code, (struct memory_span){ 0x1000, 0x2000 });
	vec_push(&s->memory.code, (struct memory_span){ CODE, CODE + 0x1000 });
	return 0;
}

/* One block of `size` bytes, pointed to at `offset`; with which heuristics alone is it reached? */
static unsigned accepted(struct fixture *s, uint64_t size, uint64_t offset)
{
	unsigned by = 0;

	s->blocks.nr = s->memory.words.nr = 0;
	fixture_block(s, BLOCK, size);
	fixture_word(s, BLOCK + offset);
	for (unsigned one = 1; one < REACH_ALL_HEURISTICS; one <<= 1) {
		s->options.heuristics = one;
		fixture_run(s);
		if (s->reach.class[0] == REACH_REACHED)
			by |= one;
		else
			assert_int_equal(s->reach.class[0], REACH_POSSIBLE);
	}
	s->options.heuristics = REACH_ALL_HEURISTICS;
	fixture_run(s);
	assert_int_equal(s->reach.class[0], by ? REACH_REACHED : REACH_POSSIBLE);
	s->options.heuristics = 0;
	fixture_run(s);
	assert_int_equal(s->reach.class[0], REACH_POSSIBLE);
	return by;
}

static void string(void **state)
{
	struct fixture *s = *state;

	fixture_put(s, BLOCK, 5);
	fixture_put(s, BLOCK + 8, 39);	/* capacity: 24 + 39 + 1 = 64 */
	assert_int_equal(accepted(s, 64, 24), REACH_STDSTRING);
	assert_int_equal(accepted(s, 65, 24), 0);
	assert_int_equal(accepted(s, 64, 16), 0);
	fixture_put(s, BLOCK, 40);	/* longer than it can be */
	assert_int_equal(accepted(s, 64, 24), 0);
	fixture_put(s, BLOCK, 39);
	assert_int_equal(accepted(s, 64, 24), REACH_STDSTRING);
}

static void length(void **state)
{
	struct fixture *s = *state;

	fixture_put(s, BLOCK, 56);
	assert_int_equal(accepted(s, 64, 8), REACH_LENGTH64 | REACH_NEWARRAY);
	assert_int_equal(accepted(s, 64, 16), 0);
	assert_int_equal(accepted(s, 72, 8), 0);
}

static void array(void **state)
{
	struct fixture *s = *state;

	fixture_put(s, BLOCK, 7);
	assert_int_equal(accepted(s, 64, 8), REACH_NEWARRAY);	/* 7 of 8 bytes */
	assert_int_equal(accepted(s, 65, 8), 0);
	assert_int_equal(accepted(s, 64, 9), 0);
	fixture_put(s, BLOCK, 0);
	assert_int_equal(accepted(s, 64, 8), 0);
	fixture_put(s, BLOCK, 1);
	assert_int_equal(accepted(s, 10, 8), REACH_NEWARRAY);
}

static void inheritance(void **state)
{
	struct fixture *s = *state;

	fixture_put(s, BLOCK, VTABLE);
	fixture_put(s, BLOCK + 16, VTABLE + 0x40);
	fixture_put(s, VTABLE, CODE);
	fixture_put(s, VTABLE + 8, CODE + 0xfff);
	fixture_put(s, VTABLE + 0x40 + 8, CODE + 16);	/* null entries before */
	fixture_put(s, VTABLE + 0x40 + 160, CODE + 32);
	assert_int_equal(accepted(s, 64, 16), REACH_MULTIPLE_INHERITANCE);
	assert_int_equal(accepted(s, 64, 24), 0);
	assert_int_equal(accepted(s, 64, 20), 0);
	assert_int_equal(accepted(s, 20, 16), 0);		/* no whole word is left there */
	fixture_put(s, VTABLE + 8, CODE + 0x1000);		/* behind the code */
	assert_int_equal(accepted(s, 64, 16), 0);
	fixture_put(s, VTABLE + 8, 0x1fff);
	assert_int_equal(accepted(s, 64, 16), REACH_MULTIPLE_INHERITANCE);
	fixture_put(s, VTABLE + 0x40 + 16, 1);			/* neither null nor code */
	assert_int_equal(accepted(s, 64, 16), 0);
	fixture_put(s, VTABLE + 0x40 + 16, 0);
	/* a single function within 21 words */
	fixture_put(s, VTABLE + 0x40 + 160, 0);
	fixture_put(s, VTABLE + 0x40 + 168, CODE + 32);
	assert_int_equal(accepted(s, 64, 16), 0);
}

/* What looks like a vtable is none on a stack, in a block, or where nothing can be read. */
static void no_vtable(void **state)
{
	struct fixture *s = *state;
	struct memory_range stack = { .start = VTABLE,
				      .end = VTABLE + 0x1000,
				      .kind = MEMORY_STACK };

	for (unsigned i = 0; i < 4; i++)
		fixture_put(s, BLOCK + 8 * i, VTABLE);
	fixture_put(s, VTABLE, CODE);
	fixture_put(s, VTABLE + 8, CODE);
	assert_int_equal(accepted(s, 64, 16), REACH_MULTIPLE_INHERITANCE);
	vec_push(&s->memory.roots, stack);
	assert_int_equal(accepted(s, 64, 16), 0);
	s->memory.roots.nr = 0;
	vec_push(&s->holes, VTABLE);
	assert_int_equal(accepted(s, 64, 16), 0);
	s->holes.nr = 0;
	s->blocks.nr = s->memory.words.nr = 0;
	fixture_block(s, VTABLE, 64);
	fixture_block(s, BLOCK, 64);
	fixture_word(s, BLOCK + 16);
	fixture_expect(s, "PP");
}

/*
 * A list linked through the middle of its members: each is reached only because the one before is.
 */
static void chain_of_guesses(void **state)
{
	enum { LINKS = 5000 };
	struct fixture *s = *state;

	for (unsigned i = 0; i < LINKS; i++) {
		fixture_block(s, BLOCK + 64 * i, 64);
		fixture_put(s, BLOCK + 64 * i, 7);
		if (i)
			fixture_put(s, BLOCK + 64 * i + 40, BLOCK + 64 * (i - 1) + 8);
	}
	fixture_word(s, BLOCK + 64 * (LINKS - 1));
	s->options.heuristics = REACH_MEMCHECKS;
	for (s->options.nr_threads = 1; s->options.nr_threads <= 2; s->options.nr_threads++) {
		fixture_run(s);
		for (unsigned i = 0; i < LINKS; i++)
			assert_int_equal(s->reach.class[i], REACH_REACHED);
	}
	fixture_put(s, BLOCK + 64 * 100, 0);
	fixture_run(s);
	for (unsigned i = 0; i < LINKS; i++)
		assert_int_equal(s->reach.class[i], i <= 100 ? REACH_POSSIBLE : REACH_REACHED);
}

static unsigned nr_reads;

static size_t read_counted(void *arg, uint64_t address, void *to, size_t bytes)
{
	nr_reads++;
	return fixture_read(arg, address, to, bytes);
}

/* A pool's block, linked to others, with an object at every 32 bytes: its start is read once. */
static void pool_is_read_once(void **state)
{
	static const struct memory_ops counting = { read_counted, fixture_untouched };
	struct fixture *s = *state;

	s->memory.ops = &counting;
	fixture_block(s, BLOCK, 0x8000);
	fixture_block(s, BLOCK + 0x8000, 0x8000);
	fixture_put(s, BLOCK, BLOCK + 0x8001);
	for (uint64_t offset = 32; offset < 0x8000; offset += 32)
		fixture_word(s, BLOCK + offset);
	s->options.heuristics = REACH_MEMCHECKS;
	nr_reads = 0;
	fixture_run(s);
	assert_int_equal(s->reach.class[0], REACH_POSSIBLE);
	assert_in_range(nr_reads, 1, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(string, setup, fixture_end),
		cmocka_unit_test_setup_teardown(length, setup, fixture_end),
		cmocka_unit_test_setup_teardown(array, setup, fixture_end),
		cmocka_unit_test_setup_teardown(inheritance, setup, fixture_end),
		cmocka_unit_test_setup_teardown(no_vtable, setup, fixture_end),
		cmocka_unit_test_setup_teardown(chain_of_guesses, setup, fixture_end),
		cmocka_unit_test_setup_teardown(pool_is_read_once, setup, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
