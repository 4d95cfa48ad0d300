/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many frames of each stack are written by forms that list all frames of every stack.
 *
 * In a tree, stacks share what they have in common; in such a list they do not. A capture of n
 * frames in a row with a call site at each has n * n / 2 frames in its list: a file of 2 KB would
 * become one of gigabytes. So there is room for STACKS_ROOM frames of all stacks together. Where
 * they have more, the outer frames of the deepest stacks are left out, at the same depth for all,
 * but none of the STACK_WHOLE innermost ones.
 */
#ifndef MODEL_STACK_CUT_H
#define MODEL_STACK_CUT_H

#include <stddef.h>
#include <stdint.h>

#define STACK_WHOLE	64u
#define STACKS_ROOM	(4u << 20)

struct stack_cut {
	uint32_t frames;	/* written of a stack at most, the innermost; UINT32_MAX: all */
	uint64_t stacks;	/* of which some are left out */
	uint64_t left_out;	/* frames of all these */
};

/* The cut for stacks of so many frames each. 0 or -ENOMEM. */
int stack_cut(const uint32_t *depth, size_t nr, struct stack_cut *out);

/* The same for another room. */
int stack_cut_within(const uint32_t *depth, size_t nr, uint64_t room, struct stack_cut *out);

/* Of a stack of so many frames: those that are left out. */
static inline uint32_t stack_cut_off(const struct stack_cut *c, uint32_t depth)
{
	return depth > c->frames ? depth - c->frames : 0;
}

#endif
