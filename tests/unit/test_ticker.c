/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/ticker.c: the tree's clock goes on while there is work, and rests when there is none.
 */
#include "tests/unit/unit.h"

#include <time.h>
#include <unistd.h>

#include "src/track/ticker.h"

static struct ledger_tree tree;
static struct ticker ticker;

static int begin(void **state)
{
	struct ledger_tree_options o = { .limit_bytes = 100 << 20,
					 .space_bytes = UINT64_MAX,
					 .file_bytes = UINT64_MAX };

	(void)state;
	return ledger_tree_init(&tree, &o, NULL);
}

static int end(void **state)
{
	(void)state;
	ledger_tree_fini(&tree);
	return 0;
}

static uint32_t now(void)
{
	return __atomic_load_n(&tree.head->tick, __ATOMIC_SEQ_CST);
}

/* However slow the machine is, in the end it ticks. */
static bool ticks(uint32_t more)
{
	uint32_t from = now();

	for (unsigned ms = 0; ms < 20000; ms++) {
		if (now() - from >= more)
			return true;
		usleep(1000);
	}
	return false;
}

/* How often the clock advances in 80 ms; a tick that was about to come may still do. */
static uint32_t advances_at_rest(void)
{
	uint32_t from, nr = 0;

	usleep(20000);
	from = now();
	for (unsigned i = 0; i < 80; i++) {
		usleep(1000);
		nr += now() != from;
		from = now();
	}
	return nr;
}

static void it_ticks_while_there_is_work(void **state)
{
	(void)state;
	ticker_init(&ticker, &tree);
	assert_false(ticker.on);
	assert_int_equal(advances_at_rest(), 0);
	for (unsigned i = 0; i < 2; i++) {
		ticker_begin(&ticker);
		assert_true(ticker.on);
		assert_true(ticks(3));
		ticker_pause(&ticker);
		assert_true(advances_at_rest() <= 1);
	}
	ticker_begin(&ticker);
	ticker_begin(&ticker);				/* more work of the same kind */
	assert_true(ticks(2));
	ticker_fini(&ticker);
	assert_null(ticker.tree);
	assert_int_equal(advances_at_rest(), 0);
	ticker_fini(&ticker);				/* there is none */
}

static void it_ends_at_rest_as_well(void **state)
{
	(void)state;
	ticker_init(&ticker, &tree);
	ticker_begin(&ticker);
	assert_true(ticks(1));
	ticker_pause(&ticker);
	ticker_fini(&ticker);
	assert_false(ticker.on);
	ticker_init(&ticker, &tree);
	ticker_fini(&ticker);				/* never begun */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_ticks_while_there_is_work, begin, end),
		cmocka_unit_test_setup_teardown(it_ends_at_rest_as_well, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
