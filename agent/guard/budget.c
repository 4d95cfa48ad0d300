/* SPDX-License-Identifier: MIT */
/*
 * The budget of guard pages.
 *
 * All is counted in cycles of the machine's counter; what the kernel says of the process's CPU
 * time, once in a while and only when the bucket is empty, is converted by how fast the counter has
 * run since the start. What guarding itself took is no CPU time of the program's.
 *
 * What is measured is what opening, filling, looking through and closing pages takes. As much again
 * comes later and elsewhere: a page for each block drives the program's own data out of the
 * processor's caches and of the TLB, which closing a page has part of flushed; the kernel gives the
 * pages back at the end. doc/check.md has the measurement.
 */
#include "agent/guard/budget.h"

#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define CYCLES_PER_MS	3000000ull		/* as long as it is not measured */
#define CAPACITY_MS	25u
/* where guarding is to cost next to nothing: below this rate */
#define LOW_CAPACITY_MS	2u
#define LOW_PERMILLE	50u
/* the kernel is asked so often at most; it adds up all threads */
#define INTERVAL_MS	2u
/* power of two: the counter is read so often at most */
#define EVENTS_PER_LOOK	16u
#define MAX_SPENT	300000ull		/* 0.1 ms: more was not work but being preempted */
#define FAULT_CYCLES	3000u			/* a page fault of the program's: 1 us */
/* quarters of what was measured that come later: see below */
#define AFTERMATH	4
#define MAX_EARNED_NS	10000000000ull	/* at once; no more would be kept */
#define MAX_PERMILLE	100000u		/* so that nothing overflows */
#define PROCESS_CPUTIME	2

/* Quarters of the capacity that are reserved for the classes that come later. */
static const uint8_t reserved[BUDGET_NR] = {
	[BUDGET_ANY] = 2, [BUDGET_ODD] = 1, [BUDGET_NEW] = 0
};

static struct {
	uint64_t permille;		/* UINT64_MAX: any */
	int64_t tokens;			/* cycles; below 0: a debt */
	uint64_t spent;			/* since CPU time was last looked at */
	uint64_t due;			/* the counter, when it may be looked at again */
	uint64_t cpu_ns;		/* as it was then */
	uint64_t start, start_ns;	/* the counter and the time when all began */
} bucket;

static uint64_t capacity_ms(void)
{
	return bucket.permille < LOW_PERMILLE ? LOW_CAPACITY_MS : CAPACITY_MS;
}

void budget_start(uint64_t permille)
{
	bucket.permille = permille < MAX_PERMILLE || permille == UINT64_MAX ? permille
									    : MAX_PERMILLE;
	bucket.tokens = permille ? (int64_t)(capacity_ms() * CYCLES_PER_MS) : 0;
	bucket.start = arch_cycles();
	bucket.start_ns = clock_ns(SYS_CLOCK_MONOTONIC);
	bucket.cpu_ns = sys_clock_ns(PROCESS_CPUTIME);
	bucket.spent = bucket.due = 0;
}

void budget_forked(void)
{
	STORE(bucket.cpu_ns, 0);
	STORE(bucket.spent, 0);
	STORE(bucket.due, 0);
}

void budget_spent(uint64_t cycles, uint64_t pages)
{
	if (bucket.permille == UINT64_MAX)
		return;
	if (cycles > MAX_SPENT)
		cycles = MAX_SPENT;
	cycles += cycles * AFTERMATH / 4 + pages * FAULT_CYCLES;
	ADD(bucket.tokens, -(int64_t)cycles);
	ADD(bucket.spent, cycles);
}

static uint64_t cycles_per_us(uint64_t now)
{
	uint64_t us = (clock_ns(SYS_CLOCK_MONOTONIC) - bucket.start_ns) / 1000;

	return us < 1000 || now < bucket.start ? CYCLES_PER_MS / 1000 : (now - bucket.start) / us;
}

static void fill(uint64_t cycles, int64_t full)
{
	int64_t more = (int64_t)(cycles * bucket.permille / 1000),
		left = ADD(bucket.tokens, more) + more;

	if (left > full)
		ADD(bucket.tokens, full - left);
}

/* Adds the tokens for the CPU time since the last call. */
static void earn(uint64_t now)
{
	uint64_t per_us = cycles_per_us(now), cpu_ns = sys_clock_ns(PROCESS_CPUTIME),
		 last_ns = LOAD(bucket.cpu_ns);
	uint64_t spent, used;

	do
		if (cpu_ns <= last_ns)
			return;
	while (!CAS(bucket.cpu_ns, last_ns, cpu_ns));
	spent = __atomic_exchange_n(&bucket.spent, 0, __ATOMIC_RELAXED);
	used = cpu_ns - last_ns < MAX_EARNED_NS ? (cpu_ns - last_ns) * per_us / 1000
						: MAX_EARNED_NS / 1000 * per_us;
	if (used > spent)
		fill(used - spent, (int64_t)(capacity_ms() * 1000 * per_us));
}

static void earn_if_due(void)
{
	uint64_t now, due;

	if (LOAD(agent.confined))
		return;
	now = arch_cycles();
	due = LOAD(bucket.due);
	if (now >= due && CAS(bucket.due, due, now + INTERVAL_MS * CYCLES_PER_MS))
		earn(now);
}

static bool enough(enum budget_turn turn)
{
	return LOAD(bucket.tokens) > (int64_t)(capacity_ms() * CYCLES_PER_MS / 4 * reserved[turn]);
}

bool budget_allows(struct tctx *c, enum budget_turn turn)
{
	if (bucket.permille == UINT64_MAX || enough(turn))
		return true;
	if (++c->budget_asked % EVENTS_PER_LOOK)
		return false;
	earn_if_due();
	return enough(turn);
}
