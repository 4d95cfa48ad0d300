/* SPDX-License-Identifier: MIT */
/* A thread's stack: what happens rarely. */
#include "agent/agent_stack.h"

#include "agent/agent_arena.h"
#include "agent/unwind/module.h"

#define STACK_NEAR	(1ul << 20)
#define STACK_STEP_MAX	(4ul << 20)	/* a frame larger than this is not believed */
#define STACK_MOST	(16ul << 20)
/* where there are more contexts, nobody looks at each: memory that goes may have been a stack */
#define ASKED_MOST	256

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

static void seen(struct tctx *c, uint64_t lo, uint64_t hi)
{
	if (!c->seen_hi || lo < c->seen_lo)
		STORE(c->seen_lo, lo);
	if (hi > c->seen_hi)
		STORE(c->seen_hi, hi);
}

bool stack_known_in(uint64_t start, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	uint32_t nr = LOAD(l->nr_ctx);

	for (uint32_t i = 0; i < nr && nr <= ASKED_MOST; i++) {
		pmm_ref ref = LOAD_ACQUIRE(l->ctx[i]);
		const struct tctx *c = ref ? arena_at(ref) : NULL;

		if (c && start < LOAD(c->seen_hi) && LOAD(c->seen_lo) < start + bytes)
			return true;
	}
	return nr > ASKED_MOST;
}

void stack_goes(uint64_t start, uint64_t bytes)
{
	if (stack_known_in(start, bytes))
		ADD(agent.stack_gen, 1);
}

static bool seen_word(struct tctx *c, uint64_t address)
{
	if (!readable(address, false))
		return false;
	seen(c, address, address + 8);
	return true;
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
				break;
		seen(c, c->stack_lo, c->stack_hi);
		/* beyond a stack that has run over */
		return c->stack_hi > address || seen_word(c, address);
	}
	return seen_word(c, address);
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
	seen(c, c->stack_lo, c->stack_hi);
}

void stack_learn(struct tctx *c)
{
	uint64_t most = c->stack_hi + STACK_MOST;

	while (c->stack_hi < most && sys_readable(c->stack_hi))
		c->stack_hi += ARCH_PAGE;
	seen(c, c->stack_lo, c->stack_hi);
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
