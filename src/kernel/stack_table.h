/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks, each kept once under a number: frames, innermost first, and why there are no more.
 *
 * Bounded: what does not fit is counted, and has number 0.
 */
#ifndef KERNEL_STACK_TABLE_H
#define KERNEL_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/vec.h"

#define STACK_TABLE_BYTES	(32u << 20)	/* default bound */

/*
 * A frame in 64 bits: the number of its module (src/kernel/modules.h) and the address in its file
 * that lies inside the call. Module 0: in no file, the address is a run-time one of the process.
 * STACK_KERNEL: an address of the kernel.
 */
#define STACK_KERNEL		0xffffu
#define STACK_ADDRESS_BITS	48

static inline uint64_t stack_frame(uint32_t module, uint64_t address)
{
	return (uint64_t)module << STACK_ADDRESS_BITS |
	       (address & ((1ull << STACK_ADDRESS_BITS) - 1));
}

static inline uint32_t stack_frame_module(uint64_t frame)
{
	return (uint32_t)(frame >> STACK_ADDRESS_BITS);
}

static inline uint64_t stack_frame_address(uint64_t frame)
{
	uint64_t address = frame & ((1ull << STACK_ADDRESS_BITS) - 1);

	/* the kernel's addresses are the upper ones */
	return stack_frame_module(frame) == STACK_KERNEL ? address | ~0ull << STACK_ADDRESS_BITS
							 : address;
}

struct stack_entry {
	uint64_t hash;
	uint32_t first;			/* in stack_table.frames */
	uint16_t nr;
	uint16_t end;			/* the caller's: why it ends */
};

struct stack_table {
	VEC(struct stack_entry) stacks;	/* by number; number 0 is none */
	VEC(uint64_t) frames;
	uint32_t *slots;		/* numbers; 0: free */
	size_t nr_slots, max_bytes;
	uint64_t dropped;		/* stacks that did not fit */
};

/* max_bytes 0: STACK_TABLE_BYTES. */
void stack_table_init(struct stack_table *t, size_t max_bytes);
void stack_table_fini(struct stack_table *t);

/* The number of a stack, entered if new; equal stacks have equal numbers. 0: it did not fit. */
uint32_t stack_table_add(struct stack_table *t, const uint64_t *frames, unsigned nr, unsigned end);

/* The stack of a number; *nr is 0 for 0 and for a number never given. Valid until the next add. */
const uint64_t *stack_table_find(const struct stack_table *t, uint32_t number, unsigned *nr,
				 unsigned *end);

#endif
