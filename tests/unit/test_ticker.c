/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/ticker.c: the boards' clock goes on while the loop is stepped or there is work, and
 * rests when neither is so.
 */
#include "tests/unit/unit.h"

#include <time.h>
#include <unistd.h>

#include "src/track/ticker.h"

static struct ledger_tree tree;
static struct ledger_tree other;	/* sampled: a tick in 50 ms will do */
static struct ticker ticker;
static struct loop *loop;

static int begin(void **state)
{
	struct ledger_tree_options o = { .limit_bytes = 100 << 20,
					 .space_bytes = UINT64_MAX,
					 .file_bytes = UINT64_MAX };

	(void)state;
	if (loop_new(&loop) || ledger_tree_init(&tree, &o, NULL))
		return -1;
	o.mode = PMM_MODE_SAMPLED;
	o.sample_bytes = 4096;
	return ledger_tree_init(&other, &o, NULL);
}

static int end(void **state)
{
	(void)state;
	ledger_tree_fini(&tree);
	ledger_tree_fini(&other);
	loop_free(loop);
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
	assert_int_equal(ticker_init(&ticker, loop), 0);
	assert_int_equal(ticker_add(&ticker, &tree), 0);
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
	assert_null(ticker.loop);
	assert_int_equal(advances_at_rest(), 0);
	ticker_fini(&ticker);				/* there is none */
}

static void it_ends_at_rest_as_well(void **state)
{
	(void)state;
	assert_int_equal(ticker_init(&ticker, loop), 0);
	assert_int_equal(ticker_add(&ticker, &tree), 0);
	ticker_begin(&ticker);
	assert_true(ticks(1));
	ticker_pause(&ticker);
	ticker_fini(&ticker);
	assert_false(ticker.on);
	assert_int_equal(ticker_init(&ticker, loop), 0);
	ticker_fini(&ticker);				/* never begun */
}

/* Work within work: the clock rests when the outer one is over. */
static void works_nest(void **state)
{
	(void)state;
	assert_int_equal(ticker_init(&ticker, loop), 0);
	assert_int_equal(ticker_add(&ticker, &tree), 0);
	ticker_begin(&ticker);
	ticker_begin(&ticker);
	ticker_pause(&ticker);
	assert_true(ticks(3));
	ticker_pause(&ticker);
	assert_true(advances_at_rest() <= 1);
	ticker_fini(&ticker);
}

/* Each board when it is due, by stepping alone; a board that was deleted rests. */
static void it_ticks_all_boards_while_the_loop_is_stepped(void **state)
{
	uint32_t first, last, was;
	uint64_t start_ns, wide;

	(void)state;
	assert_int_equal(ticker_init(&ticker, loop), 0);
	assert_int_equal(ticker_add(&ticker, &other), 0);
	assert_int_equal(loop_step(loop, 0), 0);	/* ticked when it was added */
	start_ns = ledger_tree_now_ns(&other);
	was = other.head->tick;
	for (unsigned i = 0; i < 4; i++) {		/* one tick in 50 ms */
		while (other.head->tick == was)
			assert_true(loop_step(loop, -1) >= 0);
		wide = other.head->tick - was;
		was = other.head->tick;
		assert_true(wide >= 5 || !i);
	}
	assert_true(ledger_tree_now_ns(&other) - start_ns >= 150000000);
	assert_int_equal(ticker_add(&ticker, &tree), 0);
	first = now();
	was = other.head->tick;
	while (now() - first < 5)
		assert_int_equal(loop_step(loop, -1), 1);
	assert_true(other.head->tick - was >= 4);	/* with it */
	last = now();
	usleep(30000);					/* nobody steps: it rests */
	assert_int_equal(now(), last);
	start_ns = ticker_tick(&ticker, &other);
	assert_int_equal(start_ns / PMM_TICK_NS, other.head->tick);
	assert_true(now() - last >= 2);			/* all are ticked with one */
	ticker_del(&ticker, &tree);
	last = now();
	was = other.head->tick;
	while (other.head->tick - was < 10)
		assert_true(loop_step(loop, -1) >= 0);
	assert_int_equal(now(), last);
	ticker_fini(&ticker);
	assert_int_equal(loop_step(loop, 60000000), 0);	/* no timer is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_ticks_while_there_is_work, begin, end),
		cmocka_unit_test_setup_teardown(works_nest, begin, end),
		cmocka_unit_test_setup_teardown(it_ticks_all_boards_while_the_loop_is_stepped,
						begin, end),
		cmocka_unit_test_setup_teardown(it_ends_at_rest_as_well, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
