/* SPDX-License-Identifier: MIT */
/*
 * Looking at the block tables: nothing here changes them. In a running process what is seen may be
 * gone when it is returned.
 */
#include "agent/block.h"

#include "agent/block_words.h"

bool block_get(uint64_t address, struct block_info *out)
{
	uint64_t *at = block_find(address);

	if (!at)
		return false;
	block_decode(at, &no_stamp, out);
	return is_block(out->word[0]);
}

bool block_site(uint64_t address, uint32_t *site)
{
	const uint64_t *at = block_find(address);
	uint64_t word = at ? LOAD(*at) : 0;

	*site = site_field(word);
	return is_block(word);
}

uint32_t block_thread(const struct block_info *b)
{
	uint32_t time = (uint32_t)(b->word[0] & PMM_WORD_TIME_MASK);

	if (is_wide(b->word[0]))
		return b->word[1] >> PMM_WIDE_THREAD_SHIFT & 0xffff;
	return time && time < LOAD(agent.ledger->nr_stamps) ? stamp_at(time)->thread : 0;
}

/* block_below() in one table. */
static bool below_in(enum pmm_table_id id, uint64_t address, uint64_t reach, uint64_t *at,
		     struct block_info *out)
{
	uint64_t granule = 1ull << shape[id].shift, leaf_bytes = granule << PMM_LEAF_BITS,
		 end = address > reach ? address - reach : 0;
	uint64_t place = address & ~(granule - 1);

	while (place + granule > end && place) {
		uint64_t first = place & ~(leaf_bytes - 1);
		uint64_t *leaf = word_find(id, first);

		for (; leaf && place >= first && place + granule > end; place -= granule) {
			uint64_t *words = &leaf[(place - first) / granule], word = LOAD(*words);

			*at = place +
			      (id == PMM_TABLE_HEAP ? sub_field(word) * 8 : 0);
			if (!is_block(word) || kind_of(word) == PMM_KIND_OTHER || *at > address ||
			    *at < end)
				continue;
			block_decode(words, &no_stamp, out);
			return true;
		}
		if (!leaf && !first)
			return false;
		if (!leaf)
			place = first - granule;
	}
	return false;
}

bool block_below(uint64_t address, uint64_t reach, uint64_t *at, struct block_info *out)
{
	struct block_info other;
	uint64_t other_at;
	bool found;

	if (address >> PMM_ADDRESS_BITS)
		return false;
	found = below_in(PMM_TABLE_HEAP, address, reach, at, out);
	if (!agent.dense || !below_in(PMM_TABLE_DENSE, address, reach, &other_at, &other) ||
	    (found && other_at < *at))
		return found;
	*at = other_at;
	*out = other;
	return true;
}

/* block_below() in the table of most blocks, word by word downwards, leaf by leaf. */
const uint64_t *block_span(uint64_t address, uint64_t reach, uint64_t *at, uint64_t *size)
{
	unsigned shift = shape[PMM_TABLE_HEAP].shift;
	uint64_t granule = address >> shift,
		 last = (address > reach ? address - reach : 0) >> shift;

	if (unlikely(address >> PMM_ADDRESS_BITS))
		return NULL;
	for (;;) {
		uint64_t first = granule & ~(uint64_t)(GRANULES - 1),
			 stop = last > first ? last : first;
		const uint64_t *leaf = word_find(PMM_TABLE_HEAP, first << shift);

		for (; leaf; granule--) {
			const uint64_t *words = leaf + (granule - first);
			uint64_t word = LOAD(*words);

			*at = (granule << shift) + sub_field(word) * 8;
			if (is_block(word) && *at <= address) {
				*size = size_of(words, word);
				return words;
			}
			if (granule == stop)
				break;
		}
		if (first <= last || !first)
			return NULL;
		granule = first - 1;
	}
}

bool block_there(const uint64_t *words, uint64_t address, uint64_t *size)
{
	uint64_t word = LOAD(*words);

	*size = size_of(words, word);
	return is_at(word, address);
}

bool block_near(uint64_t address)
{
	return address >> PMM_ADDRESS_BITS == 0 && word_find(PMM_TABLE_HEAP, address);
}
