/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From addresses to blocks: looking up, in three steps: the line; what it says (and then the block,
 * for a pointer that is not one to a start); the block's size.
 */
#include "src/analyze/reach/reach_index.h"

/*
 * blocks around an address that are tried; deeper than that nothing nests but forged data
 */
#define MAX_DEPTH 64

static const struct reach_slot *slot_of(const struct reach_index *ix, uint64_t address)
{
	uint64_t key = address >> REACH_CHUNK_SHIFT;
	size_t mask = ((size_t)1 << (64 - ix->hash_shift)) - 1;

	for (size_t i = reach_hash(ix, key);; i = (i + 1) & mask) {
		if (ix->slots[i].key == key)
			return &ix->slots[i];
		if (ix->slots[i].key == UINT64_MAX)
			return NULL;
	}
}

/*
 * The last of the spilling blocks that starts at or before the address: in a chunk where none
 * starts only they can be.
 */
static uint32_t last_spilling(const struct reach_index *ix, uint64_t address)
{
	size_t low = 0, high = ix->spilling.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ix->blocks[ix->spilling.v[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? ix->spilling.v[low - 1] : REACH_NONE;
}

static uint32_t search(const struct reach_index *ix, uint64_t address)
{
	const struct reach_slot *slot = slot_of(ix, address);
	uint32_t first, block;

	if (!slot)
		return last_spilling(ix, address);
	first = ix->chunks[slot->chunk].first;
	block = reach_first_from(ix, first, address);
	if (block < ix->nr && ix->blocks[block].address == address)
		return block;
	return block - 1;
}

static inline void find_line(const struct reach_index *ix, uint64_t address, struct reach_probe *p)
{
	const struct reach_slot *slot = slot_of(ix, address);
	unsigned word;

	p->line = NULL;
	if (!slot || slot->crowded)
		return;
	word = (address & ((1 << REACH_CHUNK_SHIFT) - 1)) >> (ix->granule_shift + 6);
	p->line = &ix->lines[(size_t)slot->chunk * ix->chunk_lines + word / REACH_LINE_WORDS];
	p->word = (uint8_t)(word % REACH_LINE_WORDS);
	__builtin_prefetch(p->line);
}

static inline void read_line(const struct reach_index *ix, uint64_t address, struct reach_probe *p)
{
	unsigned bit = address >> ix->granule_shift & 63;
	uint64_t low_bits = address & ((1 << ix->granule_shift) - 1), bits;

	p->exact = false;
	if (!p->line) {
		p->block = search(ix, address);
		return;
	}
	bits = p->line->bits[p->word];
	p->block = p->line->before + p->line->within[p->word] +
		   (uint32_t)__builtin_popcountll(bits << (63 - bit)) - 1;
	if (bits >> bit & 1 && !low_bits)
		p->exact = true;
	else if (p->block != REACH_NONE)
		__builtin_prefetch(&ix->blocks[p->block]);
}

static struct reach_hit look_inside(const struct reach_index *ix, uint64_t address, uint32_t block)
{
	for (unsigned depth = 0; block != REACH_NONE && depth < MAX_DEPTH; depth++) {
		uint64_t offset = address - ix->blocks[block].address;

		if (offset < ix->blocks[block].size_bytes || !offset)
			return (struct reach_hit){ block, offset < UINT32_MAX ? (uint32_t)offset
									      : UINT32_MAX };
		block = ix->outer ? ix->outer[block] : REACH_NONE;
	}
	return (struct reach_hit){ REACH_NONE, 0 };
}

static inline unsigned all_but(unsigned nr, unsigned lag)
{
	return nr > lag ? nr - lag : 0;
}

static inline __attribute__((always_inline)) void resolve(const struct reach_index *ix,
							  struct reach_batch *b, unsigned lag)
{
	unsigned asked = b->asked, read = b->read, found = b->found;

	for (; asked < b->nr; asked++)
		find_line(ix, b->address[asked], &b->probes[asked]);
	for (; read < all_but(asked, lag); read++)
		read_line(ix, b->address[read], &b->probes[read]);
	for (; found < all_but(asked, 2 * lag); found++) {
		if (b->probes[found].exact)
			b->hits[found] = (struct reach_hit){ b->probes[found].block, 0 };
		else
			b->hits[found] = look_inside(ix, b->address[found], b->probes[found].block);
	}
	b->asked = asked;
	b->read = read;
	b->found = found;
}

/*
 * Counting bits takes one instruction where the processor has it, else a call. Not by
 * target_clones, which asks the processor at each start of pmm.
 */
__attribute__((target("popcnt")))
static void resolve_counting(const struct reach_index *ix, struct reach_batch *b, unsigned lag)
{
	resolve(ix, b, lag);
}

static void resolve_calling(const struct reach_index *ix, struct reach_batch *b, unsigned lag)
{
	resolve(ix, b, lag);
}

void reach_resolve(const struct reach_index *ix, struct reach_batch *b, unsigned lag)
{
	if (ix->nr) {
		(ix->popcnt ? resolve_counting : resolve_calling)(ix, b, lag);
		return;
	}
	for (; b->found < b->nr; b->found++)
		b->hits[b->found].block = REACH_NONE;
}

struct reach_hit reach_find(const struct reach_index *ix, uint64_t address)
{
	struct reach_probe p;

	if (!ix->nr)
		return (struct reach_hit){ REACH_NONE, 0 };
	find_line(ix, address, &p);
	read_line(ix, address, &p);
	return look_inside(ix, address, p.block);
}
