/* SPDX-License-Identifier: MIT */
/*
 * Contexts: per-thread state, found by hashing the thread pointer.
 */
#ifndef AGENT_CTX_H
#define AGENT_CTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/block.h"
#include "agent/site.h"
#include "agent/sys.h"
#include "include/pmm/ledger.h"

#define AGENT_CTX_HASH		8192	/* entries: thread pointer -> context */
#define AGENT_MAX_LEVEL		3	/* signal handlers interrupting hooks, each in turn */

struct check;
struct frame;
struct fresh_frame;
struct known;
struct piece_cache;
struct recycle;
struct srcloc_cache;

enum tctx_busy {
	TCTX_IDLE,
	TCTX_RECORDING,		/* our own code runs: its state is half changed */
	TCTX_IN_ALLOCATOR,	/* the real allocator runs */
};

/* Where a thread was stopped last (guard_page_protected()). */
struct guard_stop {
	uint64_t page;
	uint64_t block;			/* that it belonged to; 0 = to none that was live */
};

struct tctx {
	struct pmm_ctx pub;
	/* what every event reads or changes: one cache line and a half */
	uint64_t tp;			/* thread pointer of the owner */
	uint32_t tid;
	uint32_t busy;			/* enum tctx_busy */
	uint64_t bytes_left;		/* the injected agent's countdown */
	/* operator new asked in vain from a frame here and calls its handler */
	uintptr_t failing_new;
	/* block of the last event if that was an allocation, else 0 */
	uint64_t last_address;
	struct block_stamp stamp;
	union {
		struct {
			uint32_t code_gen, stack_gen;
		};
		uint64_t gens;		/* agent.gens the memo belongs to */
	};
	/* NULL until the context has been used for a while, and while stacks do not come back */
	struct known *known;
	uint64_t credit_epoch;
	uintptr_t stack_lo, stack_hi;	/* part of the stack known to be readable */
	uint32_t memo_nr;		/* frames of the memo, outermost first; 0 = nothing known */
	uint32_t last_site;		/* the memo's */
	struct frame *memo;		/* max_frames */
	struct check *checks;		/* what the memo hangs on, outermost first */
	struct fresh_frame *fresh;	/* max_frames, the walk's new frames */
	struct piece_cache *pieces;	/* NULL until the context has been used for long */
	uint64_t *stack_hash;		/* [k]: hash of the memo's first k frames */
	uint32_t nr_records;		/* of sites */
	struct known *known_resting;	/* agent/known.c; NULL unless `known` rests */
	uint64_t weighed_allocs;	/* allocations when it was last found out whether it pays */
	uint32_t walks_left;		/* until the next time */
	/* releases that may take the last time known for theirs: agent/clock.c */
	uint32_t clock_rest;
	/* of blocks, that this context may give out: shim/full/full_heap.c */
	uint32_t number, number_end;
	uint32_t budget_asked;		/* check form: times without success (guard/budget.c) */
	/* check form: agent/check/recycle.h; NULL until it was asked for */
	struct recycle *recycle;
	/* NULL until a source location was asked for: agent/srcloc.c */
	struct srcloc_cache *srclocs;
	bool sampling;			/* sampled mode: the thread's first sample was drawn */
	/* check form: operator new was refused on purpose and will ask again */
	bool refusing;
	/* an operator new is running that may leave by an exception: */
	bool throwing;
	uint32_t throwing_site;
	uint64_t throwing_size;
	uint64_t *countdown;		/* bytes that may be allocated before the next one */
	uint64_t random;
	struct tctx *nested;		/* for handlers interrupting this one */
	/* end of its owner's alternate stack where that is ours (fault/reserved.c); 0 = none */
	uint64_t signal_stack;
	struct guard_stop last_stop;	/* injected form: there is no thread-local memory */
	/* where words are that what is known of stacks hangs on: agent/agent_stack.h */
	uint64_t seen_lo, seen_hi;
	/* pages of 1024 pmm_ref: record of a site below SITE_NEAR */
	pmm_ref site_page[1u << SITE_PAGE_SHIFT];
	/* ... of the others: pages of such pages */
	pmm_ref site_far[PMM_MAX_SITES / SITE_NEAR - 1];
	/* of site 0; in the list of records once it was needed */
	_Alignas(64) struct pmm_record none;
	_Alignas(64) struct pmm_lifetimes none_lifetimes;
};

struct ctx_entry {
	uint64_t tp;
	struct tctx *ctx;
};

/*
 * Is the ledger in view this process's own? Not before the agent is on, and not in a forked child
 * before its first event: agent.ledger, agent.base, agent.file and agent.slot are the parent's
 * there, which are not mapped.
 */
static inline bool agent_begun(void)
{
	return agent.alive && LOAD(*agent.alive);
}

/*
 * The calling thread's context, making or adopting one. NULL when there is none. Detects a forked
 * child.
 */
struct tctx *ctx_find_slow(uint64_t tp);

/* The calling thread's id, without a system call where the C library keeps it. */
static inline uint32_t ctx_tid(uint64_t tp)
{
	uint32_t tid = agent.tid_offset ? *(volatile uint32_t *)(tp + agent.tid_offset) : 0;

	return tid ? tid : (uint32_t)sys0(gettid);
}

/*
 * Where a thread's bytes until the next sample are counted; each form of the agent has its own
 * place.
 */
uint64_t *ctx_countdown(struct tctx *c);

/*
 * A context for a signal handler that interrupted `c`; may reset `c` if its hook was left by
 * longjmp.
 */
struct tctx *ctx_nested(struct tctx *c, uintptr_t sp);

static inline uint32_t ctx_hash_of(uint64_t tp)
{
	return (uint32_t)((tp * 0x9e3779b97f4a7c15ull) >> 51);	/* 13 bits: AGENT_CTX_HASH */
}

/*
 * An idle context is busy from here on, with a hook whose frame is at `sp`. A handler that comes
 * between the first two stores finds it idle, uses it, and leaves 0 in busy_sp, hence the third:
 * with 0 the hook would pass for none that runs, and would never be known to have been left. A
 * handler that comes later has a context of its own. One that jumps out between the first two
 * leaves an idle context, whose busy_sp is set anew before it says anything.
 */
static inline void ctx_busy(struct tctx *c, uintptr_t sp)
{
	STORE(c->pub.busy_sp, sp);
	STORE(c->busy, TCTX_RECORDING);
	STORE(c->pub.busy_sp, sp);
}

/*
 * The calling thread's context or NULL; also checks that the thread is still the one that made it.
 */
static inline struct tctx *ctx_find(void)
{
	uint64_t tp = arch_thread_pointer();
	struct ctx_entry *e = &agent.ctx_hash[ctx_hash_of(tp)];

	if (likely(LOAD(e->tp) == tp)) {
		struct tctx *c = LOAD(e->ctx);	/* some, as it is stored before tp */

		if (likely(c->tid == *(volatile uint32_t *)(tp + agent.tid_offset)))
			return c;
	}
	return ctx_find_slow(tp);
}

#endif
