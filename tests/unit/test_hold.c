/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds a block: chains of made-up heaps; and what pointers hold alone, against an oracle on
 * thousands of random heaps that clears each pointer in turn and marks again.
 * Also of src/analyze/reach/hold_chain.c, hold_dominate.c.
 */
#include "src/analyze/reach/hold.h"
#include "tests/unit/reach_fixture.h"

#define MIB		(1ull << 20)

static int setup(void **state)
{
	return fixture_begin(state, 4 * MIB);
}

static void hold(struct fixture *s, struct hold *h)
{
	struct err e = { 0 };

	s->heap.blocks = s->blocks.v;
	s->heap.nr_blocks = s->blocks.nr;
	if (hold_open(h, &s->heap, &s->memory, &s->options, &e))
		fail_msg("%s", e.text);
}

static void dominate(struct hold *h, struct hold_cut *cuts, size_t nr_cuts)
{
	struct err e = { 0 };

	if (hold_dominate(h, cuts, nr_cuts, &e))
		fail_msg("%s", e.text);
}

/* ---- chains ---- */

static void chain_by_place(void **state)
{
	struct fixture *s = nr(state, 4);
	struct hold_chain c;
	struct hold h;

	fixture_put(s, ROOT + 40, AT(0));
	fixture_put(s, AT(0) + 24, AT(1));
	fixture_put(s, AT(1) + 8, AT(2) + 16);
	fixture_put(s, AT(1) + 16, AT(2));
	hold(s, &h);
	assert_int_equal(h.nr_order, 3);
	assert_int_equal(h.origin[3], HOLD_NONE);
	assert_int_equal(hold_chain(&h, 2, &c), 0);
	assert_int_equal(c.nr, 3);
	assert_int_equal(h.edges.v[c.edge].at, ROOT + 40);
	assert_int_equal(c.steps.v[0].block, 0);
	assert_int_equal(c.steps.v[1].field, 24);
	assert_int_equal(c.steps.v[1].same, 1);
	assert_int_equal(c.steps.v[2].field, 16);	/* the one to the start */
	assert_int_equal(c.steps.v[2].into, 0);
	assert_int_equal(c.steps.v[2].same, 2);
	hold_chain_fini(&c);
	hold_close(&h);
}

/*
 * The shortest; but pointers to starts before those into the middle, and lasting roots before
 * others.
 */
static void which_chain(void **state)
{
	struct fixture *s = nr(state, 4);
	struct hold_chain c;
	struct hold h;

	fixture_word(s, AT(2));
	fixture_put(s, ROOT, AT(0));
	fixture_put(s, ROOT + 8, AT(2) + 8);
	fixture_put(s, AT(0), AT(1));
	fixture_put(s, AT(1), AT(2));
	hold(s, &h);
	assert_int_equal(hold_chain(&h, 2, &c), 0);
	assert_int_equal(c.nr, 3);
	hold_chain_fini(&c);
	hold_close(&h);
}

static void register_only(void **state)
{
	struct fixture *s = nr(state, 2);
	struct hold h;

	fixture_word(s, AT(1));
	hold(s, &h);
	assert_int_equal(h.nr_order, 1);
	assert_int_equal(h.edges.v[h.origin[1]].place, HOLD_WORD);
	hold_close(&h);
}

static void middle_is_not_firm(void **state)
{
	struct fixture *s = nr(state, 3);
	struct hold h;

	fixture_put(s, ROOT, AT(0));
	fixture_put(s, AT(0), AT(1) + 16);
	fixture_put(s, AT(1), AT(2));
	hold(s, &h);
	assert_int_equal(h.nr_order, 3);
	assert_int_equal(h.nr_firm, 1);
	hold_close(&h);
}

static void sources_by_root(void **state)
{
	struct fixture *s = nr(state, 6);
	uint64_t wanted = 0x3e;
	struct hold_sources found;
	struct hold h;

	fixture_put(s, ROOT, AT(0));
	fixture_put(s, AT(0), AT(1));
	fixture_put(s, AT(1), AT(2));
	fixture_put(s, AT(1) + 8, AT(3));
	fixture_put(s, ROOT + 64, AT(4));
	hold(s, &h);
	assert_int_equal(hold_sources(&h, &wanted, &found), 0);
	assert_int_equal(found.nr, 2);
	assert_int_equal(found.v[0].blocks, 1);
	assert_int_equal(found.v[0].nearest, 4);
	assert_int_equal(found.v[1].blocks, 3);
	assert_int_equal(found.v[1].bytes, 3 * 64);
	assert_int_equal(found.v[1].nearest, 1);
	vec_fini(&found);
	hold_close(&h);
}

