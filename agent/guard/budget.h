/* SPDX-License-Identifier: MIT */
/*
 * What guard pages may cost: a purse of cycles, filled in proportion to the CPU time that the
 * process uses for itself, as the kernel counts it. A full purse at the start lets small programs
 * have all their blocks guarded.
 */
#ifndef AGENT_GUARD_BUDGET_H
#define AGENT_GUARD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

struct tctx;

/*
 * Whose turn it is when not all blocks can be guarded. Each may use up more of the purse than those
 * before it.
 */
enum budget_turn {
	BUDGET_ANY,
	/* behind whose end there is slack that canaries alone look after */
	BUDGET_ODD,
	BUDGET_NEW,			/* one of the first of its call site */
	BUDGET_NR,
};

/* permille: of the process's own CPU time; UINT64_MAX = any. */
void budget_start(uint64_t permille);

/* May one more block be guarded? */
bool budget_allows(struct tctx *c, enum budget_turn turn);

/*
 * So many cycles went into it, by the counter; and the program will have a page fault more for each
 * of `pages`. What follows from both is put down too: see budget.c.
 */
void budget_spent(uint64_t cycles, uint64_t pages);

/* In a forked child, whose CPU time begins again. */
void budget_forked(void);

#endif
