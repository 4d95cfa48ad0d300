/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability: each class, what is a pointer and what is not, roots of each kind. Random graphs:
 * test_reach_random.c. Also of src/model/memory.c.
 * Also of src/analyze/reach/reach_graph.c.
 */
#include <inttypes.h>

#include "tests/unit/reach_fixture.h"
#include "tests/unit/recipe_heap.h"

#define MIB		(1ull << 20)

static int setup(void **state)
{
	return fixture_begin(state, 4 * MIB);
}

static void empty_heap(void **state)
{
	struct fixture *s = nr(state, 0);

	fixture_word(s, AT(0));
	assert_int_equal(vec_push(&s->memory.owned, AT(0)), 0);
	fixture_expect(s, "");
}

static void each_class(void **state)
{
	struct fixture *s = nr(state, 6);

	fixture_put(s, ROOT + 8, AT(0));
	fixture_put(s, AT(0) + 56, AT(1));
	fixture_put(s, AT(1), AT(2) + 16);	/* possible, */
	fixture_put(s, AT(2), AT(3));		/* and what hangs on it */
	fixture_put(s, AT(4), AT(5));
	fixture_expect(s, "RRPPDI");
	assert_int_equal(s->reach.parent[5], 4);
	assert_int_equal(s->reach.parent[4], UINT32_MAX);
	assert_int_equal(s->reach.parent[1], UINT32_MAX);
	assert_int_equal(s->reach.stats.pointers, 4);
}

static void parents_on_demand(void **state)
{
	struct fixture *s = nr(state, 4);

	s->options.want_parents = true;
	fixture_put(s, ROOT + 8, AT(0));
	fixture_put(s, AT(0), AT(1));
	fixture_put(s, AT(1), AT(2) + 4);
	fixture_put(s, AT(2), AT(3));
	fixture_expect(s, "RRPP");
	assert_int_equal(s->reach.parent[0], UINT32_MAX);
	assert_int_equal(s->reach.parent[1], 0);
	assert_int_equal(s->reach.parent[2], 1);
	assert_int_equal(s->reach.parent[3], 2);
}

/* A pointer to the start makes good what one to the middle, found first, left open. */
static void possible_becomes_reached(void **state)
{
	struct fixture *s = nr(state, 3);

	fixture_put(s, ROOT, AT(2) + 16);
	fixture_put(s, ROOT + 8, AT(0));
	fixture_put(s, AT(0), AT(1));
	fixture_put(s, AT(1), AT(2));
	fixture_expect(s, "RRR");
}

static void one_definite_of_a_cycle(void **state)
{
	struct fixture *s = nr(state, 7);

	fixture_put(s, AT(1), AT(2));	/* 1 -> 2 -> 3 -> 1, 3 -> 0 */
	fixture_put(s, AT(2), AT(3));
	fixture_put(s, AT(3), AT(1));
	fixture_put(s, AT(3) + 8, AT(0));
	fixture_put(s, AT(4), AT(4));	/* to itself */
	fixture_put(s, AT(6), AT(5));	/* 6 -> 5 -> 5 */
	fixture_put(s, AT(5), AT(5));
	fixture_expect(s, "IDIIDID");
	assert_int_equal(s->reach.parent[0], 1);
	assert_int_equal(s->reach.parent[3], 1);
	assert_int_equal(s->reach.parent[5], 6);
}

/*
 * Two roots of lost trees share a branch: it counts with the lower. A cycle below them is nobody's
 * root.
 */
static void shared_branch(void **state)
{
	struct fixture *s = nr(state, 6);

	fixture_put(s, AT(4), AT(0));
	fixture_put(s, AT(5), AT(0));
	fixture_put(s, AT(0), AT(1));
	fixture_put(s, AT(1), AT(2));
	fixture_put(s, AT(2), AT(1) + 8);
	fixture_put(s, AT(5) + 8, AT(3));
	fixture_expect(s, "IIIIDD");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s->reach.parent[i], 4);
	assert_int_equal(s->reach.parent[3], 5);
}

