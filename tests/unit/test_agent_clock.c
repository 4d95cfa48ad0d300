/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/clock.c: ticks of the kernel's clock, when it is asked, and a monitor that does not tick
 * any more. The kernel's clock is a fake.
 */
#include "tests/unit/agent_host.h"
#include "tests/unit/unit.h"

#include <time.h>

#include "agent/clock.h"
#include "agent/agent_core.h"

#define START_NS	7000000000ull
#define DAY_NS		1700000000000000000ull	/* the time of day at the start */
#define SECOND_NS	1000000000ull

static uint64_t now_ns, day_ns;
static unsigned asked;
static int asked_for, refuses;
static uint32_t alive = 1;

static int fake_clock(int clock, void *to)
{
	uint64_t ns = clock == SYS_CLOCK_REALTIME ? day_ns : now_ns;
	int64_t *ts = to;

	asked++;
	asked_for = clock;
	ts[0] = (int64_t)(ns / 1000000000);
	ts[1] = (int64_t)(ns % 1000000000);
	return refuses;
}

/* Which the agent itself only reads. */
static struct pmm_tree *tree(void)
{
	return (struct pmm_tree *)agent.tree;
}

static int begin(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	agent.vdso_clock = (void *)fake_clock;
	agent.state = AGENT_ON;
	agent.alive = &alive;
	tree()->start_monotonic_ns = START_NS;
	tree()->start_realtime_ns = DAY_NS;
	tree()->flags = 0;
	tree()->mode = PMM_MODE_EXACT;
	tree()->tick = 0;
	now_ns = START_NS;
	day_ns = DAY_NS;
	refuses = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_host_fini();
	return 0;
}

/* The clock at so many ticks after the start, looked at. */
static void at_tick(uint32_t tick)
{
	now_ns = START_NS + tick * (uint64_t)PMM_TICK_NS;
	clock_check();
}

static uint64_t kernels_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Not the vdso's, but the kernel's own. */
static void assert_kernels_clock(void)
{
	uint64_t before = kernels_ns(), got = clock_ns(SYS_CLOCK_MONOTONIC);

	assert_in_range(got, before, kernels_ns());
}

static void seconds_and_nanoseconds(void **state)
{
	(void)state;
	now_ns = 12345678901234;
	assert_int_equal(clock_ns(SYS_CLOCK_MONOTONIC), 12345678901234);
	assert_int_equal(asked_for, SYS_CLOCK_MONOTONIC);
	refuses = -1;
	assert_kernels_clock();
	agent.vdso_clock = NULL;
	assert_kernels_clock();
}

static void ticks_begin_with_the_tree(void **state)
{
	(void)state;
	now_ns = START_NS - 1;
	clock_check();
	assert_int_equal(agent.own_tick, 0);
	assert_int_equal(asked_for, SYS_CLOCK_MONOTONIC_COARSE);
	now_ns = START_NS + PMM_TICK_NS - 1;
	clock_check();
	assert_int_equal(agent.own_tick, 0);
	at_tick(1);
	assert_int_equal(agent.own_tick, 1);
	at_tick(100000);
	assert_int_equal(agent.own_tick, 100000);
}

static void own_clock_when_nobody_ticks(void **state)
{
	(void)state;
	tree()->tick = 10;
	at_tick(60);
	assert_int_equal(agent.own_clock, 0);
	at_tick(61);
	assert_int_equal(agent.own_clock, 1);
	tree()->tick = 61;
	at_tick(61);
	assert_int_equal(agent.own_clock, 0);
	tree()->mode = PMM_MODE_SAMPLED;
	at_tick(61);
	assert_int_equal(agent.own_clock, 1);
	tree()->mode = PMM_MODE_EXACT;
	tree()->flags = PMM_TREE_STANDALONE;	/* nobody ever ticks */
	at_tick(61);
	assert_int_equal(agent.own_clock, 1);
	tree()->flags = 0;
	at_tick(61);
	assert_int_equal(agent.own_clock, 0);
	agent.compiled_in = true;
	at_tick(61);
	assert_int_equal(agent.own_clock, 1);
}

