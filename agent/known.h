/* SPDX-License-Identifier: MIT */
/*
 * Stacks that come back: when the same call comes from the same stack pointer and all words that
 * decided where the stack leads hold what they held, it is the same stack.
 *
 * A stack is a key (call, stack pointer, site) and a chain of groups of such words, from the
 * innermost outwards. Stacks that have their outer groups in common share them: groups are a tree
 * whose root is outside. Most stacks of the same call and stack pointer differ further out, so the
 * keys are in sets of four. When there is no room for more groups, all go, and the keys stay.
 */
#ifndef AGENT_KNOWN_H
#define AGENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ctx.h"
#include "agent/unwind/unwind.h"

#define KNOWN_BITS	8
#define KNOWN_SETS	(1u << KNOWN_BITS)	/* by return address and stack pointer */
#define KNOWN_WAYS	4
#define KNOWN_WORDS	5		/* of a group, which is a line of the processor's cache */
#define KNOWN_GROUPS	832		/* [0] is not used */
#define KNOWN_CHAIN	64		/* groups of a stack at most; a deeper one is not kept */
#define KNOWN_BUCKETS	1024
#define KNOWN_SEEN	1024		/* a power of two */
#define KNOWN_WALKS	4096		/* with, and as many without, tell whether it pays */
#define KNOWN_PAYS	2		/* it does if so many walks spare one */
#define KNOWN_SURE	4		/* allocations to a walk: it need not be compared */
#define KNOWN_LONG	131072		/* walks the better way, then it is found out anew */

struct known_group {
	uint64_t base;			/* the lowest address */
	/* innermost first; the innermost group is filled up with its first word */
	uint64_t value[KNOWN_WORDS];
	uint16_t word[KNOWN_WORDS];	/* where they are, in words from base */
	uint16_t outer;			/* the group that follows; 0 = none */
	uint16_t next;			/* in the same bucket */
} __attribute__((aligned(64)));

struct known_stack {
	uint64_t ra;			/* of the caller, ^ known.era; 0 = unused */
	uint64_t sp, fp;
	uint32_t site;
	uint16_t group;			/* the innermost; 0 = only the key was seen so far */
	bool needs_fp : 1;
	bool found : 1;			/* since its words were noted, or since its set was full */
	uint8_t vain;			/* times in a row that its words were not found again */
};

struct known {
	struct known_stack stack[KNOWN_SETS][KNOWN_WAYS] __attribute__((aligned(64)));
	struct known_group group[KNOWN_GROUPS];
	uint16_t bucket[KNOWN_BUCKETS];	/* groups by hash */
	uint32_t nr_groups;
	/* group[chain[k]] is of checks [5k, 5k + 5) of the memo; of the first chain_checks */
	uint16_t chain[KNOWN_CHAIN];
	uint32_t chain_checks;
	bool noted;			/* there is something to forget */
	uint64_t era;			/* in the bits that no address has; raised to forget all */
	uint8_t last[KNOWN_SETS];	/* the way found last */
	uint8_t turn[KNOWN_SETS];	/* ... to be looked at next for replacement */
	uint16_t seen[KNOWN_SEEN];	/* hashes of stacks met lately */
	uint64_t with;			/* allocations to the KNOWN_WALKS that were compared last */
	bool decided;			/* the time of KNOWN_LONG */
};

static inline uint32_t known_set(const struct caller *from)
{
	return (uint32_t)((from->ra * 0x9e3779b97f4a7c15ull ^ from->sp * 0xc2b2ae3d27d4eb4full) >>
			  (64 - KNOWN_BITS));
}

/*
 * Does each word hold what it held? From the innermost on, so that each that is read belongs to a
 * stack that those before have shown to be there.
 */
static inline bool known_holds(const struct known *known, uint32_t group)
{
	do {
		const struct known_group *g = &known->group[group];
		const uint64_t *at = (const uint64_t *)g->base;	/* of the program's stack */

		if (!arch_word_is(at + g->word[0], g->value[0]) ||
		    !arch_word_is(at + g->word[1], g->value[1]) ||
		    !arch_word_is(at + g->word[2], g->value[2]) ||
		    !arch_word_is(at + g->word[3], g->value[3]) ||
		    !arch_word_is(at + g->word[4], g->value[4]))
			return false;
		group = g->outer;
	} while (group);
	return true;
}

static inline bool known_is(const struct known *known, const struct known_stack *k,
			    const struct caller *from)
{
	return k->ra == (from->ra ^ known->era) && k->sp == from->sp && k->group &&
	       (!k->needs_fp || k->fp == from->fp) && known_holds(known, k->group);
}

/*
 * The site of the caller's stack if it is one of those of its set but for the one found last, else
 * 0. By value, so that the caller's place is not needed in memory.
 */
uint32_t known_other(struct known *known, uint64_t ra, uint64_t sp, uint64_t fp, uint32_t set);

/* The site of the caller's stack if it is known, else 0. First the one found last of its set. */
static inline __attribute__((always_inline)) uint32_t known_site(struct known *known,
							       const struct caller *from)
{
	uint32_t set = known_set(from);
	struct known_stack *k = &known->stack[set][known->last[set]];

	__asm__("" : "+r"(k));		/* gcc would rather work it out anew each time */
	if (unlikely(!known_is(known, k, from)))
		return known_other(known, from->ra, from->sp, from->fp, set);
	if (unlikely(!k->found))
		k->found = true;
	return k->site;
}

/*
 * The context's memo is the stack of this caller: note its words the second time that it is met,
 * and later at longer and longer intervals where the words noted before did not bring anything.
 */
void known_note(const struct tctx *c, const struct caller *from);

/* The context's memo is another one from its check `first` on. */
static inline void known_memo_changed(struct known *known, uint32_t first)
{
	if (known->chain_checks > first)
		known->chain_checks = first;
}

/* So many walks were made since this was asked last. */
void known_pays(struct tctx *c);

/*
 * Called for each walk to another stack than the last one: does it pay to know stacks? Where hardly
 * any others come back, asking and noting cost more than the walks they save.
 */
static inline void known_weigh(struct tctx *c)
{
	if (unlikely(!c->walks_left--))
		known_pays(c);
}

/* Nothing is known any more. At once: a program may unmap memory often. */
void known_forget(struct known *known);

/* The same, and what was left half written is repaired. */
void known_clear(struct known *known);

#endif
