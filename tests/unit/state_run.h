/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code run from a state of the processor to another. A run ends at an int3. Faults end it as well.
 */
#ifndef TESTS_UNIT_STATE_RUN_H
#define TESTS_UNIT_STATE_RUN_H

#include "tests/unit/unit.h"

#define ARITHMETIC	0x8c5u		/* CF PF ZF SF OF */
#define STACK_WORDS	2048u

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, NR_REGS };

struct state {
	uint64_t reg[NR_REGS], flags, pc;
	int signal;
	uint64_t stack[STACK_WORDS];
};

static const unsigned arg_of[] = { RDI, RSI, RDX, RCX, R8, R9 };

/* Where runs have their stack; what is in it is that of the state. */
extern uint64_t state_stack[STACK_WORDS];

/* Once in each test: cmocka has handlers of its own in every one. */
void state_runs(void);

/* From `pc` with the registers and the stack of `from`. */
void state_run(uint64_t pc, const struct state *from, struct state *to);

extern uint64_t random_seed;
uint64_t random64(void);

/*
 * Registers and stack at a call; among the arguments sizes, pointers to memory and nonsense. No
 * page boundary, for munmap.
 */
void state_make(struct state *s, unsigned which);

/*
 * What a hook may leave behind: all that is not `keep` and not the caller's is something else,
 * below the stack pointer too.
 */
void state_trash(struct state *s, unsigned keep);

#endif
