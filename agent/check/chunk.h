/* SPDX-License-Identifier: MIT */
/*
 * What a block of glibc's malloc shows of itself: a chunk begins CHUNK_HEAD_BYTES before it, with
 * two words, the size of the chunk before where that one is free and its own, whose low bits are
 * flags (malloc/malloc.c, "malloc_chunk").
 */
#ifndef AGENT_CHECK_CHUNK_H
#define AGENT_CHECK_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_HEAD_BYTES	16u
#define CHUNK_LEAST_BYTES	32u
#define CHUNK_BEFORE_USED	1u	/* flags: the chunk before is in use */
#define CHUNK_MAPPED		2u	/* ... mapped by itself */
#define CHUNK_FLAGS		7u	/* ... and of an arena that is not the main one */

static inline uint64_t chunk_bytes(uint64_t word)
{
	return word & ~(uint64_t)CHUNK_FLAGS;
}

/* Can this word be the size of a chunk, not mapped by itself, of less than `most` bytes? */
static inline bool chunk_sized(uint64_t word, uint64_t most)
{
	return word - CHUNK_LEAST_BYTES < most - CHUNK_LEAST_BYTES && !(word & (CHUNK_MAPPED | 8));
}

/*
 * Can these two words before a block at `address` be those of a chunk mapped by itself? Its size,
 * with what an alignment left before it, and its place in the first page are such as glibc's own
 * munmap_chunk() asks for.
 */
static inline bool chunk_mapped(uint64_t address, uint64_t before, uint64_t word, uint64_t page)
{
	uint64_t start = address - CHUNK_HEAD_BYTES - before, bytes = before + chunk_bytes(word),
		 offset = address % page;

	return word & CHUNK_MAPPED && start < address && bytes > before + CHUNK_HEAD_BYTES &&
	       !((start | bytes) % page) && !(offset & (offset - 1));
}

#endif
