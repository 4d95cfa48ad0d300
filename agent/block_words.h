/* SPDX-License-Identifier: MIT */
/*
 * The block tables' shape and words (include/pmm/ledger.h), for the files that look at them:
 * block.c, block_look.c, record.c.
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

static const struct block_stamp no_stamp = { .number = UINT32_MAX };	/* of nobody */

/* The word for an address; NULL where there is no leaf. */
static inline uint64_t *word_find(enum pmm_table_id id, uint64_t address)
{
	unsigned shift = shape[id].shift, mid_bits = shape[id].mid_bits;
	unsigned leaf_shift = shift + PMM_LEAF_BITS;
	pmm_ref ref = LOAD_ACQUIRE(
		((pmm_ref *)(agent.base + PMM_TOP_OFF(id)))[address >> (leaf_shift + mid_bits)]);
	struct pmm_mid *mid;

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
	return likely(address >> PMM_ADDRESS_BITS == 0 && !(address & 7));
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

static inline uint32_t site_field(uint64_t word)
{
	return word >> PMM_WORD_SITE_SHIFT & (PMM_MAX_SITES - 1);
}

static inline uint64_t size_of(const uint64_t *at, uint64_t word)
{
	return is_wide(word) ? LOAD(at[1]) & PMM_SIZE_MAX : size_field(word);
}

/* Where the live block that begins at `address` has its words; NULL: there is none. */
static inline uint64_t *block_find(uint64_t address)
{
	uint64_t *at, word;

	if (unlikely(!address_ok(address)))
		return NULL;
	at = word_find(PMM_TABLE_HEAP, address);
	if (likely(at)) {
		word = LOAD(*at);
		if (likely(is_block(word) && (word >> PMM_WORD_SUB_SHIFT & 3) == sub_of(address)))
			return at;
	}
	if (!agent.dense)
		return NULL;
	at = word_find(PMM_TABLE_DENSE, address);
	return at && is_block(LOAD(*at)) && kind_of(LOAD(*at)) != PMM_KIND_OTHER ? at : NULL;
}

/*
 * The words of a block in whose place one of `size` bytes is to be entered, whose first word will
 * be at `place`; NULL: none. It was freed past the hooks, as blocks of this table are a granule
 * apart and those that are wide have the next granule for themselves as well.
 */
static inline uint64_t *word_in_the_way(uint64_t address, uint64_t *place, uint64_t size)
{
	uint64_t i = address >> 5 & (GRANULES - 1);

	if (unlikely(is_block(LOAD(place[0]))))
		return place;
	if (i && unlikely(is_wide(LOAD(place[-1]))) && is_block(LOAD(place[-1])))
		return place - 1;
	return size > PMM_SIZE_SMALL && i < GRANULES - 1 && unlikely(is_block(LOAD(place[1])))
		       ? place + 1
		       : NULL;
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
	uint64_t word = LOAD(*at), behind = LOAD(at[1]), wide = -(uint64_t)is_wide(word);
	uint32_t time = word & PMM_WORD_TIME_MASK;

	out->word[0] = word;
	out->word[1] = behind;
	out->site = site_field(word);
	out->kind = kind_of(word);
	out->size = (behind & PMM_SIZE_MAX & wide) | (size_field(word) & ~wide);
	out->birth = (time & (uint32_t)wide) | (now->last_time & ~(uint32_t)wide);
	if (unlikely((time ^ now->number) & ~(uint32_t)wide))
		out->birth = small_birth(time);
}

#endif
