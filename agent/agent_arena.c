/* SPDX-License-Identifier: MIT */
/*
 * The ledger's memory: a bump allocator in the slot, backed for certain before it is used.
 *
 * The whole slot was mapped without access at the start. Growing is mprotect and
 * MADV_POPULATE_WRITE, which answers "no memory" with an error where a first touch would answer
 * with SIGBUS. No lock: threads that grow at the same time do the same work twice, which is
 * harmless.
 */
#include "agent/agent_arena.h"

#include "agent/agent_core.h"
#include "agent/segment.h"
#include "agent/sys.h"

#define GROW_FIRST	(16ull << 10)	/* each page costs 3 us, and small programs need few */
#define GROW_MIN	(64ull << 10)	/* ... doubled up to this */
#define GROW_MAX	(1024ull << 10)

/* Give [from, to) of the ledger backing. */
bool arena_back(uint64_t from, uint64_t to)
{
	if (unlikely(agent.no_growth)) {
		STORE(agent.ledger->off_reason, PMM_OFF_NO_GROWTH);
		return false;
	}
	return segment_back(agent.base + from, to - from);
}

static bool arena_grow(struct pmm_ledger *l, uint64_t need)
{
	uint64_t ready = LOAD_ACQUIRE(l->arena_ready);
	uint64_t grown = ready - l->arena_off, step = grown / 8, to;

	if (step < GROW_MIN)
		step = grown < GROW_MIN ? grown : GROW_MIN;
	if (step < GROW_FIRST)
		step = GROW_FIRST;
	if (step > GROW_MAX)
		step = GROW_MAX;
	to = (need + step) & ~(PMM_PAGE - 1);
	if (to > l->arena_end)
		to = l->arena_end;
	if (to > ready && !arena_back(ready, to))
		return false;
	agent_note_break();
	while (ready < to && !CAS(l->arena_ready, ready, to))
		;
	return true;
}

void *arena_get(size_t bytes, size_t align)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t used = LOAD(l->arena_used);
	uint64_t start, end;

	do {
		start = (used + align - 1) & ~(uint64_t)(align - 1);
		end = (start + bytes + 63) & ~63ull;
		if (end > l->arena_end)
			return NULL;
		if (end > LOAD_ACQUIRE(l->arena_ready) && !arena_grow(l, end))
			return NULL;
	} while (!CAS(l->arena_used, used, end));
	return agent.base + start;
}

void *arena_chunk(pmm_ref *dir, uint32_t nr, uint32_t shift, size_t bytes)
{
	pmm_ref *slot = &dir[nr >> shift];
	pmm_ref ref = LOAD_ACQUIRE(*slot);

	if (unlikely(!ref)) {
		void *chunk = arena_get(bytes << shift, 64);
		pmm_ref none = 0;

		if (!chunk)
			return NULL;
		ref = arena_ref(chunk);
		if (!CAS(*slot, none, ref))	/* another thread was faster; the chunk is lost */
			ref = none;
	}
	return (char *)arena_at(ref) + (nr & ((1u << shift) - 1)) * bytes;
}

pmm_ref arena_string(const char *s, size_t length)
{
	char *copy = arena_get(length + 1, 64);

	if (!copy)
		return 0;
	memcpy(copy, s, length);
	return arena_ref(copy);
}
