/* SPDX-License-Identifier: MIT */
/*
 * Blocks of which a finding says that a function overwrites their canary or poison (struct
 * pmm_reported).
 */
#ifndef AGENT_CHECK_REPORTED_H
#define AGENT_CHECK_REPORTED_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/check/agent_check.h"

/* The ledger says where the table is. A forked child has its parent's. */
void reported_start(void);

/* A finding says so of the block at this address. */
void reported_add(uint64_t block);

/* Does one say so of this block, allocated at `tick` (0: not known)? Once. */
bool reported_take(uint64_t block, uint32_t tick);

/*
 * The same of a block that is known: the ticks of another process, from before a fork, may be of
 * another clock.
 */
static inline bool reported_block(const struct check_block *b)
{
	return reported_take(b->address, b->parent_pid ? 0 : b->alloc_tick);
}

#endif
