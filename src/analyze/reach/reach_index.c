/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to a block: building the index. Looking up: reach_resolve.c.
 */
#include "src/analyze/reach/reach_index.h"

#include <cpuid.h>
#include <errno.h>

struct filling {
	struct reach_index *ix;
	uint32_t next;	/* chunk */
};

uint32_t reach_first_from(const struct reach_index *ix, uint32_t from, uint64_t address)
{
	uint64_t step = 1, low = from, high;

	/* Mostly it is near: gallop, then halve. */
	while (low + step < ix->nr && ix->blocks[low + step].address < address)
		step *= 2;
	high = low + step < ix->nr ? low + step : ix->nr;
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (ix->blocks[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static uint64_t key_of(uint64_t address)
{
	return address >> REACH_CHUNK_SHIFT;
}

/* Call add for each chunk in which blocks start. */
static uint32_t chunks_walk(struct reach_index *ix, struct reach_chunk *to)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < ix->nr; nr++) {
		uint64_t key = key_of(ix->blocks[i].address);

		if (to)
			to[nr] = (struct reach_chunk){ .key = key, .first = i };
		if (key == key_of(UINT64_MAX))
			i = ix->nr;
		else
			i = reach_first_from(ix, i, (key + 1) << REACH_CHUNK_SHIFT);
	}
	return nr;
}

/* What a chunk's blocks are like. */
static void chunk_inspect(const struct reach_index *ix, struct reach_chunk *c, uint32_t end)
{
	uint64_t chunk_end = ((c->key + 1) << REACH_CHUNK_SHIFT) - 1;
	uint64_t last_granule = UINT64_MAX, low_bits = 0, highest = 0;

	for (uint32_t i = c->first; i < end; i++) {
		const struct heap_block *b = &ix->blocks[i];
		uint64_t block_end = reach_block_end(b), granule = b->address >> 3;

		low_bits |= b->address;
		c->crowded |= granule == last_granule;
		last_granule = granule;
		c->nested |= i + 1 < ix->nr && ix->blocks[i + 1].address < block_end;
		highest = block_end > highest ? block_end : highest;
		c->largest = b->size_bytes > c->largest ? b->size_bytes : c->largest;
	}
	c->fine = low_bits & 8;
	c->crowded |= low_bits & 7;
	c->spills = highest && highest - 1 > chunk_end;
	c->end = highest;
}

static void chunk_fill(struct reach_index *ix, const struct reach_chunk *c, uint32_t end)
{
	unsigned nr_lines = ix->chunk_lines;
	struct reach_line *lines = ix->lines + (size_t)(c - ix->chunks) * nr_lines;
	uint32_t before = c->first;

	for (uint32_t i = c->first; i < end; i++) {
		uint64_t granule = (ix->blocks[i].address & ((1 << REACH_CHUNK_SHIFT) - 1)) >>
				   ix->granule_shift;
		uint64_t word = granule >> 6;

		lines[word / REACH_LINE_WORDS].bits[word % REACH_LINE_WORDS] |= (uint64_t)1
										<< (granule & 63);
	}
	for (struct reach_line *line = lines; line < lines + nr_lines; line++) {
		unsigned within = 0;

		line->before = before;
		for (unsigned i = 0; i < REACH_LINE_WORDS; i++) {
			line->within[i] = (uint16_t)within;
			within += (unsigned)__builtin_popcountll(line->bits[i]);
		}
		before += within;
	}
}

static void chunks_fill(void *arg, unsigned who)
{
	struct filling *f = arg;
	struct reach_index *ix = f->ix;
	uint32_t i;

	(void)who;
	while ((i = __atomic_fetch_add(&f->next, 1, __ATOMIC_RELAXED)) < ix->nr_chunks) {
		struct reach_chunk *c = &ix->chunks[i];

		chunk_inspect(ix, c, c[1].first);
		if (!c->crowded && (!c->fine || ix->granule_shift == 3))
			chunk_fill(ix, c, c[1].first);
	}
}

/* Lines for granules of 1 << shift bytes. 0 or -ENOMEM. */
static int fill(struct reach_index *ix, unsigned shift, unsigned nr_threads)
{
	struct filling f = { .ix = ix };

	ix->granule_shift = shift;
	/* the last is not full */
	ix->chunk_lines = (1u << (REACH_CHUNK_SHIFT - 6 - shift)) / REACH_LINE_WORDS + 1;
	ix->lines = reach_take(ix->space,
			       (size_t)ix->nr_chunks * ix->chunk_lines * sizeof(*ix->lines));
	if (!ix->lines)
		return -ENOMEM;
	reach_team(nr_threads, chunks_fill, &f);
	return 0;
}

static void lines_give(struct reach_index *ix)
{
	reach_give(ix->space, ix->lines,
		   (size_t)ix->nr_chunks * ix->chunk_lines * sizeof(*ix->lines));
	ix->lines = NULL;
}

static size_t nr_slots(const struct reach_index *ix)
{
	return (size_t)1 << (64 - ix->hash_shift);
}

/* A quarter full at most, so that nearly each look-up ends at its first slot. */
static int slots_fill(struct reach_index *ix)
{
	ix->hash_shift = 58;
	while (nr_slots(ix) < (size_t)ix->nr_chunks * 4)
		ix->hash_shift--;
	ix->slots = reach_take(ix->space, nr_slots(ix) * sizeof(*ix->slots));
	if (!ix->slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr_slots(ix); i++)
		ix->slots[i].key = UINT64_MAX;
	for (uint32_t c = 0; c < ix->nr_chunks; c++) {
		size_t i = reach_hash(ix, ix->chunks[c].key);

		while (ix->slots[i].key != UINT64_MAX)
			i = (i + 1) & (nr_slots(ix) - 1);
		ix->slots[i] = (struct reach_slot){ ix->chunks[c].key, c, ix->chunks[c].crowded };
	}
	return 0;
}

/*
 * The chain from the block before over those around it is all that can hold this one: who ended
 * before it ends for all that follow.
 */
static int outer_fill(struct reach_index *ix)
{
	ix->outer = reach_take(ix->space, (size_t)ix->nr * sizeof(*ix->outer));
	if (!ix->outer)
		return -ENOMEM;
	for (uint32_t i = 0; i < ix->nr; i++) {
		uint32_t at = i - 1;

		while (at != REACH_NONE &&
		       reach_block_end(&ix->blocks[at]) <= ix->blocks[i].address)
			at = ix->outer[at];
		ix->outer[i] = at;
	}
	return 0;
}

static int spilling_fill(struct reach_index *ix, const struct reach_chunk *c)
{
	uint64_t chunk_end = ((c->key + 1) << REACH_CHUNK_SHIFT) - 1;

	for (uint32_t i = c->first; i < c[1].first; i++) {
		uint64_t end = reach_block_end(&ix->blocks[i]);

		if (end && end - 1 > chunk_end && vec_push(&ix->spilling, i))
			return -ENOMEM;
	}
	return 0;
}

/* What the chunks have in common: bounds, nesting, blocks that reach out of one. */
static int gather(struct reach_index *ix)
{
	uint64_t high = ix->blocks[ix->nr - 1].address;
	bool nested = false;
	int rc = 0;

	for (uint32_t i = 0; i < ix->nr_chunks && !rc; i++) {
		const struct reach_chunk *c = &ix->chunks[i];

		nested |= c->nested;
		if (c->end && c->end - 1 > high)
			high = c->end - 1;
		if (c->spills)
			rc = spilling_fill(ix, c);
	}
	reach_count(ix->space, (int64_t)(ix->spilling.room * sizeof(*ix->spilling.v)));
	ix->low = ix->blocks[0].address;
	ix->span = high - ix->low;
	if (!rc && nested)
		rc = outer_fill(ix);
	return rc;
}

static bool has_popcnt(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_POPCNT;
}

int reach_index_init(struct reach_index *ix, const struct heap *h, struct reach_space *space,
		     unsigned nr_threads)
{
	bool fine = false;
	int rc;

	*ix = (struct reach_index){ .blocks = h->blocks,
				    .nr = (uint32_t)h->nr_blocks,
				    .space = space,
				    .popcnt = has_popcnt() };
	if (!ix->nr)
		return 0;
	ix->nr_chunks = chunks_walk(ix, NULL);
	ix->chunks = reach_take(space, (ix->nr_chunks + (size_t)1) * sizeof(*ix->chunks));
	if (!ix->chunks)
		return -ENOMEM;
	chunks_walk(ix, ix->chunks);
	ix->chunks[ix->nr_chunks].first = ix->nr;
	rc = fill(ix, 4, nr_threads);
	for (uint32_t i = 0; i < ix->nr_chunks; i++)
		fine |= ix->chunks[i].fine;
	if (!rc && fine) {
		lines_give(ix);
		rc = fill(ix, 3, nr_threads);
	}
	if (!rc)
		rc = gather(ix);
	if (!rc)
		rc = slots_fill(ix);
	return rc;
}

void reach_index_fini(struct reach_index *ix)
{
	if (ix->lines)
		lines_give(ix);
	if (ix->slots)
		reach_give(ix->space, ix->slots, nr_slots(ix) * sizeof(*ix->slots));
	if (ix->chunks)
		reach_give(ix->space, ix->chunks,
			   (ix->nr_chunks + (size_t)1) * sizeof(*ix->chunks));
	reach_give(ix->space, ix->outer, (size_t)ix->nr * sizeof(*ix->outer));
	if (ix->space)
		reach_count(ix->space, -(int64_t)(ix->spilling.room * sizeof(*ix->spilling.v)));
	vec_fini(&ix->spilling);
}
