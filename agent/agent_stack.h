/* SPDX-License-Identifier: MIT */
/*
 * A thread's stack: which part of it may be read, and one step from a frame to its caller.
 */
#ifndef AGENT_AGENT_STACK_H
#define AGENT_AGENT_STACK_H

#include "agent/agent.h"
#include "agent/unwind/cfi.h"
#include "agent/ctx.h"

/* A frame that a walk is at. */
struct stack_at {
	/* to look rules up with: inside the call, or exact where interrupted */
	uint64_t pc;
	uint64_t sp, fp;
};

/*
 * Is the word there, in memory that can be read? The part of the stack between stack_lo and
 * stack_hi of the context is known to be.
 */
bool stack_readable_slow(struct tctx *c, uint64_t address);

static inline bool stack_readable(struct tctx *c, uint64_t address)
{
	return likely(address >= c->stack_lo && address < c->stack_hi && !(address & 7)) ||
	       stack_readable_slow(c, address);
}

/* A word that is readable. */
static inline uint64_t stack_word(uint64_t address)
{
	return *(volatile uint64_t *)address;
}

/* A part of the stack not seen before: deeper on the one we know, or another one. */
void stack_new(struct tctx *c, uint64_t page);

/*
 * Know all of it now: the kernel cannot be asked later (agent.no_asking), and what is not known
 * then is taken to be unreadable.
 */
void stack_learn(struct tctx *c);

/* The stack we are on: known from `sp` upwards as far as was looked at. */
static inline void stack_note(struct tctx *c, uint64_t sp)
{
	if (unlikely(sp - 8 < c->stack_lo || sp - 8 >= c->stack_hi))
		stack_new(c, (sp - 8) & ~(ARCH_PAGE - 1));
}

/*
 * May something be there that is known of a stack, by whichever thread? Memory that goes is asked
 * for: where it may, agent.stack_gen is to be raised. All stacks that a context has been on since
 * it knew nothing are between seen_lo and seen_hi, with what is between them.
 */
bool stack_known_in(uint64_t start, uint64_t bytes);

/* That memory goes. */
void stack_goes(uint64_t start, uint64_t bytes);

enum step {
	STEP_ON,
	STEP_END,		/* it has no caller */
	STEP_UNKNOWN,		/* there is no rule, or memory that cannot be read */
	STEP_SLOW,		/* needs more than a rule: cfi_step_slow() */
};

/* From a signal handler's frame to what it interrupted. */
enum step stack_step_signal(struct tctx *c, struct stack_at *at);

/* From a frame to its caller. */
static inline __attribute__((always_inline)) enum step stack_step(struct tctx *c,
								  struct stack_at *at,
								  struct cfi_rule rule)
{
	uint64_t cfa, ra;

	switch (rule.kind) {
	case CFI_SP:
		cfa = at->sp + (uint64_t)(int64_t)rule.cfa_off;
		break;
	case CFI_FP:
		cfa = at->fp + (uint64_t)(int64_t)rule.cfa_off;
		break;
	case CFI_FP_DEREF:
		if (!stack_readable(c, at->fp + (uint64_t)(int64_t)rule.cfa_off) ||
		    !stack_readable(c, at->fp))
			return STEP_UNKNOWN;
		cfa = stack_word(at->fp + (uint64_t)(int64_t)rule.cfa_off);
		break;
	case CFI_SIGFRAME:
		return stack_step_signal(c, at);
	case CFI_END:
		return STEP_END;
	case CFI_SLOW:
		return STEP_SLOW;
	default:
		return STEP_UNKNOWN;
	}
	if (unlikely(cfa <= at->sp || !stack_readable(c, cfa - 8)))
		return STEP_UNKNOWN;
	ra = stack_word(cfa - 8);
	if (unlikely(!ra))
		return STEP_END;
	if (rule.kind == CFI_FP_DEREF) {
		at->fp = stack_word(at->fp);
	} else if (rule.fp_off) {
		uint64_t slot = cfa + 8 * (uint64_t)(int64_t)rule.fp_off;

		if (unlikely(!stack_readable(c, slot)))
			return STEP_UNKNOWN;
		at->fp = stack_word(slot);
	}
	at->pc = ra - 1;
	at->sp = cfa;
	return STEP_ON;
}

#endif