/* Two seconds without a tick, and 20 ticks after that still none. */
static void an_attached_process_is_left_alone(void **state)
{
	(void)state;
	tree()->flags = PMM_TREE_ATTACHED;
	tree()->tick = 5;
	at_tick(205);
	assert_int_equal(agent.stale_since, 0);
	at_tick(206);
	assert_int_equal(agent.stale_since, 206);
	assert_int_equal(agent.stale_tick, 5);
	at_tick(225);
	assert_int_equal(agent.stale_since, 206);
	assert_int_equal(agent.state, AGENT_ON);
	at_tick(226);
	assert_int_equal(agent.state, AGENT_OFF);
	assert_int_equal(agent.ledger->off_reason, PMM_OFF_MONITOR_GONE);
	assert_int_equal(agent.ledger->state, PMM_STATE_OFF);
}

static void a_tick_in_between_begins_anew(void **state)
{
	(void)state;
	tree()->flags = PMM_TREE_ATTACHED;
	tree()->tick = 5;
	at_tick(300);
	tree()->tick = 6;			/* it ticked, and is late again: both were frozen */
	at_tick(400);
	assert_int_equal(agent.stale_since, 400);
	assert_int_equal(agent.stale_tick, 6);
	assert_int_equal(agent.state, AGENT_ON);
	tree()->tick = 400;
	at_tick(419);
	assert_int_equal(agent.stale_since, 0);
	at_tick(700);
	assert_int_equal(agent.stale_since, 700);
	assert_int_equal(agent.state, AGENT_ON);
}

static void a_launched_process_goes_on(void **state)
{
	(void)state;
	tree()->flags = PMM_TREE_FOLLOW;
	at_tick(1000);
	at_tick(2000);
	assert_int_equal(agent.stale_since, 0);
	assert_int_equal(agent.state, AGENT_ON);
}

static void own_clock_is_asked_once_in_a_while(void **state)
{
	(void)state;
	agent.compiled_in = false;
	agent.own_clock_cycles = 0;
	now_ns = START_NS + 3 * (uint64_t)PMM_TICK_NS;
	asked = 0;
	assert_int_equal(clock_own(), 3);
	assert_int_equal(asked, 1);
	assert_true(agent.own_clock_cycles > 0);
	/* as if it had been asked just now: the difference is below zero, */
	agent.own_clock_cycles = arch_cycles() + (1ull << 40);
	/* which is far away, as it is unsigned */
	now_ns += PMM_TICK_NS;
	assert_int_equal(clock_own(), 4);
	agent.own_tick = 77;
	agent.own_clock_cycles = arch_cycles();
	for (unsigned i = 0; i < 3 && agent.own_tick == 77; i++)
		if (clock_own() != 77)
			assert_int_equal(agent.own_tick,
					 4); /* this thread was put aside in between */
	agent.compiled_in = true;
	now_ns += PMM_TICK_NS;
	assert_int_equal(clock_own(), 5);
	now_ns += PMM_TICK_NS;
	assert_int_equal(clock_own(), 6);
	assert_int_equal(agent.own_tick, 6);
}

/* After a release that found the time to be the same, 16 take the last one. */
static void releases_ask_now_and_then(void **state)
{
	struct tctx *c;

	(void)state;
	c = agent_host_ctx();
	agent.compiled_in = true;
	at_tick(8);
	assert_int_equal(clock_of_release(c), 8);
	assert_int_equal(c->clock_rest, 16);
	now_ns += 2 * (uint64_t)PMM_TICK_NS;
	asked = 0;
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(clock_of_release(c), 8);
	assert_int_equal(asked, 0);
	assert_int_equal(c->clock_rest, 0);
	assert_int_equal(clock_of_release(c), 10);
	assert_int_equal(c->clock_rest, 0);
	assert_int_equal(clock_of_release(c), 10);
	assert_int_equal(c->clock_rest, 16);
}

/* Whatever numbers of the seqlock a hook uses: in each round for some events, and not at first. */
static void a_check_is_due_now_and_then(void **state)
{
	struct tctx *c = agent_host_ctx();

	(void)state;
	assert_false(agent_check_due(c));
	for (unsigned step = 2; step <= 16; step += 2)
		for (unsigned from = 0; from < step; from += 2) {
			unsigned nr = 0;

			for (c->pub.seq = from; c->pub.seq < 10 * AGENT_CHECK_EVERY + from;
			     c->pub.seq += step)
				nr += agent_check_due(c);
			assert_in_range(nr, 10 * 16 / step - 10, 10 * 16 / step + 10);
			assert_true(nr >= 10);
		}
}

/* ---- time namespaces ---- */

