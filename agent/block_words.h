/* SPDX-License-Identifier: MIT */
/*
 * The block tables' shape and words (include/pmm/ledger.h), for the files that look at them:
 * block.c, block_look.c, record.c. And the usual case of what an event does to them, inline.
 */
#ifndef AGENT_BLOCK_WORDS_H
#define AGENT_BLOCK_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block.h"
#include "agent/sys.h"

#define GRANULES	(1u << PMM_LEAF_BITS)

/*
 * The tables' shapes: granule, leaves per mid. Together with 256-granule leaves they cover
 * PMM_ADDRESS_BITS.
 */
static const struct { uint8_t shift, mid_bits; } shape[PMM_NR_TABLES] = {
	[PMM_TABLE_HEAP]  = { BLOCK_HEAP_SHIFT, BLOCK_HEAP_MID_BITS },
	[PMM_TABLE_DENSE] = {  3, 15 },
	[PMM_TABLE_MAP]   = { 11, 13 },
};

/* of nobody */
static const struct block_stamp no_stamp = { .now = BLOCK_NEVER, .number = UINT32_MAX };

/*
 * Leaves of HEAP near the heap's start are found by one load: a table, private to the process,
 * which fork wipes like the ledger. A leaf stays where it is for ever.
 */
#define LEAVES_REACH	(1ull << 30)
#define LEAVES_SHIFT	(BLOCK_HEAP_SHIFT + PMM_LEAF_BITS)
#define LEAVES_BYTES	((LEAVES_REACH >> LEAVES_SHIFT) * sizeof(uint64_t *))
#define LEAVES_NOWHERE	(1ull << 63)	/* no address is within reach of that */

static inline uint64_t leaves_around(uint64_t address)
{
	return (address & ~((1ull << LEAVES_SHIFT) - 1)) - LEAVES_REACH / 2;
}

/* The word for an address; NULL where there is no leaf. */
static inline uint64_t *word_find(enum pmm_table_id id, uint64_t address)
{
	unsigned shift = shape[id].shift, mid_bits = shape[id].mid_bits;
	unsigned leaf_shift = shift + PMM_LEAF_BITS;
	struct pmm_mid *mid;
	pmm_ref ref;

	if (id == PMM_TABLE_HEAP) {
		uint64_t off = address - LOAD(agent.leaves_from), *leaf;

		if (likely(off < agent.leaves_reach) &&
		    likely((leaf = LOAD_ACQUIRE(agent.leaves[off >> LEAVES_SHIFT])) != NULL))
			return leaf + (address >> shift & (GRANULES - 1));
	}
	ref = LOAD_ACQUIRE(
		((pmm_ref *)(agent.base + PMM_TOP_OFF(id)))[address >> (leaf_shift + mid_bits)]);
	if (unlikely(!ref))
		return NULL;
	mid = arena_at(ref);
	ref = LOAD_ACQUIRE(mid->leaf[address >> leaf_shift & ((1u << mid_bits) - 1)]);
	if (unlikely(!ref))
		return NULL;
	return (uint64_t *)arena_at(ref) + (address >> shift & (GRANULES - 1));
}

/* Can blocks be at this address? Not beyond the tables nor between words. */
static inline bool address_ok(uint64_t address)
{
	return likely(!(address & ~(((1ull << PMM_ADDRESS_BITS) - 1) & ~7ull)));
}

static inline struct pmm_stamp *stamp_at(uint32_t number)
{
	return (struct pmm_stamp *)arena_at(agent.ledger->stamp_dir[number >> PMM_STAMP_SHIFT]) +
	       (number & ((1u << PMM_STAMP_SHIFT) - 1));
}

static inline uint64_t sub_of(uint64_t address)
{
	return address >> 3 & 3;
}

static inline uint64_t sub_field(uint64_t word)
{
	return word >> PMM_WORD_SUB_SHIFT & 3;
}

static inline uint32_t kind_of(uint64_t word)
{
	return (uint32_t)(word >> PMM_WORD_KIND_SHIFT);
}

static inline bool is_block(uint64_t word)
{
	return kind_of(word) != PMM_KIND_NONE;
}

