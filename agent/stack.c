/* A thread's stack: what happens rarely. */
#include "agent/stack.h"

#define STACK_NEAR	(1ul << 20)
#define STACK_STEP_MAX	(4ul << 20)	/* a frame larger than this is not believed */

bool stack_readable_slow(struct tctx *c, uint64_t address)
{
	if (address & 7 || address >> 47)
		return false;
	if (address >= c->stack_hi && address - c->stack_hi < STACK_STEP_MAX) {
		while (c->stack_hi <= address)
			if (sys_readable(c->stack_hi))
				c->stack_hi += ARCH_PAGE;
			else
				return sys_readable(address);	/* beyond a stack that has run over */
		return true;
	}
	return sys_readable(address);
}

void stack_new(struct tctx *c, uint64_t page)
{
	uint64_t at = c->stack_lo;

	while (at > page && c->stack_lo - page <= STACK_NEAR && sys_readable(at - ARCH_PAGE))
		at -= ARCH_PAGE;
	if (at != page || page > c->stack_lo)
		c->stack_hi = sys_readable(page) ? page + ARCH_PAGE : page;	/* not where a fault has interrupted */
	c->stack_lo = page;
}

enum step stack_step_signal(struct tctx *c, struct stack_at *at)
{
	uint64_t frame = at->sp;

	if (!stack_readable(c, frame + ARCH_SIGFRAME_RIP) || !stack_readable(c, frame + ARCH_SIGFRAME_RBP))
		return STEP_UNKNOWN;
	at->pc = stack_word(frame + ARCH_SIGFRAME_RIP);
	at->sp = stack_word(frame + ARCH_SIGFRAME_RSP);
	at->rbp = stack_word(frame + ARCH_SIGFRAME_RBP);
	return at->pc ? STEP_ON : STEP_END;
}