/* A chain of a thousand: its ends are kept, and the rest is counted. */
static void long_chain(void **state)
{
	struct fixture *s = nr(state, 1000);
	struct hold_chain c;
	struct hold_cut cut[2];
	struct hold h;

	fixture_put(s, ROOT, AT(0));
	for (unsigned i = 0; i < 999; i++)
		fixture_put(s, AT(i) + 8, AT(i + 1));
	hold(s, &h);
	assert_int_equal(hold_chain(&h, 999, &c), 0);
	assert_int_equal(c.nr, 1000);
	assert_int_equal(c.steps.nr, HOLD_HEAD + HOLD_TAIL);
	assert_int_equal(c.steps.v[HOLD_HEAD - 1].block, HOLD_HEAD - 1);
	assert_int_equal(c.steps.v[HOLD_HEAD].skipped, 1000 - HOLD_HEAD - HOLD_TAIL);
	assert_int_equal(c.steps.v[HOLD_HEAD].block, 1000 - HOLD_TAIL);
	assert_int_equal(c.steps.v[HOLD_HEAD].field, 8);
	assert_int_equal(c.steps.v[HOLD_HEAD + HOLD_TAIL - 1].block, 999);
	cut[0] = (struct hold_cut){ .kind = HOLD_CUT_EDGE, .from = c.edge };
	cut[1] = (struct hold_cut){ .kind = HOLD_CUT_POINTER, .from = 499, .to = 500 };
	dominate(&h, cut, 2);
	assert_int_equal(cut[0].blocks, 1000);
	assert_int_equal(cut[0].bytes, 64000);
	assert_int_equal(cut[1].blocks, 500);
	hold_chain_fini(&c);
	hold_close(&h);
}

/* A block so large that it is read in pieces: every pointer in it is weighed by itself. */
static void large_block(void **state)
{
	struct fixture *s = *state;
	struct hold_cut cut[3];
	struct hold_chain c;
	struct hold h;

	fixture_block(s, AT(0), MIB);
	for (unsigned i = 0; i < 3; i++)
		fixture_block(s, AT(0) + MIB + 64 + i * 64, 48 + i);
	fixture_root(s, ROOT, ROOT + 4096, false);
	fixture_put(s, ROOT, AT(0));
	fixture_put(s, AT(0) + 16, AT(0) + MIB + 64);
	fixture_put(s, AT(0) + MIB / 2, AT(0) + MIB + 128);
	fixture_put(s, AT(0) + MIB - 8, AT(0) + MIB + 192);
	fixture_put(s, AT(0) + MIB + 64, AT(0) + MIB + 192);
	hold(s, &h);
	assert_int_equal(h.graph.first[0], REACH_PIECES);
	assert_int_equal(hold_chain(&h, 2, &c), 0);
	assert_int_equal(c.steps.v[1].field, MIB / 2);
	for (unsigned i = 0; i < 3; i++)
		cut[i] = (struct hold_cut){ .kind = HOLD_CUT_POINTER, .from = 0, .to = i + 1 };
	dominate(&h, cut, 3);
	assert_int_equal(cut[0].bytes, 48);
	assert_int_equal(cut[1].bytes, 49);
	assert_int_equal(cut[2].bytes, 0);
	hold_chain_fini(&c);
	hold_close(&h);
}

/* ---- what pointers hold alone, against clearing each of them ---- */

#define MAX_BLOCKS	24
#define BLOCK_BYTES	64

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static uint64_t word_at(const struct fixture *s, uint64_t address)
{
	uint64_t word;

	memcpy(&word, s->bytes + (address - FIXTURE_BASE), 8);
	return word;
}

static int block_of(const struct fixture *s, uint64_t address)
{
	for (size_t i = 0; i < s->blocks.nr; i++)
		if (address - s->blocks.v[i].address < s->blocks.v[i].size_bytes)
			return (int)i;
	return -1;
}

static void mark_word(const struct fixture *s, uint64_t value, bool *seen, int *stack,
		      int *nr_stack)
{
	int to = block_of(s, value);

	if (to >= 0 && !seen[to]) {
		seen[to] = true;
		stack[(*nr_stack)++] = to;
	}
}

/* The simplest marking there is. */
static void mark(const struct fixture *s, bool *seen)
{
	int stack[MAX_BLOCKS], nr_stack = 0;

	memset(seen, 0, MAX_BLOCKS * sizeof(*seen));
	for (uint64_t a = ROOT; a < ROOT + 256; a += 8)
		mark_word(s, word_at(s, a), seen, stack, &nr_stack);
	vec_each(&s->memory.words, w)
		mark_word(s, w->value, seen, stack, &nr_stack);
	while (nr_stack) {
		const struct heap_block *b = &s->blocks.v[stack[--nr_stack]];

		for (uint64_t a = b->address; a < b->address + b->size_bytes; a += 8)
			mark_word(s, word_at(s, a), seen, stack, &nr_stack);
	}
}