static inline uint64_t size_field(uint64_t word)
{
	return word >> PMM_WORD_SIZE_SHIFT & 63;
}

static inline bool is_wide(uint64_t word)
{
	return size_field(word) == PMM_SIZE_WIDE;
}

/*
 * Where sizes are mixed it is not known in advance which blocks are wide: no branch, that is all
 * bits set or none where `a` is more than `b`, and one of two words by that.
 */
static inline uint64_t mask_above(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)(b - a) >> 63);
}

static inline uint64_t either(uint64_t mask, uint64_t set, uint64_t clear)
{
	return clear ^ ((clear ^ set) & mask);
}

static inline uint64_t wide_size(uint64_t size)
{
	return mask_above(size, PMM_SIZE_SMALL);
}

static inline uint32_t site_field(uint64_t word)
{
	return word >> PMM_WORD_SITE_SHIFT & (PMM_MAX_SITES - 1);
}

static inline uint64_t size_of(const uint64_t *at, uint64_t word)
{
	return is_wide(word) ? LOAD(at[1]) & PMM_SIZE_MAX : size_field(word);
}

/* Is this word of HEAP that of a block which begins at `address`? */
static inline bool is_at(uint64_t word, uint64_t address)
{
	return is_block(word) && sub_field(word) == sub_of(address);
}

/* Where the live block that begins at `address` has its words; NULL: there is none. */
static inline uint64_t *block_find(uint64_t address)
{
	uint64_t *at;

	if (unlikely(!address_ok(address)))
		return NULL;
	at = word_find(PMM_TABLE_HEAP, address);
	if (likely(at && is_at(LOAD(*at), address)))
		return at;
	if (!agent.dense)
		return NULL;
	at = word_find(PMM_TABLE_DENSE, address);
	return at && is_block(LOAD(*at)) && kind_of(LOAD(*at)) != PMM_KIND_OTHER ? at : NULL;
}

/*
 * Does the block whose words are at `place`, `word` the first, share a byte with the one at
 * `address`, which begins in the same granule? One of no bytes has the first.
 */
static inline bool word_overlaps(const uint64_t *place, uint64_t word, uint64_t address,
				 uint64_t size)
{
	uint64_t bytes = size_of(place, word);
	uint64_t begin = (address & ~31ull) + 8 * sub_field(word);

	return begin < address + size + !size && address < begin + bytes + !bytes;
}

/*
 * The words of a block in whose place one of `size` bytes is to be entered, whose first word will
 * be at `place`, and that first word in *word; NULL: none. It was freed past the hooks. A
 * neighbour's, with an allocator whose blocks share granules, may be at `place` only: one that is
 * wide has the next granule for itself as well. (The word behind a leaf's last granule is never
 * that of a block.)
 */
static inline uint64_t *word_in_the_way(uint64_t address, uint64_t *place, uint64_t size,
					uint64_t *word)
{
	uint64_t i = address >> 5 & (GRANULES - 1);

	*word = LOAD(place[0]);
	if (is_block(*word) && (!agent.dense || word_overlaps(place, *word, address, size)))
		return place;
	if (i && is_wide(*word = LOAD(place[-1])) && is_block(*word))
		return place - 1;
	return size > PMM_SIZE_SMALL && is_block(*word = LOAD(place[1])) ? place + 1 : NULL;
}

/*
 * May there be such a one? With one branch, as neither sizes nor neighbours are known in advance.
 * What is before a leaf is something else of the arena.
 */
static inline bool word_perhaps_in_the_way(const uint64_t *place, uint64_t size)
{
	uint64_t behind = LOAD(place[1]) & wide_size(size);

	return is_block(LOAD(place[0]) | behind) | is_wide(LOAD(place[-1]));
}

static inline uint32_t small_birth(uint32_t number)
{
	return pmm_time_of_tick(number && number < LOAD(agent.ledger->nr_stamps)
					? stamp_at(number)->tick
					: agent.ledger->start_tick);
}

/*
 * What a block's words say. `now` as for block_del(). Without a branch on whether a block is wide:
 * where sizes are mixed that is not known in advance. The word behind a block's first is there in
 * any case.
 */
