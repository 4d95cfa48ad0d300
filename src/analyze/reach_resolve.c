/*
 * From addresses to blocks: looking up, a batch at a time. Three passes, so that what one word needs from memory is on its way while the
 * others' is asked for: the line; what it says (and then the block, for a pointer that is not one to a start); the block's size.
 */
#include "src/analyze/reach_index.h"

#define GROUP 64 /* whose lines fit into the nearest cache besides what is at hand */
#define MAX_DEPTH 64 /* blocks around an address that are tried; deeper than that nothing nests but what somebody made up */

enum how { EXACT, BEFORE };

struct probe {
	const struct reach_line *line;	/* NULL: search */
	uint32_t block;			/* the last that starts at or before the address; REACH_NONE = none */
	uint8_t how;
};

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

/* The last of the spilling blocks that starts at or before the address: in a chunk where none starts only they can be. */
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

static void find_line(const struct reach_index *ix, uint64_t address, struct probe *p)
{
	const struct reach_slot *slot = slot_of(ix, address);
	unsigned line_shift = ix->granule_shift + 6;

	p->line = NULL;
	if (!slot || slot->crowded)
		return;
	p->line = &ix->lines[((size_t)slot->chunk << (REACH_CHUNK_SHIFT - line_shift)) +
			     ((address & ((1 << REACH_CHUNK_SHIFT) - 1)) >> line_shift)];
	__builtin_prefetch(p->line);
}

/* In a few additions; what compilers call for processors that may lack an instruction for it is a function. */
static inline uint32_t count_bits(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555;
	v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
	return (uint32_t)(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

static void read_line(const struct reach_index *ix, uint64_t address, struct probe *p)
{
	unsigned bit = address >> ix->granule_shift & 63;
	uint64_t low_bits = address & ((1 << ix->granule_shift) - 1);

	p->how = BEFORE;
	if (!p->line) {
		p->block = search(ix, address);
		return;
	}
	p->block = p->line->before + count_bits(p->line->bits << (63 - bit)) - 1;
	if (p->line->bits >> bit & 1 && !low_bits)
		p->how = EXACT;
	else if (p->block != REACH_NONE)
		__builtin_prefetch(&ix->blocks[p->block]);
}

static struct reach_hit look_inside(const struct reach_index *ix, uint64_t address, uint32_t block)
{
	for (unsigned depth = 0; block != REACH_NONE && depth < MAX_DEPTH; depth++) {
		uint64_t offset = address - ix->blocks[block].address;

		if (offset < ix->blocks[block].size_bytes || !offset)
			return (struct reach_hit){ block, offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX };
		block = ix->outer ? ix->outer[block] : REACH_NONE;
	}
	return (struct reach_hit){ REACH_NONE, 0 };
}

static void resolve(const struct reach_index *ix, const uint64_t *address, unsigned nr, struct reach_hit *hits)
{
	struct probe probes[GROUP];

	for (unsigned i = 0; i < nr; i++)
		find_line(ix, address[i], &probes[i]);
	for (unsigned i = 0; i < nr; i++)
		read_line(ix, address[i], &probes[i]);
	for (unsigned i = 0; i < nr; i++) {
		if (probes[i].how == EXACT)
			hits[i] = (struct reach_hit){ probes[i].block, 0 };
		else
			hits[i] = look_inside(ix, address[i], probes[i].block);
	}
}

void reach_resolve(const struct reach_index *ix, const uint64_t *address, unsigned nr, struct reach_hit *hits)
{
	if (!ix->nr) {
		for (unsigned i = 0; i < nr; i++)
			hits[i].block = REACH_NONE;
		return;
	}
	for (unsigned at = 0; at < nr; at += GROUP)
		resolve(ix, address + at, nr - at < GROUP ? nr - at : GROUP, hits + at);
}