static void oracle(const struct fixture *s, const bool *whole, uint64_t *blocks, uint64_t *bytes)
{
	bool seen[MAX_BLOCKS];

	mark(s, seen);
	*blocks = *bytes = 0;
	for (size_t i = 0; i < s->blocks.nr; i++)
		if (whole[i] && !seen[i]) {
			++*blocks;
			*bytes += s->blocks.v[i].size_bytes;
		}
}

static void make(struct fixture *s)
{
	unsigned nr_blocks = below(MAX_BLOCKS) + 1, density = below(6) + 1, roots = below(5) + 1;

	for (unsigned i = 0; i < nr_blocks; i++)
		fixture_block(s, AT(i), 8 * (below(8) + 1));
	for (unsigned i = 0; i < nr_blocks; i++)
		for (uint64_t a = AT(i); a < AT(i) + s->blocks.v[i].size_bytes; a += 8)
			if (!below(density))
				fixture_put(s, a,
					    AT(below(nr_blocks)) + (below(4) ? 0 : below(64)));
	fixture_root(s, ROOT, ROOT + 256, false);
	while (roots--)
		fixture_put(s, ROOT + 8 * below(32),
			    AT(below(nr_blocks)) + (below(4) ? 0 : below(64)));
	if (!below(3))
		fixture_word(s, AT(below(nr_blocks)));
}

/* Clear a word for as long as it takes to mark. */
static void check_word(struct fixture *s, uint64_t address, const bool *whole,
		       const struct hold_cut *c, const char *what)
{
	uint64_t kept = word_at(s, address), blocks, bytes;

	fixture_put(s, address, 0);
	oracle(s, whole, &blocks, &bytes);
	fixture_put(s, address, kept);
	if (blocks != c->blocks || bytes != c->bytes)
		fail_msg("%s %llx: %llu blocks, %llu bytes, not %llu, %llu", what,
			 (unsigned long long)address, (unsigned long long)blocks,
			 (unsigned long long)bytes, (unsigned long long)c->blocks,
			 (unsigned long long)c->bytes);
}

/* Pointers from block to block that are the only ones from the one to the other. */
static uint64_t only_pointer(const struct fixture *s, int from, int to)
{
	const struct heap_block *b = &s->blocks.v[from];
	uint64_t found = 0;

	for (uint64_t a = b->address; a < b->address + b->size_bytes; a += 8) {
		if (block_of(s, word_at(s, a)) != to)
			continue;
		if (found)
			return 0;
		found = a;
	}
	return found;
}

static void check_edges(struct fixture *s, struct hold *h, const bool *whole)
{
	struct hold_cut *cuts = calloc(h->edges.nr + 1, sizeof(*cuts));

	for (uint32_t i = 0; i < h->edges.nr; i++)
		cuts[i] = (struct hold_cut){ .kind = HOLD_CUT_EDGE, .from = i };
	dominate(h, cuts, h->edges.nr);
	for (uint32_t i = 0; i < h->edges.nr; i++)
		if (h->edges.v[i].place == HOLD_MEMORY)
			check_word(s, h->edges.v[i].at, whole, &cuts[i], "root");
	free(cuts);
}

static void check_pointers(struct fixture *s, struct hold *h, const bool *whole)
{
	struct hold_cut cuts[MAX_BLOCKS * MAX_BLOCKS];
	uint64_t at[MAX_BLOCKS * MAX_BLOCKS];
	size_t n = 0;

	for (int from = 0; from < (int)s->blocks.nr; from++)
		for (int to = 0; to < (int)s->blocks.nr; to++) {
			uint64_t a = from == to ? 0 : only_pointer(s, from, to);

			if (!a || !below(3))
				continue;
			at[n] = a;
			cuts[n++] = (struct hold_cut){ .kind = HOLD_CUT_POINTER,
						       .from = (uint32_t)from,
						       .to = (uint32_t)to };
		}
	dominate(h, cuts, n);
	for (size_t i = 0; i < n; i++)
		check_word(s, at[i], whole, &cuts[i], "pointer");
}

