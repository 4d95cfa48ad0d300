/* SPDX-License-Identifier: MIT */
/*
 * What guard pages may cost: a token bucket. A token is a cycle of the processor's counter.
 *
 *   rate      permille / 1000 tokens for each cycle of CPU time that the process uses for itself,
 *             as the kernel counts it
 *   capacity  25 ms of cycles; 2 ms where the rate is below 50 permille. The bucket is full at the
 *             start, so that small programs have all their blocks guarded.
 *
 * Invariants, but for the moment between the two steps of fill():
 *
 *   tokens <= capacity
 *   tokens  = capacity + earned - spent - what did not fit
 *   a block of class c is guarded only while tokens > reserved[c] / 4 * capacity
 *
 * What guarding costs is known afterwards, so tokens may fall below 0: a debt, which is earned back
 * before another block is guarded.
 *
 * Two other limits of the agent are not token buckets, and stay as they are:
 * agent/check/left_open.h counts to a fixed number and has deadlines, agent/strings/bounds.c
 * believes for a number of accesses that a page holds no block. Neither is refilled.
 */
#ifndef AGENT_GUARD_BUDGET_H
#define AGENT_GUARD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

struct tctx;

/*
 * Classes of blocks when not all can be guarded. Each may take more of the bucket than those before
 * it.
 */
enum budget_turn {
	BUDGET_ANY,
	/* behind its end is slack that only canaries check */
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
