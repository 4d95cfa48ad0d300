/*
 * The budget of guarding.
 *
 * All is counted in cycles of the machine's counter; what the kernel says of the process's CPU time, once in a while and only when the
 * bucket is empty, is converted by how fast the counter has run since the start. What guarding itself took is no CPU time of the
 * program's.
 */
#include "agent/check/budget.h"

#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define CYCLES_PER_MS	3000000ull		/* as long as it is not measured */
#define BURST_MS	50u			/* a full bucket */
#define RESERVE_MS	12u			/* of it for preferred blocks */
#define INTERVAL_MS	2u			/* the kernel is asked so often at most; it adds up all threads */
#define EVENTS_PER_LOOK	16u			/* power of two: the counter is read so often at most */
#define MAX_SPENT	300000ull		/* 0.1 ms: more was not work but being preempted */
#define MAX_EARNED_NS	10000000000ull	/* at once; no more would be kept */
#define MAX_PERMILLE	100000u		/* so that nothing overflows */
#define PROCESS_CPUTIME	2

static struct {
	bool any;
	uint64_t permille;
	int64_t left;			/* the bucket */
	uint64_t spent;			/* since CPU time was last looked at */
	uint64_t due;			/* the counter, when it may be looked at again */
	uint64_t cpu_ns;		/* as it was then */
	uint64_t start, start_ns;	/* the counter and the time when all began */
} B;

void budget_start(uint64_t permille)
{
	B.any = permille == UINT64_MAX;
	B.permille = permille < MAX_PERMILLE ? permille : MAX_PERMILLE;
	B.left = (int64_t)(BURST_MS * CYCLES_PER_MS);
	B.start = arch_cycles();
	B.start_ns = clock_ns(SYS_CLOCK_MONOTONIC);
	B.cpu_ns = sys_clock_ns(PROCESS_CPUTIME);
	B.spent = B.due = 0;
}

void budget_forked(void)
{
	STORE(B.cpu_ns, 0);
	STORE(B.spent, 0);
	STORE(B.due, 0);
}

void budget_spent(uint64_t cycles)
{
	if (B.any)
		return;
	if (cycles > MAX_SPENT)
		cycles = MAX_SPENT;
	ADD(B.left, -(int64_t)cycles);
	ADD(B.spent, cycles);
}

static uint64_t cycles_per_us(uint64_t now)
{
	uint64_t us = (clock_ns(SYS_CLOCK_MONOTONIC) - B.start_ns) / 1000;

	return us < 1000 || now < B.start ? CYCLES_PER_MS / 1000 : (now - B.start) / us;
}

/* The CPU time since the last look, into the bucket. */
static void earn(uint64_t now)
{
	uint64_t per_us = cycles_per_us(now), cpu_ns = sys_clock_ns(PROCESS_CPUTIME), last_ns = LOAD(B.cpu_ns);
	int64_t more, left, full = (int64_t)(BURST_MS * 1000 * per_us);
	uint64_t spent, used;

	do
		if (cpu_ns <= last_ns)
			return;
	while (!CAS(B.cpu_ns, last_ns, cpu_ns));
	spent = __atomic_exchange_n(&B.spent, 0, __ATOMIC_RELAXED);
	used = cpu_ns - last_ns < MAX_EARNED_NS ? (cpu_ns - last_ns) * per_us / 1000 : MAX_EARNED_NS / 1000 * per_us;
	if (used <= spent)
		return;
	more = (int64_t)((used - spent) * B.permille / 1000);
	left = ADD(B.left, more) + more;
	if (left > full)
		ADD(B.left, full - left);
}

static bool enough(bool preferred)
{
	return LOAD(B.left) > (preferred ? 0 : (int64_t)(RESERVE_MS * CYCLES_PER_MS));
}

bool budget_allows(struct tctx *c, bool preferred)
{
	uint64_t now, due;

	if (B.any || enough(preferred))
		return true;
	if (c->events % EVENTS_PER_LOOK || LOAD(A.confined))
		return false;
	now = arch_cycles();
	due = LOAD(B.due);
	if (now < due || !CAS(B.due, due, now + INTERVAL_MS * CYCLES_PER_MS))
		return false;
	earn(now);
	return enough(preferred);
}