static void bounds(void **state)
{
	struct fixture *s = nr(state, 4);

	fixture_put(s, ROOT, AT(0) + 64);		/* behind the end */
	fixture_put(s, ROOT + 8, AT(1) + 63);	/* the last byte */
	fixture_put(s, ROOT + 16, AT(2) - 1);
	fixture_put(s, ROOT + 4096, AT(3));	/* behind the root */
	fixture_expect(s, "DPDD");
}

/* Words count at multiples of 8 only, and only whole within block and root. */
static void alignment(void **state)
{
	struct fixture *s = *state;

	fixture_root(s, ROOT + 4, ROOT + 36, false);
	fixture_block(s, AT(0) + 4, 28);
	for (unsigned i = 1; i < 6; i++)
		fixture_block(s, AT(i), 64);
	fixture_put(s, ROOT, AT(1));		/* begins before the root */
	fixture_put(s, ROOT + 24, AT(0) + 4);
	fixture_put(s, ROOT + 32, AT(2));		/* ends behind the root */
	fixture_put(s, AT(0), AT(3));		/* begins before the block */
	fixture_put(s, AT(0) + 8, AT(4));
	fixture_put(s, AT(0) + 24, AT(5));
	fixture_expect(s, "RDDDRR");
	fixture_put(s, AT(0) + 24, 0);
	fixture_put(s, AT(0) + 12, AT(5));	/* misaligned */
	fixture_expect(s, "RDDDDD");
}

static void size_zero(void **state)
{
	struct fixture *s = *state;

	fixture_block(s, AT(0), 0);
	fixture_block(s, AT(1), 0);
	fixture_block(s, AT(2), 0);
	fixture_word(s, AT(0));
	fixture_word(s, AT(1) + 1);
	fixture_expect(s, "RDD");
}

static void registers_and_owned(void **state)
{
	struct fixture *s = nr(state, 5);

	fixture_word(s, AT(0));
	fixture_word(s, AT(1) + 8);
	assert_int_equal(vec_push(&s->memory.owned, AT(2) + 10), 0);
	assert_int_equal(vec_push(&s->memory.owned, AT(9)), 0);
	fixture_put(s, AT(2), AT(3));
	fixture_expect(s, "RPRRD");
}

static void tags(void **state)
{
	struct fixture *s = nr(state, 2);

	fixture_word(s, AT(0) | 0xab00000000000000);
	fixture_put(s, AT(0), AT(1) | 3);
	fixture_expect(s, "DI");
	s->options.tag_mask = 0xff00000000000007;
	fixture_expect(s, "RR");
	s->options.tag_mask = 0xff00000000000000;
	fixture_expect(s, "RP");
}

/* A pool and what was handed out of it; a pointer between two of those is one into the pool. */
static void nested(void **state)
{
	struct fixture *s = *state;

	fixture_root(s, ROOT, ROOT + 4096, false);
	fixture_block(s, AT(0), 1024);			/* 0: pool */
	fixture_block(s, AT(0) + 64, 64);			/* 1 */
	fixture_block(s, AT(0) + 192, 256);		/* 2: a pool in the pool */
	fixture_block(s, AT(0) + 192 + 128, 64);		/* 3 */
	/* 4: pointed to from the pool's own bytes */
	fixture_block(s, AT(8), 64);
	/* 5: from the inner pool's, behind its block */
	fixture_block(s, AT(9), 64);
	fixture_block(s, AT(10), 64);			/* 6: from block 1 */
	fixture_put(s, AT(0) + 56, AT(8));
	fixture_put(s, AT(0) + 192 + 200, AT(9));
	fixture_put(s, AT(0) + 64, AT(10));
	fixture_put(s, ROOT, AT(0));
	fixture_expect(s, "RDDDRII");
	assert_int_equal(s->reach.parent[5], 2);
	assert_int_equal(s->reach.parent[6], 1);
	fixture_put(s, ROOT, AT(0) + 140);		/* in 0, behind 1 */
	fixture_expect(s, "PDDDPII");
	fixture_put(s, ROOT, AT(0) + 192 + 192);		/* in 2, behind 3 */
	fixture_expect(s, "DDPDIPI");
	fixture_put(s, ROOT, AT(0) + 192 + 128);
	fixture_expect(s, "DDDRIII");
}

