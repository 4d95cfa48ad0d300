/* SPDX-License-Identifier: MIT */
/*
 * Stacks that come back, as lists of stack slots: when the same call comes from the same stack
 * pointer and all slots hold what they held, it is the same stack.
 */
#ifndef AGENT_KNOWN_H
#define AGENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ctx.h"
#include "agent/unwind/unwind.h"

#define KNOWN_SLOTS	64
#define KNOWN_GROUP	4
#define KNOWN_BITS	7
/* per context, direct mapped by return address and stack pointer */
#define KNOWN_STACKS	(1u << KNOWN_BITS)

/* Slots are kept and looked at by four, with what belongs together in one place. */
struct known_group {
	uint16_t slot[KNOWN_GROUP];	/* offset from sp, in words */
	uint64_t value[KNOWN_GROUP];
};

struct known_stack {
	uint64_t ra, sp, fp;	/* of the caller; ra 0 = unused */
	uint32_t site;
	uint32_t gen;		/* the context's known_gen, else void */
	uint32_t vain;		/* times in a row that another stack came instead */
	uint16_t nr_groups;	/* 0 = only the key was seen so far */
	uint8_t needs_fp;
	uint8_t found;		/* since its slots were noted */
	/* innermost first; the last is filled up with the first slot */
	struct known_group group[KNOWN_SLOTS / KNOWN_GROUP];
};

struct known {
	struct known_stack stack[KNOWN_STACKS];
};

static inline struct known_stack *known_at(const struct tctx *c, const struct caller *from)
{
	return &c->known->stack[(from->ra * 0x9e3779b97f4a7c15ull ^
				 from->sp * 0xc2b2ae3d27d4eb4full) >>
				(64 - KNOWN_BITS)];
}

/* The site of the caller's stack if it is this one, else 0. */
static inline uint32_t known_site(struct known_stack *k, uint32_t gen, const struct caller *from)
{
	const volatile uint64_t *stack = (const volatile uint64_t *)from->sp;

	if (k->ra != from->ra || k->sp != from->sp || !k->nr_groups || k->gen != gen ||
	    (k->needs_fp && k->fp != from->fp))
		return 0;
	for (const struct known_group *g = k->group, *end = g + k->nr_groups; g < end; g++)
		if (stack[g->slot[0]] != g->value[0] || stack[g->slot[1]] != g->value[1] ||
		    stack[g->slot[2]] != g->value[2] || stack[g->slot[3]] != g->value[3])
			return 0;
	if (unlikely(!k->found))
		k->found = 1;
	return k->site;
}

/*
 * The context's memo is the stack of this caller: the first time note its key, the second time its
 * slots, and later at longer and longer intervals where the slots noted before did not bring
 * anything.
 */
void known_note(const struct tctx *c, struct known_stack *k, const struct caller *from);

#endif
