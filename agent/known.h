/*
 * Stacks that come back, as lists of stack slots: when the same call comes from the same stack pointer and all slots hold what
 * they held, it is the same stack.
 */
#ifndef AGENT_KNOWN_H
#define AGENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ctx.h"
#include "agent/unwind.h"

#define KNOWN_SLOTS	64
#define KNOWN_STACKS	128	/* per context, direct mapped by return address and stack pointer */

struct known_stack {
	uint64_t ra, sp, rbp;	/* of the caller; ra 0 = unused */
	uint32_t site;
	uint16_t nr_slots;	/* 0 = only the key was seen so far */
	uint16_t needs_rbp;
	uint16_t slot[KNOWN_SLOTS];	/* offset from sp, in words */
	uint64_t value[KNOWN_SLOTS];
};

static inline struct known_stack *known_at(const struct tctx *c, const struct caller *from)
{
	return &c->known[(from->ra * 0x9e3779b97f4a7c15ull ^ from->sp * 0xc2b2ae3d27d4eb4full) >> 57];
}

_Static_assert(KNOWN_STACKS == 1 << (64 - 57), "shift of known_at");

static inline bool known_holds(const struct known_stack *k, const struct caller *from)
{
	const uint64_t *stack = (const uint64_t *)from->sp;

	if (k->ra != from->ra || k->sp != from->sp || !k->nr_slots || (k->needs_rbp && k->rbp != from->rbp))
		return false;
	for (uint32_t i = 0; i < k->nr_slots; i++)
		if (stack[k->slot[i]] != k->value[i])
			return false;
	return true;
}

/*
 * The context's memo is the stack of this caller: the first time note its key, the second time its slots.
 */
void known_note(const struct tctx *c, struct known_stack *k, const struct caller *from);

#endif