/*
 * Blocks closer than 16 bytes, closer than 8, at odd addresses; in chunks of the index of which the
 * others know nothing.
 */
static void close_blocks(void **state)
{
	struct fixture *s = *state;
	uint64_t other = FIXTURE_BASE + MIB, odd = FIXTURE_BASE + 2 * MIB;

	fixture_block(s, AT(0), 64);
	fixture_block(s, other, 8);
	fixture_block(s, other + 8, 8);
	fixture_block(s, other + 16, 8);
	fixture_block(s, odd + 1, 2);
	fixture_block(s, odd + 3, 3);
	fixture_block(s, odd + 6, 0);
	fixture_block(s, odd + 7, 100);
	fixture_expect(s, "DDDDDDDD");
	fixture_word(s, other + 8);
	fixture_word(s, other + 23);
	fixture_word(s, odd + 3);
	fixture_word(s, odd + 2);
	fixture_word(s, odd + 7 + 99);
	fixture_expect(s, "DDRPPRDP");
	fixture_word(s, odd + 6);
	fixture_word(s, AT(0) + 8);
	fixture_word(s, odd + 7 + 100);
	fixture_expect(s, "PDRPPRRP");
}

/* Of a block over several chunks of the index, pointers into each; and words at each end of it. */
static void large_block(void **state)
{
	struct fixture *s = *state;
	uint64_t start = FIXTURE_BASE + MIB / 2 + 16, size = 3 * MIB;

	fixture_block(s, AT(0), 64);
	fixture_block(s, AT(1), 64);
	fixture_block(s, AT(2), 64);
	fixture_block(s, start, size);
	fixture_put(s, start, AT(0));
	fixture_put(s, start + size - 8, AT(1));
	fixture_put(s, start + size / 2, AT(2) + 8);
	fixture_expect(s, "IIID");
	fixture_word(s, start + size);
	fixture_expect(s, "IIID");
	for (uint64_t offset = size - 1; offset > MIB / 2; offset -= MIB / 2) {
		s->memory.words.v[0].value = start + offset;
		fixture_expect(s, "PPPP");
	}
	s->memory.words.v[0].value = start;
	fixture_expect(s, "RRPR");
	for (s->options.max_edges = 1; s->options.max_edges < 5; s->options.max_edges++)
		fixture_expect(s, "RRPR");
}

/*
 * What was never touched is not read, in blocks cut into pieces, in those that are read when they
 * are reached, and to a block's end.
 */
static void untouched(void **state)
{
	struct fixture *s = *state;
	uint64_t start = FIXTURE_BASE + MIB / 2, size = 3 * MIB;

	for (unsigned i = 0; i < 4; i++)
		fixture_block(s, AT(i), 64);
	fixture_block(s, start, size);
	fixture_put(s, start, AT(0));
	fixture_put(s, start + MIB * 3 / 2, AT(1));	/* there, and not to be seen */
	fixture_put(s, start + 2 * MIB, AT(2));
	fixture_put(s, start + size - 8, AT(3));
	fixture_word(s, start);
	fixture_expect(s, "RRRRR");
	assert_int_equal(s->reach.stats.read_bytes, size + 3 * 0x100 + 64);
	s->untouched = (struct memory_span){ start + MIB, start + 2 * MIB };
	fixture_expect(s, "RDRRR");
	assert_int_equal(s->reach.stats.read_bytes, size - MIB + 3 * 0x100 + 64);
	s->untouched.end = start + size;
	fixture_expect(s, "RDDDR");
	assert_int_equal(s->reach.stats.read_bytes, MIB + 3 * 0x100 + 64);
	assert_int_equal(s->reach.stats.unread_bytes, 0);
	for (s->options.max_edges = 1; s->options.max_edges < 5; s->options.max_edges++)
		fixture_expect(s, "RDDDR");
	s->options.max_edges = 0;
	fixture_block(s, start + MIB / 2, 16);		/* of a pool */
	fixture_expect(s, "RDDDRD");
}

