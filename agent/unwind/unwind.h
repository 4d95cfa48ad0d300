/* SPDX-License-Identifier: MIT */
/*
 * Call stacks: from the caller of a hook to the outermost frame.
 */
#ifndef AGENT_UNWIND_UNWIND_H
#define AGENT_UNWIND_UNWIND_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/unwind/cfi.h"
#include "agent/ctx.h"

/* One frame of a memo. Two to a line of the processor's cache. */
struct frame {
	uint64_t id;		/* module:16 | pc:48, as in the ledger */
	uint64_t sp;		/* sp of the frame: the CFA of the frame it called */
	uint64_t fp;		/* if needs_fp */
	uint32_t node;		/* its node in the call tree; known for each fourth frame, else 0 */
	uint16_t nr_checks;	/* checks[0 .. nr_checks) lead from it to the outermost frame */
	bool needs_fp;		/* frames from here outwards depend on fp's value here */
};

/* One frame as walked: how its caller was found. */
struct fresh_frame {
	uint64_t id, sp;
	uint64_t near;		/* by that word of the near cache; 0: by `rule` */
	uint64_t fp;		/* not noted with RULE_NEAR_SP, but for the innermost frame */
	struct cfi_rule rule;
};

/* A word of the stack that decides where a frame leads. */
struct check {
	uint64_t address, value;
};

#define CHECKS_PER_FRAME	3

/* Where a hook was called from. */
struct caller {
	uint64_t ra;		/* return address into the program */
	uint64_t sp;		/* sp after the return */
	uint64_t fp;		/* the program's fp */
};

/*
 * Bytes a context needs for stacks, and giving it a zeroed piece of memory of that size, aligned to
 * 64.
 */
size_t unwind_bytes(void);
void unwind_init(struct tctx *c, void *memory);

/* Walk the stack and return its site. */
uint32_t unwind_site(struct tctx *c, const struct caller *from, uint32_t site_flags);

/* The same where it is not known (known_site()); unwind_void() was asked. */
uint32_t unwind_site_other(struct tctx *c, const struct caller *from, uint32_t site_flags);

/* Was code or a stack unmapped since the context's stacks were noted? */
static inline bool unwind_void(const struct tctx *c)
{
	return c->gens != LOAD(agent.gens) ||
	       LOAD(agent.tree->code_epoch) != LOAD(agent.code_epoch_seen);
}

/* It was: forget what is void. */
__attribute__((cold)) void unwind_changed(struct tctx *c);

/* Does the stack go through a signal handler, or is that not known? */
bool unwind_interrupted(struct tctx *c, const struct caller *from);

/*
 * Is this a call that the real function of another hook makes, one that was called with stack
 * pointer `outer` on this thread and is running? False when a signal handler calls, or when that
 * hook was left by a jump. Looks no further than that hook's frame.
 */
bool unwind_inside(struct tctx *c, const struct caller *from, uint64_t outer);

/*
 * The stack pointer of the outermost frame, if all frames but that one are in [start, end) or in
 * the agent; else 0.
 */
uint64_t unwind_outermost(struct tctx *c, const struct caller *from, uint64_t start, uint64_t end);

/* Forget what is known of the context's stacks. */
void unwind_forget(struct tctx *c);

/* The context may have been left in the middle of an event: forget all that may be half written. */
void unwind_recover(struct tctx *c);

#endif
