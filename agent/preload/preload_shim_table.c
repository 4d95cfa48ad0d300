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

	if ((!A.next.malloc && !resolve()) || !agent_on() || A.sampled || A.min_size ||
	    A.own_allocator || !A.next.aligned_alloc)
		return false;
	t->malloc = A.next.malloc;
	t->calloc = A.next.calloc;
	t->realloc = A.next.realloc;
	t->aligned_alloc = A.next.aligned_alloc;
	t->free = A.next.free;
	return true;
}
