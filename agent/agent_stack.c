/* SPDX-License-Identifier: MIT */
/* A thread's stack: what happens rarely. */
#include "agent/agent_stack.h"

#include "agent/unwind/module.h"

#define STACK_NEAR	(1ul << 20)
#define STACK_STEP_MAX	(4ul << 20)	/* a frame larger than this is not believed */
#define STACK_MOST	(16ul << 20)

/*
 * `guess` where the kernel may not be asked. Valgrind takes the usual question for a use of the
 * word, which may not be set yet.
 */
static bool readable(uint64_t address, bool guess)
{
	uint64_t word;

	if (unlikely(agent.no_asking))
		return guess;
	return unlikely(agent.valgrind) ? module_copy(&word, address, sizeof(word))
				    : sys_readable(address);
}

bool stack_readable_slow(struct tctx *c, uint64_t address)
{
	if (address & 7 || address >> 47)
		return false;
	if (address >= c->stack_hi && address - c->stack_hi < STACK_STEP_MAX) {
		while (c->stack_hi <= address)
			if (readable(c->stack_hi, false))
				c->stack_hi += ARCH_PAGE;
			else
				return readable(address,
						false); /* beyond a stack that has run over */
		return true;
	}
	return readable(address, false);
}

/*
 * Pages are asked for by their last word: below the stack pointer Valgrind takes that for an error
 * of the program.
 */
void stack_new(struct tctx *c, uint64_t page)
{
	uint64_t at = c->stack_lo;

	while (at > page && c->stack_lo - page <= STACK_NEAR && readable(at - 8, true))
		at -= ARCH_PAGE;
	if (at != page || page > c->stack_lo)
		c->stack_hi = readable(page + ARCH_PAGE - 8, true)
				      ? page + ARCH_PAGE
				      : page; /* not where a fault has interrupted */
	c->stack_lo = page;
}

void stack_learn(struct tctx *c)
{
	uint64_t most = c->stack_hi + STACK_MOST;

	while (c->stack_hi < most && sys_readable(c->stack_hi))
		c->stack_hi += ARCH_PAGE;
}

enum step stack_step_signal(struct tctx *c, struct stack_at *at)
{
	uint64_t frame = at->sp;

	if (!stack_readable(c, frame + ARCH_SIGFRAME_PC) ||
	    !stack_readable(c, frame + ARCH_SIGFRAME_FP))
		return STEP_UNKNOWN;
	at->pc = stack_word(frame + ARCH_SIGFRAME_PC);
	at->sp = stack_word(frame + ARCH_SIGFRAME_SP);
	at->fp = stack_word(frame + ARCH_SIGFRAME_FP);
	return at->pc ? STEP_ON : STEP_END;
}
