/*
 * The ledger's memory: a bump allocator in the slot.
 */
#ifndef AGENT_ARENA_H
#define AGENT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"

/* Zeroed memory in the ledger, `align` a power of two >= 64. NULL at the limit or when there is no memory. */
void *arena_get(size_t bytes, size_t align);

/* Give bytes [from, to) of the slot, whole pages, access and backing. */
bool arena_back(uint64_t from, uint64_t to);

static inline pmm_ref arena_ref(const void *p)
{
	return (pmm_ref)((uint64_t)((const char *)p - A.base) >> PMM_REF_SHIFT);
}

static inline void *arena_at(pmm_ref ref)
{
	return A.base + ((uint64_t)ref << PMM_REF_SHIFT);
}

/* Element `nr` of a chunked array, creating the chunk: NULL when there is no room. */
void *arena_chunk(pmm_ref *dir, uint32_t nr, uint32_t shift, size_t bytes);

/* Copy a string into the arena; 0 when there is no room. */
pmm_ref arena_string(const char *s, size_t length);

#endif
