/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/guard/guard.c, budget.c: limits on blocks, mappings and address space, locked memory, what
 * guarding may cost. Also of agent/guard/area.c, own.c.
 */
#include "tests/unit/guard_host.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/guard/budget.h"

static void most_blocks(void)
{
	struct pmm_check options = guard_usual;
	enum guard_refusal why;
	uint32_t run[1000];

	options.max_guarded = 1000;
	start_with(options);
	for (unsigned area = 0; area < PMM_GUARD_AREAS; area++) {
		for (unsigned i = 0; i < 1000; i++)
			run[i] = block(PAGE << area, 16);
		CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_LIMIT);
		give(run[500]);
		run[500] = block(1, 1);
		CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_LIMIT);
		CHECK(agent.ledger->check.guarded_now == 1000);
		for (unsigned i = 0; i < 1000; i++)
			give(run[i]);
	}
	CHECK(agent.ledger->check.guarded_most == 1000 && !agent.ledger->check.guarded_now);
}

static void too_large(void)
{
	enum guard_refusal why;

	start();
	CHECK(block_try((1 << 20) + 1, 16, &why) == NO_RUN && why == GUARD_LARGE);
	CHECK(block_try(SIZE_MAX, 16, &why) == NO_RUN && why == GUARD_LARGE);
	CHECK(block_try(16, 2 * PAGE, &why) == NO_RUN && why == GUARD_LARGE);
	look_at(block(16, 0), 16, 16);
}

/* All pages are open then; what is released stays as it is, and is not used again. */
static void confined(void)
{
	struct pmm_check options = guard_usual;
	enum guard_refusal why;
	uint32_t run, n;

	options.max_guarded = 1;
	start_with(options);
	n = agent.ledger->check.area_runs[7];
	give(block(1, 1));
	run = block(PAGE << 7, 16);
	memset(at(run), 1, PAGE << 7);
	CHECK(stops(at(run) - 1) && stops(at(run) + (PAGE << 7)) &&
	      stops((void *)areas.area[0].start));
	agent.no_guards = true;
	guard_open_all();
	CHECK(agent.ledger->check.opened == 1);
	CHECK(!stops(at(run) - 1) && !stops(at(run) + (PAGE << 7)) &&
	      !stops((void *)(areas.area[0].start + PAGE)));
	CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_KERNEL);
	give(run);
	CHECK(guard_page_open((uint64_t)at(run) & -PAGE) && *at(run) == 1);
	guard_page_close((uint64_t)at(run) & -PAGE);
	CHECK(!stops(at(run)) && *at(run) == 1);
	agent.no_guards = false;
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t other = block(PAGE << 7, 16);

		CHECK(other != run);
		give(other);
	}
}

static unsigned mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned n = 0;
	int c;

	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/*
 * What the blocks add to the mappings stays below three quarters of what may be, also after they
 * came and went at random.
 */
static void few_mappings(void)
{
	struct pmm_check options = guard_usual;
	static uint32_t run[1000];
	unsigned nr = 0, before, refused = 0;
	enum guard_refusal why;

	options.max_mappings = 400;
	start_with(options);
	before = mappings();
	srandom(1);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = (unsigned)random() % NR(run);

		if (k < nr) {
			give(run[k]);
			run[k] = run[--nr];
		} else if ((run[nr] = block_try(1 + (size_t)random() % 20000, 16, &why)) !=
			   NO_RUN) {
			nr++;
		} else {
			CHECK(why == GUARD_KERNEL);
			refused++;
		}
		if (i % 500 == 0)
			CHECK(mappings() < before + 300 + 4 * PMM_GUARD_AREAS);
	}
	CHECK(!!refused == !!(guard_flags & PMM_CHECK_MPROTECT));
	while (nr)
		give(run[--nr]);
	CHECK(mappings() < before + 4 * PMM_GUARD_AREAS);
	if (refused)
		CHECK(refused > 100);
}

