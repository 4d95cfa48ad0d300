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

	if (!agent.vdso_clock || agent.vdso_clock(clock, ts))
		return sys_clock_ns(clock);
	return (uint64_t)ts[0] * 1000000000u + (uint64_t)ts[1];
}

static uint32_t clock_ticks(void)
{
	uint64_t now_ns = clock_ns(SYS_CLOCK_MONOTONIC_COARSE);

	return now_ns > agent.tree->start_monotonic_ns
		       ? (uint32_t)((now_ns - agent.tree->start_monotonic_ns) / PMM_TICK_NS)
		       : 0;
}

/* A process that was attached to is left alone once no monitor watches any more. */
static void monitor_look(uint32_t ticks)
{
	uint32_t last = LOAD(agent.tree->tick);

	if (!(agent.tree->flags & PMM_TREE_ATTACHED) || ticks <= last + GONE_TICKS) {
		STORE(agent.stale_since, 0);
	} else if (!LOAD(agent.stale_since) || LOAD(agent.stale_tick) != last) {
		STORE(agent.stale_tick, last);
		STORE(agent.stale_since, ticks);
	} else if (ticks - LOAD(agent.stale_since) >= SURE_TICKS && agent_is_on()) {
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

	if (agent.compiled_in) {
		STORE(agent.own_tick, clock_ticks());
		return LOAD(agent.own_tick);
	}
	cycles = arch_cycles();
	if (cycles - LOAD(agent.own_clock_cycles) > CYCLES_PER_LOOK) {
		STORE(agent.own_clock_cycles, cycles);
		STORE(agent.own_tick, clock_ticks());
		monitor_look(LOAD(agent.own_tick));
	}
	return LOAD(agent.own_tick);
}

/*
 * An allocation asks for the time, always: it says how old a block is. A release only needs to know
 * about how long the block has lived, so where events come fast it takes the time that was asked
 * for last; after a rest a few releases may count as earlier than they were.
 */
uint32_t clock_of_release(struct tctx *c)
{
	uint32_t last = LOAD(agent.own_tick);

	if (c->clock_rest) {
		c->clock_rest--;
		return last;
	}
	if (clock_own() == last)
		c->clock_rest = FAST_EVENTS;
	return LOAD(agent.own_tick);
}

void clock_check(void)
{
	uint32_t ticks = clock_ticks();

	STORE(agent.own_tick, ticks);
	STORE(agent.own_clock, agent.compiled_in || agent.tree->flags & PMM_TREE_STANDALONE ||
				       agent.tree->mode == PMM_MODE_SAMPLED ||
				       ticks > LOAD(agent.tree->tick) + LATE_TICKS ||
				       agent_monitor_dead());
	monitor_look(ticks);
}
