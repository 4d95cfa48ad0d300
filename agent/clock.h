/* SPDX-License-Identifier: MIT */
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

/*
 * CLOCK_MONOTONIC as the monitor reads it, which in a time namespace differs from ours. For
 * messages: it is found out each time. Before there is a tree: ours.
 */
uint64_t clock_monitor_ns(void);

/* A ledger begins, in a process that may be in another time namespace than the one before. */
void clock_begin(void);

/* Look whether the monitor still ticks; now and then. */
void clock_check(void);
/* The tick without a monitor: the kernel's coarse clock, looked at about once in a millisecond. */
uint32_t clock_own(void);

/* For releases, where the C library is asked: see clock.c. */
struct tctx;
uint32_t clock_of_release(struct tctx *c);

/*
 * Has the monitor died or gone? False where there never was one to be asked: see pmm_tree.life. One
 * that has handed over to another process is found dead at most once: that comes first.
 */
static inline bool agent_monitor_dead(void)
{
	bool dead = agent.monitored;

	for (unsigned looks = 0; dead && looks < 2; looks++) {
		uint32_t life = LOAD_ACQUIRE(
			agent.tree->life[LOAD_ACQUIRE(agent.tree->life_at) & 1]);

		dead = !(life & 0x3fffffff /* FUTEX_TID_MASK */) ||
		       life & 0x40000000 /* FUTEX_OWNER_DIED */;
	}
	return dead;
}

/* Ticks since the tree's start. */
static inline uint32_t clock_now(void)
{
	return unlikely(agent.own_clock) ? clock_own() : LOAD(agent.tree->tick);
}

#endif
