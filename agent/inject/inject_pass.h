/* SPDX-License-Identifier: MIT */
/*
 * The injected form of the agent: which calls its hooks record, and how the others pass them.
 */
#ifndef AGENT_INJECT_INJECT_PASS_H
#define AGENT_INJECT_INJECT_PASS_H

#include "agent/hook.h"
#include "include/pmm/inject.h"

/* Run the function as it was, with its own type. */
#define NEXT(entry, type) ((type)(entry)->next)

/*
 * Call the function from a frame of ours while no context is busy: counted, since pmm must not
 * unmap us meanwhile. A jump to it would do as well but cannot be relied on.
 */
#define PASS(call) ({								\
	ADD(agent.passing, 1);							\
	__typeof__(call) r_ = (call);						\
	ADD(agent.passing, -1);							\
	r_;									\
})

/* A context to record the outermost call with, or NULL: pass through. */
static inline struct tctx *inject_enter(const struct caller *from)
{
	return likely(agent_is_on()) ? agent_enter_outermost(from, false) : NULL;
}

/*
 * Is there nothing to record for this size on this thread? When the agent is off, and on sampled
 * mode's fast path. The caller then jumps to the function.
 */
static inline bool inject_passes(size_t size)
{
	const struct ctx_entry *e;
	struct tctx *c;
	uint64_t tp;

	if (unlikely(!agent_is_on()))
		return true;
	if (!agent.sampled)
		return false;
	tp = arch_thread_pointer();
	e = &agent.ctx_hash[ctx_hash_of(tp)];
	if (unlikely(LOAD(e->tp) != tp))
		return false;
	c = LOAD(e->ctx);
	if (unlikely(!c || size >= c->bytes_left || c->busy))
		return false;
	c->bytes_left -= size;
	return true;
}

/* Is it a pointer into the guard pool (agent/inject/guards.h)? */
static inline bool guards_has(const void *p)
{
	return unlikely((uint64_t)p - agent.guards_at < agent.guards_bytes);
}

/* The same for a release; a sample may live at `p`, or a guarded block. */
static inline bool inject_passes_free(const void *p)
{
	if (guards_has(p))
		return false;
	return !p || unlikely(!agent_is_on()) ||
	       (agent.sampled && !*sample_filter((uint64_t)p));
}

#endif
