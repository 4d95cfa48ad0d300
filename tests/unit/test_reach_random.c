/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability against an oracle: thousands of small random heaps, each judged the simplest way
 * there is (a matrix of pointers, closed over until nothing changes), by 1, 2 and 4 threads, with
 * room for all edges and for hardly any.
 */
#include "tests/unit/reach_fixture.h"

#ifdef SANITIZED
#define ROUNDS		200	/* which take long */
#else
#define ROUNDS		2000
#endif
#define MAX_BLOCKS	40
#define SIZE		(3 << 20)
#define ROOT_BYTES	4096
/* over the border of two chunks of the index */
#define BLOCKS		(FIXTURE_BASE + (1 << 20) - 1024)

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* The block that holds the byte. */
static int owner(const struct fixture *s, uint64_t address)
{
	for (int i = (int)s->blocks.nr - 1; i >= 0; i--) {
		const struct heap_block *b = &s->blocks.v[i];

		if (address >= b->address && address < b->address + b->size_bytes)
			return i;
	}
	return -1;
}

/* The block a pointer is meant for: one of size 0 has no byte, but a start. */
static int innermost(const struct fixture *s, uint64_t address)
{
	for (int i = 0; i < (int)s->blocks.nr; i++)
		if (s->blocks.v[i].address == address)
			return i;
	return owner(s, address);
}

/* To the end of the block around it: blocks lie in one another or apart. */
static uint64_t room_left(const struct fixture *s, uint64_t address)
{
	const struct heap_block *b = &s->blocks.v[owner(s, address)];

	return b->address + b->size_bytes - address;
}

/* Sizes, gaps and alignment of one heap; sometimes blocks within blocks. */
static void make_blocks(struct fixture *s)
{
	static const unsigned aligns[] = { 16, 16, 8, 1 };
	unsigned align = aligns[below(NR(aligns))], nr = below(MAX_BLOCKS) + 1;
	bool nested = !below(4), sparse = !below(8);
	uint64_t at = BLOCKS;

	for (unsigned i = 0; i < nr; i++) {
		uint64_t size = below(8) ? below(100) : below(6) ? 0 : below(2000);

		if (owner(s, at) >= 0 && size > room_left(s, at))
			size = room_left(s, at);
		fixture_block(s, at, size);
		at += nested && size > 1 && below(2) ? below((unsigned)size) + 1
						     : size + 1 + below(64);
		if (sparse && !below(16))
			at += 200000;
		at = (at + align - 1) & ~(uint64_t)(align - 1);
	}
	assert_true(at + 4096 < FIXTURE_BASE + SIZE);
}

static uint64_t some_pointer(const struct fixture *s)
{
	const struct heap_block *b = &s->blocks.v[below((unsigned)s->blocks.nr)];
	unsigned kind = below(10);

	if (kind < 6 || !b->size_bytes)
		return b->address;
	return kind < 9 ? b->address + below((unsigned)b->size_bytes) : b->address + b->size_bytes;
}

static void make_words(struct fixture *s)
{
	unsigned density = below(12) + 1, roots = below(4);

	for (size_t i = 0; i < s->blocks.nr; i++) {
		const struct heap_block *b = &s->blocks.v[i];

		for (uint64_t a = (b->address + 7) & ~7ull; a + 8 <= b->address + b->size_bytes;
		     a += 8)
			fixture_put(s, a, below(density) ? below(1000) : some_pointer(s));
	}
	fixture_root(s, FIXTURE_BASE, FIXTURE_BASE + ROOT_BYTES, false);
	for (unsigned i = 0; i < roots; i++)
		fixture_put(s, FIXTURE_BASE + 8 * below(ROOT_BYTES / 8), some_pointer(s));
	if (below(2))
		fixture_word(s, some_pointer(s));
	if (!below(4))
		vec_push(&s->memory.owned, some_pointer(s));
}

struct oracle {
	size_t nr;
	bool start[MAX_BLOCKS][MAX_BLOCKS], any[MAX_BLOCKS][MAX_BLOCKS];
	bool root_start[MAX_BLOCKS], root_any[MAX_BLOCKS];
	uint8_t class[MAX_BLOCKS];
	uint32_t parent[MAX_BLOCKS];
};

/*
 * What is in a block, at an address; without heuristics, which this memory can only meet by chance.
 */
static void note(const struct fixture *s, uint64_t value, bool *start, bool *any, int self)
{
	int to = innermost(s, value);

	if (to < 0 || to == self)
		return;
	any[to] = true;
	start[to] |= value == s->blocks.v[to].address;
}

static uint64_t word_at(const struct fixture *s, uint64_t address)
{
	uint64_t value;

	memcpy(&value, s->bytes + (address - FIXTURE_BASE), 8);
	return value;
}