/* A set of root pointers, and within it each of them by itself. */
static void check_set(struct fixture *s, struct hold *h, const bool *whole)
{
	struct hold_cut cuts[64] = { { .kind = HOLD_CUT_SET } };
	uint64_t kept[32], blocks, bytes;
	size_t n = 1;

	for (uint32_t i = 0; i < h->edges.nr; i++) {
		h->edges.v[i].set = h->edges.v[i].place == HOLD_MEMORY &&
				    h->edges.v[i].at < ROOT + 128;
		if (n < 64)
			cuts[n++] = (struct hold_cut){ .kind = HOLD_CUT_EDGE, .from = i };
	}
	dominate(h, cuts, n);
	for (size_t i = 1; i < n; i++)
		if (h->edges.v[cuts[i].from].place == HOLD_MEMORY)
			check_word(s, h->edges.v[cuts[i].from].at, whole, &cuts[i], "in a set");
	for (unsigned i = 0; i < 16; i++) {
		kept[i] = word_at(s, ROOT + 8 * i);
		fixture_put(s, ROOT + 8 * i, 0);
	}
	oracle(s, whole, &blocks, &bytes);
	for (unsigned i = 0; i < 16; i++)
		fixture_put(s, ROOT + 8 * i, kept[i]);
	assert_int_equal(cuts[0].blocks, blocks);
	assert_int_equal(cuts[0].bytes, bytes);
}

static void check_reached(const struct fixture *s, const struct hold *h, const bool *whole)
{
	for (size_t i = 0; i < s->blocks.nr; i++)
		assert_int_equal(whole[i], h->origin[i] != HOLD_NONE);
}

/*
 * Chains are made of pointers that are there, and none is shorter over the same kinds of pointers.
 */
static void check_chains(struct fixture *s, struct hold *h)
{
	for (uint32_t i = 0; i < h->nr_order; i++) {
		struct hold_chain c;

		assert_int_equal(hold_chain(h, h->order[i], &c), 0);
		assert_int_equal(c.steps.v[c.nr - 1].block, h->order[i]);
		for (size_t k = 1; k < c.nr; k++) {
			const struct hold_step *p = &c.steps.v[k];

			assert_int_equal(p->before, c.steps.v[k - 1].block);
			assert_int_equal(word_at(s, s->blocks.v[p->before].address + p->field),
					 s->blocks.v[p->block].address + p->into);
		}
		hold_chain_fini(&c);
	}
}

static void random_heaps(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 3000; round++) {
		bool whole[MAX_BLOCKS];
		struct fixture s;
		struct hold h;

		seed = round;
		fixture_init(&s, 1 << 18);
		make(&s);
		mark(&s, whole);
		hold(&s, &h);
		if (round % 3 == 0)		/* nothing kept: blocks are read again */
			for (uint32_t i = 0; i < s.blocks.nr; i++)
				h.graph.first[i] = REACH_AGAIN;
		check_reached(&s, &h, whole);
		check_chains(&s, &h);
		check_edges(&s, &h, whole);
		check_pointers(&s, &h, whole);
		check_set(&s, &h, whole);
		hold_close(&h);
		fixture_fini(&s);
	}
}

/*
 * A million in a row, and each of them also on the first one's list: no recursion, and no time in
 * proportion to depth.
 */
static void deep(void **state)
{
	const uint64_t blocks = 1000000;
	struct hold_cut cut = { .kind = HOLD_CUT_EDGE };
	struct fixture s;
	struct hold h;

	(void)state;
	fixture_init(&s, 64 * MIB);
	fixture_root(&s, ROOT, ROOT + 4096, false);
	fixture_put(&s, ROOT, AT(0));
	for (uint64_t i = 0; i < blocks; i++) {
		fixture_block(&s, AT(0) + i * 32, 24);
		fixture_put(&s, AT(0) + i * 32, i + 1 < blocks ? AT(0) + i * 32 + 32 : 0);
		fixture_put(&s, AT(0) + i * 32 + 8, i ? AT(0) : 0);
		fixture_put(&s, AT(0) + i * 32 + 16, i ? AT(0) + i * 32 - 32 : 0);
	}
	hold(&s, &h);
	dominate(&h, &cut, 1);
	assert_int_equal(cut.blocks, blocks);
	assert_int_equal(cut.bytes, blocks * 24);
	hold_close(&h);
	fixture_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chain_by_place, setup, fixture_end),
		cmocka_unit_test_setup_teardown(which_chain, setup, fixture_end),
		cmocka_unit_test_setup_teardown(register_only, setup, fixture_end),
		cmocka_unit_test_setup_teardown(middle_is_not_firm, setup, fixture_end),
		cmocka_unit_test_setup_teardown(sources_by_root, setup, fixture_end),
		cmocka_unit_test_setup_teardown(long_chain, setup, fixture_end),
		cmocka_unit_test_setup_teardown(large_block, setup, fixture_end),
		cmocka_unit_test(random_heaps),
		cmocka_unit_test(deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
