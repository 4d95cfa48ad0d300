/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks in a process that runs already: some of the sampled ones are in the guard pool
 * (agent/guard/guard.h).
 *
 * The pool outlives the watching: what it gave out is released whenever the program likes. So a
 * pointer into it is known in every state of the agent, by two words of private memory; and when
 * watching ends all its pages are opened, after which nothing is needed of us but to keep its
 * blocks from the allocator.
 */
#ifndef AGENT_INJECT_GUARDS_H
#define AGENT_INJECT_GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/inject/inject_pass.h"

/* Reserve the pool, if guards are asked for. In inject_start(). */
void guards_start(struct pmm_inject_args *args);

/*
 * For a request that is about to be sampled: a zeroed block in the pool, recorded, the sample
 * drawn. NULL: the allocator's turn.
 */
void *guards_sample(struct tctx *c, size_t size, size_t align, uint32_t kind,
		    const struct caller *from);

static inline void *guards_alloc(struct tctx *c, size_t size, size_t align,
				 const struct pmm_entry *e, const struct caller *from)
{
	return e->guards && agent.guards_bytes && size >= c->bytes_left
		       ? guards_sample(c, size, align, e->kind, from)
		       : NULL;
}

/* Release or ask for the size of what guards_has() said yes to. how: enum pmm_release. */
void guards_free(void *p, uint32_t how, const struct caller *from);
size_t guards_size(const void *p);

#endif
