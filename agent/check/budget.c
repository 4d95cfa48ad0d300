/*
 * The budget of checking.
 *
 * All is counted in cycles of the machine's counter; what the kernel says of the process's CPU time, once in a while and only when a
 * purse is empty, is converted by how fast the counter has run since the start. What checking itself took is no CPU time of the
 * program's.
 */
#include "agent/check/budget.h"

#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define CYCLES_PER_MS	3000000ull		/* as long as it is not measured */
#define PAGES_MS	25u			/* a full purse of guards, ... */
#define FEW_MS		2u			/* ... where they are to cost next to nothing, ... */
#define AMPLE_PERMILLE	50u			/* which is less than that */
#define CANARIES_MS	15u			/* ... of all else */
#define RESERVE_SHARE	4			/* of a full purse of guards for preferred blocks */
#define OVERDRAFT_MS	50			/* ... of canaries: so much below nothing */
#define INTERVAL_MS	2u			/* the kernel is asked so often at most; it adds up all threads */
#define EVENTS_PER_LOOK	16u			/* power of two: the counter is read so often at most, for guards */
#define MAX_SPENT	300000ull		/* 0.1 ms: more was not work but being preempted */
#define MAX_WATCHED	30000ull		/* ... of one event with a canary */
#define MAX_EARNED_NS	10000000000ull	/* at once; no more would be kept */
#define MAX_PERMILLE	100000u		/* so that nothing overflows */
#define PROCESS_CPUTIME	2

static struct {
	uint64_t permille[BUDGET_NR];	/* UINT64_MAX: any */
	int64_t left[BUDGET_NR];	/* the purses */
	uint64_t spent;			/* since CPU time was last looked at */
	uint64_t due;			/* the counter, when it may be looked at again */
	uint64_t cpu_ns;		/* as it was then */
	uint64_t start, start_ns;	/* the counter and the time when all began */
} B;

bool budget_tight;

static uint64_t full_ms(enum budget_for what)
{
	if (what == BUDGET_CANARIES)
		return CANARIES_MS;
	return B.permille[what] < AMPLE_PERMILLE ? FEW_MS : PAGES_MS;
}

void budget_start(uint64_t guards_permille, uint64_t canaries_permille)
{
	uint64_t permille[BUDGET_NR] = { guards_permille, canaries_permille };

	for (unsigned i = 0; i < BUDGET_NR; i++) {
		B.permille[i] = permille[i] < MAX_PERMILLE || permille[i] == UINT64_MAX ? permille[i] : MAX_PERMILLE;
		B.left[i] = permille[i] ? (int64_t)(full_ms(i) * CYCLES_PER_MS) : 0;
	}
	B.start = arch_cycles();
	B.start_ns = clock_ns(SYS_CLOCK_MONOTONIC);
	B.cpu_ns = sys_clock_ns(PROCESS_CPUTIME);
	B.spent = B.due = 0;
	budget_tight = !canaries_permille;
}

void budget_forked(void)
{
	STORE(B.cpu_ns, 0);
	STORE(B.spent, 0);
	STORE(B.due, 0);
}

void budget_spent(enum budget_for what, uint64_t cycles)
{
	int64_t left;

	if (B.permille[what] == UINT64_MAX)
		return;
	if (cycles > MAX_SPENT * (what == BUDGET_CANARIES ? BUDGET_EVERY : 1))
		cycles = MAX_SPENT;
	left = ADD(B.left[what], -(int64_t)cycles);
	ADD(B.spent, cycles);
	if (what == BUDGET_CANARIES && left <= (int64_t)cycles)
		STORE(budget_tight, true);
}

void budget_watched(uint64_t from)
{
	uint64_t cycles = arch_cycles() - from;

	budget_spent(BUDGET_CANARIES, (cycles < MAX_WATCHED ? cycles : MAX_WATCHED) * BUDGET_EVERY);
}

static uint64_t cycles_per_us(uint64_t now)
{
	uint64_t us = (clock_ns(SYS_CLOCK_MONOTONIC) - B.start_ns) / 1000;

	return us < 1000 || now < B.start ? CYCLES_PER_MS / 1000 : (now - B.start) / us;
}

static void fill(enum budget_for what, uint64_t cycles, int64_t full)
{
	int64_t more, left;

	if (B.permille[what] == UINT64_MAX)
		return;
	more = (int64_t)(cycles * B.permille[what] / 1000);
	left = ADD(B.left[what], more) + more;
	if (left > full)
		ADD(B.left[what], full - left);
	if (what == BUDGET_CANARIES && left > 0)
		STORE(budget_tight, false);
}

/* The CPU time since the last look, into the purses. */
static void earn(uint64_t now)
{
	uint64_t per_us = cycles_per_us(now), cpu_ns = sys_clock_ns(PROCESS_CPUTIME), last_ns = LOAD(B.cpu_ns);
	uint64_t spent, used;

	do
		if (cpu_ns <= last_ns)
			return;
	while (!CAS(B.cpu_ns, last_ns, cpu_ns));
	spent = __atomic_exchange_n(&B.spent, 0, __ATOMIC_RELAXED);
	used = cpu_ns - last_ns < MAX_EARNED_NS ? (cpu_ns - last_ns) * per_us / 1000 : MAX_EARNED_NS / 1000 * per_us;
	if (used <= spent)
		return;
	for (enum budget_for i = 0; i < BUDGET_NR; i++)
		fill(i, used - spent, (int64_t)(full_ms(i) * 1000 * per_us));
}

void budget_tend(void)
{
	uint64_t now, due;

	if (LOAD(A.confined))
		return;
	now = arch_cycles();
	due = LOAD(B.due);
	if (now >= due && CAS(B.due, due, now + INTERVAL_MS * CYCLES_PER_MS))
		earn(now);
}

static bool enough(enum budget_for what, bool preferred)
{
	int64_t least = what == BUDGET_CANARIES ? preferred ? -OVERDRAFT_MS * (int64_t)CYCLES_PER_MS : 0 :
			preferred ? 0 : (int64_t)(full_ms(what) * CYCLES_PER_MS / RESERVE_SHARE);

	return LOAD(B.left[what]) > least;
}

bool budget_allows(struct tctx *c, enum budget_for what, bool preferred)
{
	if (B.permille[what] == UINT64_MAX || enough(what, preferred))
		return true;
	if (what == BUDGET_GUARDS && c->events % EVENTS_PER_LOOK)
		return false;
	budget_tend();
	return enough(what, preferred);
}