static void unreadable(void **state)
{
	struct fixture *s = *state;
	uint64_t start = FIXTURE_BASE + MIB;

	fixture_root(s, ROOT, ROOT + 3 * FIXTURE_PAGE, false);
	for (unsigned i = 0; i < 4; i++)
		fixture_block(s, AT(i), 64);
	fixture_block(s, start, 4 * FIXTURE_PAGE);
	fixture_block(s, FIXTURE_BASE + 2 * MIB, 1ull << 60);	/* nonsense */
	fixture_put(s, ROOT + FIXTURE_PAGE, AT(0));
	fixture_put(s, ROOT + 3 * FIXTURE_PAGE - 8, start);
	fixture_put(s, start + FIXTURE_PAGE - 8, AT(1));
	fixture_put(s, start + FIXTURE_PAGE, AT(2));
	fixture_put(s, start + 3 * FIXTURE_PAGE, AT(3));
	s->blocks.nr--;
	fixture_expect(s, "RRRRR");
	assert_int_equal(s->reach.stats.unread_bytes, 0);
	vec_push(&s->holes, ROOT + FIXTURE_PAGE);
	vec_push(&s->holes, start + FIXTURE_PAGE);
	vec_push(&s->holes, start + 2 * FIXTURE_PAGE);
	fixture_expect(s, "DRDRR");
	assert_int_equal(s->reach.stats.unread_bytes, 3 * FIXTURE_PAGE);
	/* small gaps are read, too */
	assert_int_equal(s->reach.stats.read_bytes, 4 * FIXTURE_PAGE + 3 * 0x100 + 64);
	s->blocks.nr++;
	s->blocks.v[5].size_bytes = 1ull << 33;
	fixture_expect(s, "DRDRRD");
	for (unsigned shift = 36; shift < 64; shift += 3) {
		s->blocks.v[5].size_bytes = 1ull << shift;
		fixture_expect(s, "DRDRRD");
	}
	fixture_word(s, FIXTURE_BASE + (1ull << 40));
	fixture_expect(s, "DRDRRP");
}

/* glibc keeps the addresses of free chunks; one behind a block is within the block's last bytes. */
static void chunk_lists(void **state)
{
	struct fixture *s = *state;

	fixture_root(s, ROOT, ROOT + 256, true);
	fixture_block(s, AT(0), 24);
	fixture_block(s, AT(1), 24);
	fixture_block(s, AT(2), 72);
	fixture_block(s, AT(3), 64);
	fixture_block(s, AT(4), 72);
	fixture_put(s, ROOT, AT(0) + 16);
	fixture_put(s, ROOT + 8, AT(1) + 8);
	fixture_put(s, ROOT + 16, AT(2) + 64);
	fixture_put(s, ROOT + 24, AT(3) + 56);
	fixture_put(s, ROOT + 32, AT(4));
	s->options.heuristics = 0;
	fixture_expect(s, "DPDPR");
	s->memory.roots.v[0].chunk_lists = false;
	fixture_expect(s, "PPPPR");
}

/*
 * A million blocks in a chain, from a root or lost, in order of address or against it: nothing
 * recurses.
 */