/* A ledger begins so long after the tree: by our clock, the time of day, the monitor's tick. */
static uint64_t ahead_after(int64_t own_ms, int64_t day_ms, uint32_t tick)
{
	tree()->tick = tick;
	now_ns = START_NS + (uint64_t)(own_ms * 1000000);
	day_ns = DAY_NS + (uint64_t)(day_ms * 1000000);
	clock_begin();
	return agent.clock_ahead_ns;
}

static void an_offset_is_taken_off(void **state)
{
	(void)state;
	assert_int_equal(ahead_after(1000005000, 5000, 500), 1000000 * SECOND_NS);
	assert_int_equal(agent.own_tick, 500);
	assert_int_equal(agent.own_clock, 0);
	assert_int_equal(clock_monitor_ns(), START_NS + 5 * SECOND_NS);
	now_ns += 3 * PMM_TICK_NS;
	clock_check();
	assert_int_equal(agent.own_tick, 503);
	assert_int_equal(ahead_after(1000005000, 5000, 470), 1000000 * SECOND_NS); /* a bit late */
	assert_int_equal(agent.own_tick, 500);
	tree()->flags = PMM_TREE_ATTACHED;
	assert_int_equal(ahead_after(60000, 0, 0), 60 * SECOND_NS);
	assert_int_equal(agent.stale_since, 0);
}

static void an_offset_below_zero(void **state)
{
	(void)state;
	assert_int_equal(ahead_after(2000, 5000, 500), -3 * SECOND_NS);
	assert_int_equal(agent.own_tick, 500);
	assert_int_equal(clock_monitor_ns(), START_NS + 5 * SECOND_NS);
	/* the time of day was set: the tick is proof enough */
	assert_int_equal(ahead_after(2000, 3600000, 500), -3 * SECOND_NS);
}

/* A child may have left the time namespace of who made it. */
static void each_ledger_looks_anew(void **state)
{
	(void)state;
	assert_int_equal(ahead_after(1005000, 5000, 500), 1000 * SECOND_NS);
	assert_int_equal(ahead_after(6000, 6000, 600), 0);
	assert_int_equal(agent.own_tick, 600);
}

static void no_namespace_no_offset(void **state)
{
	(void)state;
	asked = 0;
	assert_int_equal(ahead_after(5000, 5000, 500), 0);
	assert_int_equal(asked, 2);	/* the time of day is not looked at */
	assert_int_equal(ahead_after(100000, 100000, 500), 0);	/* the monitor is stopped */
	assert_int_equal(agent.own_tick, 10000);
	assert_int_equal(clock_monitor_ns(), START_NS + 100 * SECOND_NS);
	assert_int_equal(ahead_after(5000, 3605000, 500), 0);	/* the clock was set, or suspend */
	assert_int_equal(ahead_after(100000, 3700000, 500), 0);	/* both */
	assert_int_equal(ahead_after(100000, -3500000, 500), 0);
	assert_int_equal(agent.own_tick, 10000);
	tree()->flags = PMM_TREE_STANDALONE;			/* nobody ticks */
	assert_int_equal(ahead_after(100000, 0, 0), 0);
	agent.tree = NULL;
	assert_int_equal(clock_monitor_ns(), START_NS + 100 * SECOND_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(seconds_and_nanoseconds, begin, end),
		cmocka_unit_test_setup_teardown(a_check_is_due_now_and_then, begin, end),
		cmocka_unit_test_setup_teardown(ticks_begin_with_the_tree, begin, end),
		cmocka_unit_test_setup_teardown(own_clock_when_nobody_ticks, begin, end),
		cmocka_unit_test_setup_teardown(an_attached_process_is_left_alone, begin, end),
		cmocka_unit_test_setup_teardown(a_tick_in_between_begins_anew, begin, end),
		cmocka_unit_test_setup_teardown(a_launched_process_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(own_clock_is_asked_once_in_a_while, begin, end),
		cmocka_unit_test_setup_teardown(releases_ask_now_and_then, begin, end),
		cmocka_unit_test_setup_teardown(an_offset_is_taken_off, begin, end),
		cmocka_unit_test_setup_teardown(an_offset_below_zero, begin, end),
		cmocka_unit_test_setup_teardown(each_ledger_looks_anew, begin, end),
		cmocka_unit_test_setup_teardown(no_namespace_no_offset, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