/* All bytes of a word must be the block's own: none of a block in it. */
static bool owns(const struct fixture *s, int block, uint64_t address)
{
	for (unsigned i = 0; i < 8; i++)
		if (owner(s, address + i) != block)
			return false;
	return true;
}

static void note_all(const struct fixture *s, struct oracle *o)
{
	o->nr = s->blocks.nr;
	for (int i = 0; i < (int)o->nr; i++) {
		const struct heap_block *b = &s->blocks.v[i];

		for (uint64_t a = (b->address + 7) & ~7ull; a + 8 <= b->address + b->size_bytes;
		     a += 8)
			if (owns(s, i, a))
				note(s, word_at(s, a), o->start[i], o->any[i], i);
	}
	for (uint64_t a = FIXTURE_BASE; a < FIXTURE_BASE + ROOT_BYTES; a += 8)
		note(s, word_at(s, a), o->root_start, o->root_any, -1);
	vec_each(&s->memory.words, word)
		note(s, word->value, o->root_start, o->root_any, -1);
	vec_each(&s->memory.owned, address) {
		int to = innermost(s, *address);

		if (to >= 0)
			o->root_start[to] = o->root_any[to] = true;
	}
}

static void spread(struct oracle *o, const bool edge[MAX_BLOCKS][MAX_BLOCKS], uint8_t class)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < o->nr; i++)
			for (size_t j = 0; j < o->nr; j++)
				if (o->class[i] <= class && o->class[j] > class && edge[i][j])
					o->class[j] = class, changed = true;
	}
}

static void judge(const struct fixture *s, struct oracle *o)
{
	bool leads[MAX_BLOCKS][MAX_BLOCKS];

	memset(o, 0, sizeof(*o));
	note_all(s, o);
	for (size_t i = 0; i < o->nr; i++)
		o->class[i] = o->root_start[i] ? REACH_REACHED : REACH_DEFINITE;
	spread(o, (const bool (*)[MAX_BLOCKS])o->start, REACH_REACHED);
	for (size_t i = 0; i < o->nr; i++)
		if (o->class[i] == REACH_DEFINITE && o->root_any[i])
			o->class[i] = REACH_POSSIBLE;
	spread(o, (const bool (*)[MAX_BLOCKS])o->any, REACH_POSSIBLE);
	memcpy(leads, o->any, sizeof(leads));
	for (size_t k = 0; k < o->nr; k++)
		for (size_t i = 0; i < o->nr; i++)
			for (size_t j = 0; j < o->nr; j++)
				leads[i][j] |= leads[i][k] && leads[k][j];
	for (size_t i = 0; i < o->nr; i++) {
		o->parent[i] = UINT32_MAX;
		for (size_t j = 0; o->class[i] >= REACH_INDIRECT && j < o->nr; j++)
			if (o->class[j] >= REACH_INDIRECT && leads[j][i] && (!leads[i][j] || j < i))
				o->class[i] = REACH_INDIRECT;
	}
	for (size_t i = 0; i < o->nr; i++)
		for (uint32_t j = 0;
		     o->class[i] == REACH_INDIRECT && j < o->nr && o->parent[i] == UINT32_MAX; j++)
			if (o->class[j] == REACH_DEFINITE && leads[j][i])
				o->parent[i] = j;
}

static void compare(struct fixture *s, const struct oracle *o, unsigned round)
{
	static const uint64_t rooms[] = { 0, 1, 7, 40 };
	static const unsigned threads[] = { 1, 2, 4 };

	for (size_t r = 0; r < NR(rooms); r++) {
		s->options.max_edges = rooms[r];
		s->options.nr_threads = threads[(r + round) % NR(threads)];
		fixture_run(s);
		for (size_t i = 0; i < o->nr; i++)
			if (s->reach.class[i] != o->class[i] || s->reach.parent[i] != o->parent[i])
				fail_msg("heap %u, %u threads, room %u: block %zu is %u of %u, not "
					 "%u of %u",
					 round, s->options.nr_threads, (unsigned)rooms[r], i,
					 s->reach.class[i], s -> reach.parent[i], o->class[i],
					 o -> parent[i]);
	}
}

static void random_heaps(void **state)
{
	unsigned seen[REACH_NR_CLASSES] = { 0 };

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct fixture s;
		struct oracle o;

		seed = round;
		below(2);
		fixture_init(&s, SIZE);
		s.options.heuristics = 0;
		make_blocks(&s);
		make_words(&s);
		judge(&s, &o);
		compare(&s, &o, round);
		for (size_t i = 0; i < o.nr; i++)
			seen[o.class[i]]++;
		fixture_fini(&s);
	}
	for (unsigned c = 0; c < REACH_NR_CLASSES; c++)
		assert_true(seen[c] > ROUNDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_heaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
