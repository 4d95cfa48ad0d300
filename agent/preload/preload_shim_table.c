/* SPDX-License-Identifier: MIT */
/*
 * The table for programs that have pmm.h's full form in them: their calls through it are recorded
 * here, once, with the stack above the line that the macro named. They call the real allocator
 * themselves, past our hooks.
 */
#include "agent/preload/agent_preload.h"
#include "agent/agent_shim.h"

static bool ready(void);

struct pmm_shim_table pmm_shim_table = { SHIM_TABLE(ready) };

PMM_SHIM_NOTE(PMM_SHIM_NOTE_AGENT, pmm_shim_table);

/* Where not every call is recorded, hooks had better choose. */
static bool ready(void)
{
	struct pmm_shim_table *t = &pmm_shim_table;

	if (!preload_on() || agent.sampled || agent.min_size ||
	    agent.own_allocator || !agent.next.aligned_alloc)
		return false;
	t->malloc = agent.next.malloc;
	t->calloc = agent.next.calloc;
	t->realloc = agent.next.realloc;
	t->aligned_alloc = agent.next.aligned_alloc;
	t->free = agent.next.free;
	return true;
}
