/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/check/left_open.c: pages stay open for their time and no longer, each closed once. */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <time.h>

#include "agent/agent_arena.h"
#include "agent/check/left_open.h"
#include "agent/guard/guard.h"

static uint64_t closed[1024];
static unsigned nr_closed;

void guard_page_close(uint64_t page)
{
	closed[nr_closed++] = page;
}

static int begin(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	nr_closed = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_host_fini();
	return 0;
}

static void close_all(void)
{
	struct timespec pause = { 0, 1000000 };

	for (unsigned i = 0; LOAD(left_open_nr) && i < 30000; i++) {
		nanosleep(&pause, NULL);
		left_open_tend();
	}
	assert_int_equal(left_open_nr, 0);
}

static void after_a_while(void **state)
{
	(void)state;
	assert_true(left_open_add(0x1000));
	assert_true(left_open_add(0x2000));
	assert_true(left_open_add(0x1000));		/* opened twice, to be closed twice */
	assert_int_equal(left_open_nr, 3);
	assert_int_equal(agent.ledger->check.left_open, 3);
	close_all();
	assert_int_equal(nr_closed, 3);
	assert_int_equal(closed[0] + closed[1] + closed[2], 0x4000);
}

static void no_more_than_there_is_room_for(void **state)
{
	unsigned nr = 0;

	(void)state;
	while (nr < 1000 && left_open_add(0x1000 * (nr + 1)))
		nr++;
	assert_int_equal(nr, 256);
	assert_int_equal(agent.ledger->check.left_open, nr);
	close_all();
	assert_int_equal(nr_closed, nr);
	assert_true(left_open_add(0x1000));
	close_all();
}

static void wanted_of_what_is_frequent(void **state)
{
	struct pmm_finding *f;

	(void)state;
	f = arena_chunk(agent.ledger->finding_dir, 3, PMM_FINDING_SHIFT, sizeof(*f));
	assert_non_null(f);
	f->count = 1000;
	assert_false(left_open_wanted(3));
	f->count = 1001;
	assert_true(left_open_wanted(3));
	assert_false(left_open_wanted(2));
	assert_false(left_open_wanted(UINT32_MAX));
	agent.ledger->check.findings_lost = 1001;
	assert_true(left_open_wanted(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(after_a_while, begin, end),
		cmocka_unit_test_setup_teardown(no_more_than_there_is_room_for, begin, end),
		cmocka_unit_test_setup_teardown(wanted_of_what_is_frequent, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