static void chain(void **state)
{
	enum { LINKS = 1000000 };
	struct fixture s;

	(void)state;
	fixture_init(&s, 64ull * (LINKS + 64));
	for (unsigned i = 0; i < LINKS; i++)
		fixture_block(&s, FIXTURE_BASE + 64ull * (i + 1), 48);
	for (unsigned i = 0; i + 1 < LINKS; i++)
		fixture_put(&s, s.blocks.v[i].address, s.blocks.v[i + 1].address);
	s.options.nr_threads = 2;
	fixture_run(&s);
	assert_int_equal(s.reach.class[0], REACH_DEFINITE);
	for (unsigned i = 1; i < LINKS; i++)
		if (s.reach.class[i] != REACH_INDIRECT || s.reach.parent[i] != 0)
			fail_msg("block %u", i);
	fixture_word(&s, s.blocks.v[0].address);
	fixture_run(&s);
	for (unsigned i = 0; i < LINKS; i++)
		assert_int_equal(s.reach.class[i], REACH_REACHED);
	memset(s.bytes, 0, s.size);
	for (unsigned i = 1; i < LINKS; i++)
		fixture_put(&s, s.blocks.v[i].address, s.blocks.v[i - 1].address);
	s.memory.words.nr = 0;
	fixture_run(&s);
	assert_int_equal(s.reach.class[LINKS - 1], REACH_DEFINITE);
	for (unsigned i = 0; i + 1 < LINKS; i++)
		if (s.reach.class[i] != REACH_INDIRECT || s.reach.parent[i] != LINKS - 1)
			fail_msg("block %u", i);
	assert_true(s.reach.stats.extra_bytes < 40ull * LINKS + (64 << 20));
	fixture_fini(&s);
}

/* Many more blocks at once than a thread takes along: they go from hand to hand. */
static void wide(void **state)
{
	enum { BLOCKS = 100000 };
	struct fixture s;

	(void)state;
	fixture_init(&s, 48ull * BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++)
		fixture_block(&s, FIXTURE_BASE + 16ull * BLOCKS + 32 * i, 24);
	fixture_root(&s, FIXTURE_BASE, FIXTURE_BASE + 8ull * BLOCKS / 2, false);
	for (unsigned i = 0; i < BLOCKS / 2; i++) {
		fixture_put(&s, FIXTURE_BASE + 8 * i, s.blocks.v[2 * i].address);
		fixture_put(&s, s.blocks.v[2 * i].address, s.blocks.v[2 * i + 1].address);
		fixture_put(&s, s.blocks.v[2 * i].address + 16,
			    s.blocks.v[(7919 * i) % BLOCKS].address + 8);
	}
	for (s.options.nr_threads = 1; s.options.nr_threads <= 8; s.options.nr_threads *= 2) {
		fixture_run(&s);
		for (unsigned i = 0; i < BLOCKS; i++)
			assert_int_equal(s.reach.class[i], REACH_REACHED);
	}
	for (s.options.nr_threads = 1; s.options.nr_threads <= 8; s.options.nr_threads *= 2) {
		s.memory.roots.nr = 0;
		fixture_run(&s);
		assert_int_equal(s.reach.class[0], REACH_DEFINITE);
		assert_int_equal(s.reach.class[1], REACH_INDIRECT);
	}
	fixture_fini(&s);
}

static void too_many(void **state)
{
	struct heap h = { .nr_blocks = (1u << 30) + 1 };
	struct memory m = { .ops = &fixture_ops };
	struct reach_options o = { 0 };
	struct reach r;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(reach_run(&h, &m, &o, &r, &e), -E2BIG);
	assert_non_null(strstr(e.text, "1073741825"));
}

static size_t read_nothing(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)arg;
	(void)address;
	(void)to;
	(void)bytes;
	return 0;
}

static const struct memory_ops nothing = { read_nothing, NULL };

static bool at_once(void *asked)
{
	return ++*(int *)asked > 0;
}

/*
 * Asked to stop it does, with nothing left and a sentence; not asked, the same search comes to its
 * end.
 */
static void a_search_can_be_stopped(void **state)
{
	struct memory memory = { 0 };
	struct reach_options options = { .nr_threads = 2 };
	struct heap *h = recipe_heap("generate sites=10 blocks=20000 depth=3 points=2\n");
	struct reach r;
	struct err e = { .text = "" };
	int asked = 0;

	(void)state;
	memory.ops = &nothing;
	memory.stop = (struct stop){ at_once, &asked };
	assert_int_equal(reach_run(h, &memory, &options, &r, &e), -EINTR);
	assert_string_equal(e.text, "the search was interrupted");
	assert_null(r.class);
	assert_in_range(asked, 1, 2);
	memory.stop = (struct stop){ 0 };
	assert_int_equal(reach_run(h, &memory, &options, &r, &e), 0);
	reach_fini(&r);
	heap_free(h);
}

