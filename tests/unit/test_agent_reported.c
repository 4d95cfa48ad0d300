/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/reported.c: what was reported is known once, of the block that was there; in the
 * table that readers look at.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include "agent/check/reported.h"

#define BLOCK	0x7f0000001000ull

static struct pmm_reported *table;

static int begin(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	((struct pmm_tree *)agent.tree)->tick = 50;
	reported_start();
	table = (struct pmm_reported *)agent.ledger->check.reported;
	memset(table, 0, PMM_REPORTED * sizeof(*table));
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_host_fini();
	return 0;
}

static unsigned entries(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < PMM_REPORTED; i++)
		nr += table[i].block != 0;
	return nr;
}

static void what_is_reported_is_known_once(void **state)
{
	const struct pmm_reported *r = &table[pmm_reported_at(BLOCK)];

	(void)state;
	assert_false(reported_take(BLOCK, 0));
	reported_add(BLOCK);
	assert_int_equal(r->block, BLOCK);
	assert_int_equal(r->tick, 50);
	assert_false(reported_take(BLOCK + 16, 0));
	assert_true(reported_take(BLOCK, 50));
	assert_false(reported_take(BLOCK, 50));
	assert_int_equal(entries(), 0);
}

static void a_younger_block_is_another_one(void **state)
{
	(void)state;
	reported_add(BLOCK);
	assert_false(reported_take(BLOCK, 51));
	assert_int_equal(entries(), 0);
	reported_add(BLOCK);
	((struct pmm_tree *)agent.tree)->tick = 60;
	reported_add(BLOCK);
	assert_int_equal(entries(), 1);
	assert_true(reported_take(BLOCK, 51));
}

/* Blocks of one place in the table share its ways; one too many takes another's. */
static void the_table_keeps_what_it_has_room_for(void **state)
{
	uint64_t block[PMM_REPORTED_WAYS + 1];
	unsigned nr = 0, known = 0;

	(void)state;
	for (uint64_t b = BLOCK; nr < NR(block); b += 16)
		if (pmm_reported_at(b) == pmm_reported_at(BLOCK))
			block[nr++] = b;
	for (unsigned i = 0; i < nr; i++) {
		reported_add(block[i]);
		assert_int_equal(entries(), i < PMM_REPORTED_WAYS ? i + 1 : PMM_REPORTED_WAYS);
	}
	assert_true(reported_take(block[nr - 1], 0));
	for (unsigned i = 0; i < nr - 1; i++)
		known += reported_take(block[i], 0);
	assert_int_equal(known, PMM_REPORTED_WAYS - 1);
	assert_int_equal(entries(), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_is_reported_is_known_once),
		TEST(a_younger_block_is_another_one),
		TEST(the_table_keeps_what_it_has_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
