/* SPDX-License-Identifier: MIT */
/*
 * What the check form's hooks share: agent/check/agent_check.h around a context that is found and
 * left here.
 */
#ifndef AGENT_CHECK_CHECK_HOOKS_H
#define AGENT_CHECK_CHECK_HOOKS_H

#include "agent/check/agent_check.h"
#include "agent/guard/guard.h"
#include "agent/preload/agent_preload.h"

/*
 * Is the block at p, which is about to be released or resized, none of ours and not recorded
 * either?
 */
static inline bool hooks_passes(const void *p)
{
	return unlikely(agent.sampled) && !*sample_filter((uint64_t)p) &&
	       likely(!guard_in_pool((uint64_t)p));
}

/*
 * A block, aligned to `align` (a power of two; 0 = as malloc does). NULL on failure; errno is set
 * then as malloc sets it.
 */
void *hooks_alloc(size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from);

/* Release a block or NULL. */
void hooks_free(void *p, const struct check_said *said, const struct caller *from);

#endif
