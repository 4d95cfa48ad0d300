/* SPDX-License-Identifier: MIT */
/*
 * Time as the ledger counts it. The monitor ticks a word in the tree; without one, and in sampled
 * mode, where events are rare and the monitor had better sleep, the agent reads the kernel's coarse
 * clock itself, at most about once in a millisecond.
 */
#include "agent/clock.h"

#include "agent/agent_core.h"
#include "agent/ctx.h"

#define GONE_TICKS	200	/* two seconds ... */
/* ... and still no tick after that: both processes may have been frozen */
#define SURE_TICKS	20
#define LATE_TICKS	50		/* half a second: the monitor is gone, stopped or starved */
#define FAST_EVENTS	16
#define CYCLES_PER_LOOK	2000000u	/* 0.5 to 2 ms on any machine of this century */

uint64_t clock_ns(int clock)
{
	int64_t ts[2] = { 0, 0 };

	if (!A.vdso_clock || A.vdso_clock(clock, ts))
		return sys_clock_ns(clock);
	return (uint64_t)ts[0] * 1000000000u + (uint64_t)ts[1];
}

static uint32_t clock_ticks(void)
{
	uint64_t now_ns = clock_ns(SYS_CLOCK_MONOTONIC_COARSE);

	return now_ns > A.tree->start_monotonic_ns
		       ? (uint32_t)((now_ns - A.tree->start_monotonic_ns) / PMM_TICK_NS)
		       : 0;
}

/* A process that was attached to is left alone once nobody watches any more. */
static void monitor_look(uint32_t ticks)
{
	uint32_t last = LOAD(A.tree->tick);

	if (!(A.tree->flags & PMM_TREE_ATTACHED) || ticks <= last + GONE_TICKS) {
		STORE(A.stale_since, 0);
	} else if (!LOAD(A.stale_since) || LOAD(A.stale_tick) != last) {
		STORE(A.stale_tick, last);
		STORE(A.stale_since, ticks);
	} else if (ticks - LOAD(A.stale_since) >= SURE_TICKS && LOAD(A.state) == AGENT_ON) {
		agent_off(PMM_OFF_MONITOR_GONE);
	}
}

/*
 * The cycle counter saves nothing where the C library is there to be asked: on many machines it
 * takes longer.
 */
uint32_t clock_own(void)
{
	uint64_t cycles;

	if (A.compiled_in) {
		STORE(A.own_tick, clock_ticks());
		return LOAD(A.own_tick);
	}
	cycles = arch_cycles();
	if (cycles - LOAD(A.own_clock_cycles) > CYCLES_PER_LOOK) {
		STORE(A.own_clock_cycles, cycles);
		STORE(A.own_tick, clock_ticks());
		monitor_look(LOAD(A.own_tick));
	}
	return LOAD(A.own_tick);
}

/*
 * An allocation asks for the time, always: it says how old a block is. A release only needs to know
 * about how long the block has lived, so where events come fast it takes the time that was asked
 * for last; after a rest a few releases may count as earlier than they were.
 */
uint32_t clock_of_release(struct tctx *c)
{
	uint32_t last = LOAD(A.own_tick);

	if (c->clock_rest) {
		c->clock_rest--;
		return last;
	}
	if (clock_own() == last)
		c->clock_rest = FAST_EVENTS;
	return LOAD(A.own_tick);
}

void clock_check(void)
{
	uint32_t ticks = clock_ticks();

	STORE(A.own_tick, ticks);
	STORE(A.own_clock, A.compiled_in || A.tree->flags & PMM_TREE_STANDALONE ||
				   A.tree->mode == PMM_MODE_SAMPLED ||
				   ticks > LOAD(A.tree->tick) + LATE_TICKS || agent_monitor_dead());
	monitor_look(ticks);
}