static void little_address_space(void)
{
	struct rlimit l = { 4ul << 30, 4ul << 30 };
	struct pmm_check options = guard_usual;
	void *p;

	CHECK(!setrlimit(RLIMIT_AS, &l));
	options.max_guarded = 1 << 20;
	start_with(options);
	look_at(block(100, 16), 100, 16);
	p = mmap(NULL, 3ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(p != MAP_FAILED);
}

static void no_address_space(void)
{
	struct rlimit l = { 128 << 20, 128 << 20 };
	static uint32_t alive = 1;
	enum guard_refusal why;

	agent_host_init(1 << 20);
	agent.state = AGENT_ON;
	agent.alive = &alive;
	CHECK(!setrlimit(RLIMIT_AS, &l));
	CHECK(!guard_start(&guard_usual));
	CHECK(guard_alloc(1, 1, PMM_GUARD_RIGHT, &why) == NO_RUN && why == GUARD_KERNEL);
	CHECK(!guard_in_pool((uint64_t)&why) && guard_block((uint64_t)&why) == NO_RUN);
}

/*
 * The program locks all its memory: the pool stays usable, blocks are zeroed, released ones
 * inaccessible.
 */
static void locked(void)
{
	uint32_t run[100];

	start();
	for (unsigned i = 0; i < 50; i++)
		run[i] = block(5000, 16);
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	for (unsigned round = 0; round < 600; round++) {
		for (unsigned i = 50; i < 100; i++) {
			run[i] = block(5000, 16);
			for (unsigned j = 0; j < 5000; j += 100)
				CHECK(!at(run[i])[j]);
			memset(at(run[i]), 0xee, 5000);
		}
		for (unsigned i = 50; i < 100; i++) {
			give(run[i]);
			CHECK(stops(at(run[i])));
		}
	}
	for (unsigned i = 0; i < 50; i++)
		give(run[i]);
}

/* ---- the budget ------------------------------------------------------------------------------ */

static void spin(unsigned ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		;
}

/*
 * Cycles of work that are allowed until it says no; asked often enough for it to look at the clock.
 */
static uint64_t drain(struct tctx *c, enum budget_turn turn, uint64_t step)
{
	uint64_t cycles = 0;

	for (;;) {
		bool more = false;

		for (unsigned i = 0; i < 64 && !more; i++)
			more = budget_allows(c, turn);
		if (!more)
			return cycles;
		budget_spent(step / 2, 0);		/* as much again comes later */
		cycles += step;
	}
}

/* By the clock: sleeping takes as long as other work lets it. */
static uint64_t cycles_per_ms(void)
{
	struct timespec from, to;
	uint64_t cycles;

	clock_gettime(CLOCK_MONOTONIC, &from);
	cycles = arch_cycles();
	usleep(20000);
	cycles = arch_cycles() - cycles;
	clock_gettime(CLOCK_MONOTONIC, &to);
	return cycles * 1000000 /
	       (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
}

static void budget(void)
{
	static struct tctx c;
	uint64_t per_ms = cycles_per_ms(), got;

	agent_host_init(1 << 20);
	budget_start(UINT64_MAX);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(budget_allows(&c, BUDGET_ANY));
		budget_spent(UINT64_MAX / 2000, 1000);
	}
	budget_start(5);				/* as at the level sampled */
	got = drain(&c, BUDGET_ANY, 10000);
	CHECK(got > 2500000ull && got < 2 * 3000000ull);
	got = drain(&c, BUDGET_ODD, 10000);
	CHECK(got > 1200000ull && got < 3000000ull);
	got = drain(&c, BUDGET_NEW, 10000);
	CHECK(got > 1200000ull && got < 3000000ull);
	budget_start(100);
	got = drain(&c, BUDGET_ANY, 10000);
	CHECK(got > 10 * 3000000ull && got < 16 * 3000000ull);
	CHECK(!budget_allows(&c, BUDGET_ANY) && budget_allows(&c, BUDGET_ODD) &&
	      budget_allows(&c, BUDGET_NEW));
	got = drain(&c, BUDGET_ODD, 10000);
	CHECK(got > 4 * 3000000ull && got < 9 * 3000000ull);
	CHECK(!budget_allows(&c, BUDGET_ODD) && budget_allows(&c, BUDGET_NEW));
	got = drain(&c, BUDGET_NEW, 10000);
	CHECK(got > 4 * 3000000ull && got < 9 * 3000000ull);
	usleep(50000);					/* sleeping earns nothing */
	got = drain(&c, BUDGET_NEW, 10000);
	CHECK(got < 2 * per_ms);
	spin(200);					/* 20 ms of it */
	got = drain(&c, BUDGET_NEW, 10000);
	CHECK(got > 10 * per_ms && got < 30 * per_ms);
	budget_forked();
	drain(&c, BUDGET_NEW, 10000);
	spin(200);
	got = drain(&c, BUDGET_NEW, 10000);
	CHECK(got > 10 * per_ms && got < 50 * per_ms);
	/* pages that the program faults in count, however many */
	budget_start(100);
	budget_spent(0, 25000);				/* 75,000,000 cycles, a full purse */
	CHECK(!budget_allows(&c, BUDGET_NEW));
	budget_start(0);				/* nothing, not even in advance */
	CHECK(!budget_allows(&c, BUDGET_ANY) && !budget_allows(&c, BUDGET_NEW));
}

/* ---- all of them ----------------------------------------------------------------------------- */

BOTH(most_blocks)
BOTH(too_large)
BOTH(confined)
BOTH(few_mappings)
BOTH(little_address_space)
BOTH(no_address_space)

static void locked_with(uint32_t with)
{
	struct rlimit l;

	getrlimit(RLIMIT_MEMLOCK, &l);
	if (geteuid() && l.rlim_cur != RLIM_INFINITY) {
		print_message("skipped: mlockall() needs root or an unlimited RLIMIT_MEMLOCK\n");
		skip();
	}
	in_child(locked, with);
}

static void locked_madvise(void **state)
{
	(void)state;
	locked_with(0);
}

static void locked_mprotect(void **state)
{
	(void)state;
	locked_with(PMM_CHECK_MPROTECT);
}

static void budget_alone(void **state)
{
	(void)state;
	in_child(budget, PMM_CHECK_MPROTECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(most_blocks),
		TESTS(too_large),
		TESTS(confined),
		TESTS(few_mappings),
		TESTS(little_address_space),
		TESTS(no_address_space),
		TESTS(locked),
		cmocka_unit_test(budget_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
