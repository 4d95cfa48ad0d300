/* SPDX-License-Identifier: MIT */
/*
 * The agent's own memory, noted where it can be found: in the agent's data.
 */
#include "agent/guard/own.h"

#include "agent/agent.h"
#include "agent/sys.h"

#define MAX_OWN		8

static struct pmm_own own[MAX_OWN];
static uint32_t nr_own;

void own_note(enum pmm_own_what what, const void *start, size_t bytes)
{
	uint32_t i = ADD(nr_own, 1);
	struct pmm_own *o = &own[i];

	if (i >= MAX_OWN)
		return; /* what it points to counts as reached: leaks are missed, none are made up
			 */
	o->start = (uint64_t)start;
	o->end = (uint64_t)start + bytes;
	o->what = what;
	STORE_RELEASE(o->tag, PMM_OWN_TAG ^ (uint64_t)o);
}
