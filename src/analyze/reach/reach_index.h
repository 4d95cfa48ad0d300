/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to the block it is in, for a search that asks some hundred million times.
 *
 * The address space is cut into chunks of 1 MiB; those in which blocks start are found by a hash of
 * the address. A chunk has one bit per granule (16 bytes; 8 where blocks are closer) that says
 * whether a block starts there; as many of them as fit make a line of the processor's cache, with
 * the numbers of blocks that start before them. So a pointer to a block's start costs one cache
 * miss at most and no look at the block itself; a pointer into a block's middle finds the last
 * block that starts before it by counting bits, and then needs its size. Chunks in which two blocks
 * start in one granule, or a block not at a granule's start, have no lines; there the blocks are
 * searched by halving.
 */
#ifndef ANALYZE_REACH_REACH_INDEX_H
#define ANALYZE_REACH_REACH_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/reach/reach_space.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

#define REACH_NONE		UINT32_MAX
#define REACH_CHUNK_SHIFT	20
#define REACH_BATCH		512

#define REACH_LINE_WORDS	6

/* 64 bytes: the index of a large heap is larger than the caches, so its size is its speed. */
struct reach_line {
	uint64_t bits[REACH_LINE_WORDS];	/* granules in which a block starts */
	/* blocks that start at lower addresses than this line's */
	uint32_t before;
	/* of this line's, those that start before the word's */
	uint16_t within[REACH_LINE_WORDS];
};

struct reach_chunk {
	uint64_t key;		/* address >> REACH_CHUNK_SHIFT */
	uint64_t end;		/* highest end of a block that starts here */
	uint32_t first;		/* block */
	bool crowded;		/* no lines */
	bool fine;		/* would need lines of 8-byte granules */
	bool nested;		/* a block here starts within the one before it */
	bool spills;		/* a block here reaches out of the chunk */
	uint64_t largest;	/* size of a block here */
};

struct reach_slot {
	uint64_t key;		/* UINT64_MAX = empty */
	uint32_t chunk;
	uint32_t crowded;
};

struct reach_index {
	const struct heap_block *blocks;
	uint32_t nr;
	/* all blocks are in [low, low + span]; the last byte counts */
	uint64_t low, span;
	unsigned granule_shift, chunk_lines;
	struct reach_slot *slots;
	unsigned hash_shift;
	struct reach_line *lines;
	struct reach_chunk *chunks;	/* by address, one more than nr_chunks: first = nr */
	uint32_t nr_chunks;
	/*
	 * innermost block that holds a block's start, REACH_NONE = none; NULL: no block is in
	 * another
	 */
	uint32_t *outer;
	VEC(uint32_t) spilling;		/* blocks that reach out of their chunk, by address */
	struct reach_space *space;
	bool popcnt;			/* the processor counts bits in one instruction */
};

struct reach_hit {
	uint32_t block;			/* REACH_NONE = in no block */
	uint32_t offset;		/* into the block; UINT32_MAX = that or more */
};

/* Where a block ends; what would wrap round ends with the address space. */
static inline uint64_t reach_block_end(const struct heap_block *b)
{
	return b->size_bytes > UINT64_MAX - b->address ? UINT64_MAX : b->address + b->size_bytes;
}

/* The first word at or above an address; of the very last bytes, the word they are in. */
static inline uint64_t reach_word_up(uint64_t address)
{
	return address > UINT64_MAX - 7 ? UINT64_MAX & ~7ull : (address + 7) & ~7ull;
}

/* Where the words of a block begin, and where they end; not after that if it has none. */
static inline uint64_t reach_words_from(const struct heap_block *b)
{
	return reach_word_up(b->address);
}

static inline uint64_t reach_words_to(const struct heap_block *b)
{
	return reach_block_end(b) & ~7ull;
}

/* Is a block within this one? Then its bytes are not this one's. */
static inline bool reach_has_inner(const struct reach_index *ix, uint32_t block)
{
	return ix->outer && block + 1 < ix->nr &&
	       ix->blocks[block + 1].address < reach_block_end(&ix->blocks[block]);
}

/* The slot at which the search for a chunk begins. */
static inline size_t reach_hash(const struct reach_index *ix, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> ix->hash_shift);
}

/* Build it with nr_threads. 0 or -ENOMEM. Released with reach_index_fini(). */
int reach_index_init(struct reach_index *ix, const struct heap *h, struct reach_space *space,
		     unsigned nr_threads);
void reach_index_fini(struct reach_index *ix);

struct reach_probe {
	const struct reach_line *line;	/* NULL: search */
	/* the last that starts at or before the address; REACH_NONE = none */
	uint32_t block;
	uint8_t word;			/* of the line */
	bool exact;			/* the block starts there */
};

/*
 * Addresses on their way to blocks, in steps: what each needs from memory is asked for in one and
 * used in the next.
 */
struct reach_batch {
	unsigned nr;				/* taken */
	/* so many of them have their line on the way, the line read, the hit */
	unsigned asked, read, found;
	uint64_t address[REACH_BATCH];
	struct reach_probe probes[REACH_BATCH];
	struct reach_hit hits[REACH_BATCH];
};

/*
 * Take each address a step on; but for the last `lag` the second, and for twice as many the third,
 * so that their loads overlap with all that is done until the next call. 0: find all. Any address
 * is allowed. From all threads.
 */
void reach_resolve(const struct reach_index *ix, struct reach_batch *b, unsigned lag);

/* The same for one address. */
struct reach_hit reach_find(const struct reach_index *ix, uint64_t address);

/* First block from `from` on that starts at `address` or later; nr if none does. */
uint32_t reach_first_from(const struct reach_index *ix, uint32_t from, uint64_t address);

#endif
