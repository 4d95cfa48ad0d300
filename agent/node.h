/* SPDX-License-Identifier: MIT */
/*
 * The call tree's nodes: a frame below its caller is one node, whichever thread meets it.
 */
#ifndef AGENT_NODE_H
#define AGENT_NODE_H

#include <stdint.h>

#include "agent/agent.h"
#include "agent/agent_arena.h"

#define NODE_RUN		4	/* frames that are looked up together */

/* Node `nr`, which has been made. */
static inline struct pmm_node *node_at(uint32_t nr)
{
	const pmm_ref *dir = arena_at(
		agent.ledger->node_dir[nr >> (PMM_NODE_SHIFT + PMM_NODE_DIR_SHIFT)]);

	return (struct pmm_node *)arena_at(
		       dir[nr >> PMM_NODE_SHIFT & ((1u << PMM_NODE_DIR_SHIFT) - 1)]) +
	       (nr & ((1u << PMM_NODE_SHIFT) - 1));
}

/* The node for `frame` below `parent`. 0 when there is no room. */
uint32_t node_get(uint32_t parent, uint64_t frame);

#define NODE_HASH_FACTOR	0xd6e8feb86659fd93ull

/* The hash of a stack, 0 for an empty one, with one more frame inside. */
static inline uint64_t node_hash(uint64_t stack, uint64_t frame)
{
	return stack * NODE_HASH_FACTOR + frame;
}

/*
 * The node of the innermost of n frames (1 to NODE_RUN) below `parent`, the outermost first; 0 when
 * there is no room. stack[k] is the hash of the parent's stack with the first k of them.
 */
uint32_t node_get_run(uint32_t parent, const uint64_t *stack, const uint64_t *frame, uint32_t n);

/*
 * The node of a stack of this hash will be asked for soon: first its slot, and when that of others
 * as well is on its way the node itself.
 */
void node_fetch_slot(uint64_t stack);
void node_fetch(uint64_t stack);

/*
 * The next number of `counter`, below `max`, with its entry in a chunked array; NULL when there is
 * no room, and then no number is used up.
 */
void *number_get(uint32_t *counter, uint32_t max, void *(*entry)(uint32_t nr), uint32_t *nr);

#endif