static inline void block_decode(const uint64_t *at, const struct block_stamp *now,
				struct block_info *out)
{
	uint64_t word = LOAD(*at), behind = LOAD(at[1]);
	uint32_t time = word & PMM_WORD_TIME_MASK;
	uint64_t wide = mask_above(size_field(word), PMM_SIZE_WIDE - 1);

	out->word[0] = word;
	out->word[1] = behind;
	out->site = site_field(word);
	out->kind = kind_of(word);
	out->size = either(wide, behind & PMM_SIZE_MAX, size_field(word));
	out->birth = (uint32_t)either(wide, time, now->last_time);
	if (unlikely((time ^ now->number) & ~wide))
		out->birth = small_birth(time);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Does a scanner want to know what changes? Asked within an event: see agent/seqlock.h. */
static inline bool block_watched(void)
{
	return unlikely(LOAD(agent.ledger->changing));
}

static inline uint64_t word_of(uint64_t time, uint64_t site, uint64_t sub, uint64_t size,
			       uint64_t kind)
{
	return time | site << PMM_WORD_SITE_SHIFT | sub << PMM_WORD_SUB_SHIFT |
	       size << PMM_WORD_SIZE_SHIFT | kind << PMM_WORD_KIND_SHIFT;
}

/* Is the context's stamp for the block's tick? */
static inline bool block_stamped(const struct block_new *b)
{
	return b->tick == b->stamp->now;
}

/* The words of a new block, which is stamped. */
static inline void block_words(uint64_t address, const struct block_new *b, uint64_t word[2])
{
	uint64_t wide = wide_size(b->size);
	uint64_t time = either(wide, b->stamp->time, b->stamp->number);
	uint64_t size = either(wide, PMM_SIZE_WIDE, b->size);

	word[0] = word_of(time, b->site, sub_of(address), size, b->kind);
	word[1] = b->size | (uint64_t)b->thread << PMM_WIDE_THREAD_SHIFT;
}

/*
 * Where the word of a block at this address will be, already being fetched; NULL when there is no
 * such place yet.
 */
static inline uint64_t *block_place(uint64_t address)
{
	uint64_t *at = likely(address_ok(address)) ? word_find(PMM_TABLE_HEAP, address) : NULL;

	arch_prefetch(at);
	return at;
}

/*
 * The first word of a block in a granule that others may begin in: false, one has it. Where one of
 * two threads enters its block, and the other another, one of them gets the word.
 */
static inline bool word_share(uint64_t *at, uint64_t word)
{
	uint64_t was = LOAD(*at);

	do
		if (is_block(was))
			return false;
	while (!(*agent.single_threaded ? arch_cas_local(at, &was, word) : CAS(*at, was, word)));
	return true;
}

/*
 * Where one of the two _quick functions returns false it has changed no block's first word, and the
 * one of agent/block.h without _quick, which does any case, is to be called. Only within an event:
 * they look whether a scanner wants marks before they store, and it waits for events that have
 * begun. Blocks of the table HEAP only; usual: the caller knows that this is one.
 */
static inline __attribute__((always_inline)) bool
block_add_quick(uint64_t address, uint64_t *place, const struct block_new *b, bool usual)
{
	uint64_t word[2], nowhere;

	if (unlikely(!place || (!usual && b->kind == PMM_KIND_OTHER) || !block_stamped(b) ||
		     block_watched()))
		return false;
	block_words(address, b, word);
	STORE(*(uint64_t *)either(wide_size(b->size), (uint64_t)(place + 1), (uint64_t)&nowhere),
	      word[1]);
	if (unlikely(agent.dense))
		return word_share(place, word[0]);
	STORE_RELEASE(*place, word[0]);
	return true;
}

static inline __attribute__((always_inline)) bool
block_del_quick(uint64_t address, const struct block_stamp *now, struct block_info *out)
{
	uint64_t *at = likely(address_ok(address)) ? word_find(PMM_TABLE_HEAP, address) : NULL;

	if (unlikely(!at || block_watched()))
		return false;
	block_decode(at, now, out);
	if (unlikely(!is_at(out->word[0], address)))
		return false;
	STORE_RELEASE(*at, 0);
	return true;
}

#endif
