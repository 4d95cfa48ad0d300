/* SPDX-License-Identifier: MIT */
/*
 * The ledger's memory: a bump allocator in the slot.
 */
#ifndef AGENT_AGENT_ARENA_H
#define AGENT_AGENT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/sys.h"

/*
 * Zeroed memory in the ledger, `align` a power of two >= 64. NULL at the limit or when there is no
 * memory.
 */
void *arena_get(size_t bytes, size_t align);

/* Is there more room than the last eighth of the arena? */
static inline bool arena_roomy(void)
{
	const struct pmm_ledger *l = agent.ledger;

	return LOAD(l->arena_used) < l->arena_end - (l->arena_end - l->arena_off) / 8;
}

/*
 * Is there room for more stacks, and for more parts of the block tables? The last eighth is for
 * blocks: a block that is charged to no stack is nearer to the truth than one that is missing. In
 * the check form it is for stacks, which are those of errors then; blocks have their facts in their
 * heads.
 */
static inline bool arena_for_stacks(void)
{
	return agent.stacks_last || arena_roomy();
}

static inline bool arena_for_blocks(void)
{
	return !agent.stacks_last || arena_roomy();
}

/*
 * Is there room for a cache, that is for what only saves time? Not in the last quarter, where it
 * would be instead of what is lost without room; nor where the arena cannot grow.
 */
static inline bool arena_for_cache(size_t bytes)
{
	const struct pmm_ledger *l = agent.ledger;
	uint64_t end = LOAD(l->arena_used) + bytes + PMM_PAGE;

	return end <= l->arena_end - (l->arena_end - l->arena_off) / 4 &&
	       (!agent.no_growth || end <= LOAD(l->arena_ready));
}

/* Give bytes [from, to) of the slot, whole pages, access and backing. */
bool arena_back(uint64_t from, uint64_t to);

static inline pmm_ref arena_ref(const void *p)
{
	return (pmm_ref)((uint64_t)((const char *)p - agent.base) >> PMM_REF_SHIFT);
}

static inline void *arena_at(pmm_ref ref)
{
	return agent.base + ((uint64_t)ref << PMM_REF_SHIFT);
}

/* Element `nr` of a chunked array, creating the chunk: NULL when there is no room. */
void *arena_chunk(pmm_ref *dir, uint32_t nr, uint32_t shift, size_t bytes);

/* Copy a string into the arena; 0 when there is no room. */
pmm_ref arena_string(const char *s, size_t length);

#endif
