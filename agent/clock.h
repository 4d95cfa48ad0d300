/*
 * Time as the ledger counts it, in ticks.
 */
#ifndef AGENT_CLOCK_H
#define AGENT_CLOCK_H

#include <stdint.h>

#include "agent/agent.h"
#include "agent/sys.h"

/* Nanoseconds of a clock, without a system call where the kernel offers it. */
uint64_t clock_ns(int clock);

/* Look whether the monitor still ticks; now and then. */
void clock_check(void);
/* The tick without a monitor: the kernel's coarse clock, looked at about once in a millisecond. */
uint32_t clock_own(void);

/* For releases, where the C library is asked: see clock.c. */
struct tctx;
uint32_t clock_of_release(struct tctx *c);

/* Ticks since the tree's start. */
static inline uint32_t clock_now(void)
{
	return unlikely(A.own_clock) ? clock_own() : LOAD(A.tree->tick);
}

#endif
