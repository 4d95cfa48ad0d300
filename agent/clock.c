/*
 * Time as the ledger counts it. The monitor ticks a word in the tree; without one, and in sampled mode, where events are rare and the
 * monitor had better sleep, the agent reads the kernel's coarse clock itself, at most about once in a millisecond.
 */
#include "agent/clock.h"

#include "agent/core.h"

#define GONE_TICKS	200	/* two seconds ... */
#define SURE_TICKS	20	/* ... and still no tick after that: both processes may have been frozen */
#define LATE_TICKS	50		/* half a second: the monitor is gone, stopped or starved */
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

	return now_ns > A.tree->start_monotonic_ns ? (uint32_t)((now_ns - A.tree->start_monotonic_ns) / PMM_TICK_NS) : 0;
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

uint32_t clock_own(void)
{
	uint64_t cycles = arch_cycles();

	if (cycles - LOAD(A.own_clock_cycles) > CYCLES_PER_LOOK) {
		STORE(A.own_clock_cycles, cycles);
		STORE(A.own_tick, clock_ticks());
		monitor_look(LOAD(A.own_tick));
	}
	return LOAD(A.own_tick);
}

void clock_check(void)
{
	uint32_t ticks = clock_ticks();

	STORE(A.own_tick, ticks);
	STORE(A.own_clock, A.tree->mode == PMM_MODE_SAMPLED || ticks > LOAD(A.tree->tick) + LATE_TICKS);
	monitor_look(ticks);
}