/* ---- where a range begins and ends ---- */

#define WINDOW	(256ull << 10)	/* what is read at once */
#define TARGETS	(FIXTURE_BASE + 4 * WINDOW)

/*
 * Words that lie in [start, end) are read, all of them and no others: around the borders of what is
 * read at once each holds a pointer to a block.
 */
static void expect_words(uint64_t start, uint64_t end, bool as_block)
{
	uint64_t word[400];
	size_t nr = 0, first = as_block;
	struct fixture s;

	fixture_init(&s, 5 * WINDOW);
	if (as_block) {
		fixture_block(&s, start, end - start);
		fixture_word(&s, start);
	} else {
		fixture_root(&s, start, end, false);
	}
	for (uint64_t border = start; border < end + WINDOW; border += WINDOW) {
		uint64_t near = border < end ? border : end;

		for (uint64_t a = (near & ~7ull) - 24; a <= (near & ~7ull) + 24; a += 8) {
			if (a < FIXTURE_BASE || (nr && a <= word[nr - 1]))
				continue;
			word[nr] = a;
			fixture_put(&s, a, TARGETS + 32 * nr);
			fixture_block(&s, TARGETS + 32 * nr, 16);
			nr++;
		}
	}
	fixture_run(&s);
	for (size_t i = 0; i < nr; i++)
		if ((s.reach.class[first + i] == REACH_REACHED) !=
		    (word[i] >= start && word[i] + 8 <= end))
			fail_msg("[%" PRIx64 ", %" PRIx64 ")%s: the word at %" PRIx64 " is %s",
				 start, end, as_block ? " of a block" : "", word[i],
				 s.reach.class[first + i] == REACH_REACHED ? "read" : "not read");
	fixture_fini(&s);
}

static void every_word_is_read_however_a_range_lies(void **state)
{
	(void)state;
	for (uint64_t from = 0; from < 9; from++) {
		for (uint64_t to = 0; to < 9; to++) {
			uint64_t start = FIXTURE_BASE + 40 + from;

			for (uint64_t windows = 0; windows < 3; windows++)
				for (int as_block = 0; as_block < 2; as_block++)
					expect_words(start, start + windows * WINDOW + 60 + to,
						     as_block);
			expect_words(start, start + 2 * WINDOW - 4 + to, false);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_can_be_stopped),
		cmocka_unit_test(every_word_is_read_however_a_range_lies),
		cmocka_unit_test_setup_teardown(empty_heap, setup, fixture_end),
		cmocka_unit_test_setup_teardown(each_class, setup, fixture_end),
		cmocka_unit_test_setup_teardown(parents_on_demand, setup, fixture_end),
		cmocka_unit_test_setup_teardown(possible_becomes_reached, setup, fixture_end),
		cmocka_unit_test_setup_teardown(one_definite_of_a_cycle, setup, fixture_end),
		cmocka_unit_test_setup_teardown(shared_branch, setup, fixture_end),
		cmocka_unit_test_setup_teardown(bounds, setup, fixture_end),
		cmocka_unit_test_setup_teardown(alignment, setup, fixture_end),
		cmocka_unit_test_setup_teardown(size_zero, setup, fixture_end),
		cmocka_unit_test_setup_teardown(registers_and_owned, setup, fixture_end),
		cmocka_unit_test_setup_teardown(tags, setup, fixture_end),
		cmocka_unit_test_setup_teardown(nested, setup, fixture_end),
		cmocka_unit_test_setup_teardown(close_blocks, setup, fixture_end),
		cmocka_unit_test_setup_teardown(large_block, setup, fixture_end),
		cmocka_unit_test_setup_teardown(untouched, setup, fixture_end),
		cmocka_unit_test_setup_teardown(unreadable, setup, fixture_end),
		cmocka_unit_test_setup_teardown(chunk_lists, setup, fixture_end),
		cmocka_unit_test(chain),
		cmocka_unit_test(wide),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
