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
#define FAR_NS		1000000000ull	/* more than clocks of one time namespace ever differ */
#define OFFSETS_BYTES	64		/* the first line of /proc/self/timens_offsets */
#define CYCLES_PER_LOOK	2000000u	/* 0.5 to 2 ms on any machine of this century */

uint64_t clock_ns(int clock)
{
	int64_t ts[2] = { 0, 0 };

	if (!agent.vdso_clock || agent.vdso_clock(clock, ts))
		return sys_clock_ns(clock);
	return (uint64_t)ts[0] * 1000000000u + (uint64_t)ts[1];
}

/* ---- time namespaces ------------------------------------------------------------------------- */

static bool is_far(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns - b_ns + FAR_NS > 2 * FAR_NS;
}

/*
 * What the kernel adds to CLOCK_MONOTONIC here; 0 where it does not say. It is that of children yet
 * to be made, so another clock has to confirm it.
 */
static uint64_t offset_ns(void)
{
	char text[OFFSETS_BYTES] = "";
	uint64_t seconds, ns;
	const char *s = text;
	bool below;
	int fd;

	fd = agent.confined ? -1 : sys_open("/proc/self/timens_offsets", SYS_O_RDONLY);
	if (fd < 0)
		return 0;
	sys3(read, fd, text, sizeof(text) - 1);
	sys1(close, fd);
	while (*s && *s != ' ')
		s++;
	while (*s == ' ')
		s++;
	below = *s == '-';
	s = str_number(s + below, 10, &seconds);
	while (*s == ' ')
		s++;
	str_number(s, 10, &ns);
	return (below ? -seconds : seconds) * 1000000000u + ns;
}

/*
 * How much CLOCK_MONOTONIC is ahead of the monitor's, modulo 2^64: not 0 in another time namespace
 * than the monitor's. A tick far behind is no proof, for a monitor that is stopped does not tick.
 * The time of day is the same in all namespaces but may have been set, and goes on in suspend. Two
 * of three sources have to agree: tick, time of day, and what the kernel says. A tick far ahead is
 * proof alone. Without a monitor there is no tick.
 */
static uint64_t ahead_ns(void)
{
	const struct pmm_tree *t = agent.tree;
	uint64_t tick_ns = t->start_monotonic_ns + LOAD(t->tick) * PMM_TICK_NS,
		 now_ns = clock_ns(SYS_CLOCK_MONOTONIC), by_tick = now_ns - tick_ns, by_day, offset;
	bool is_before;

	if (!is_far(by_tick, 0))
		return 0;
	is_before = by_tick >> 63;
	by_day = now_ns - t->start_monotonic_ns -
		 (clock_ns(SYS_CLOCK_REALTIME) - t->start_realtime_ns);
	if (!is_before && !is_far(by_day, 0))
		return 0;
	if (!is_far(by_day, by_tick) && !(t->flags & PMM_TREE_STANDALONE))
		return by_day;
	offset = offset_ns();
	if (offset && (!is_far(offset, by_day) || !is_far(offset, by_tick)))
		return offset;
	return is_before ? by_tick : 0;
}

uint64_t clock_monitor_ns(void)
{
	uint64_t ahead = agent.tree ? ahead_ns() : 0;

	return clock_ns(SYS_CLOCK_MONOTONIC) - ahead;
}

void clock_begin(void)
{
	STORE(agent.clock_ahead_ns, ahead_ns());
	clock_check();
}

/* ---- ticks ----------------------------------------------------------------------------------- */

static uint32_t clock_ticks(void)
{
	uint64_t now_ns = clock_ns(SYS_CLOCK_MONOTONIC_COARSE) - LOAD(agent.clock_ahead_ns);

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
