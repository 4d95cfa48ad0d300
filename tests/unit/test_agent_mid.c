/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/block.c, a new part of a table: whatever its maker is interrupted by, and wherever, readers
 * find all blocks, by the chain alone.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

#ifdef __x86_64__

#define PART	(64ull << 20)		/* what a mid of the heap's table covers */
#define FIRST	(0x5555ull << 32)
#define MOST	8

static uint64_t entered[MOST];
static unsigned nr_entered, nr_failed;
static struct block_stamp stamp;

static void add_at(uint64_t address)
{
	struct block_new b = { 100, 1, PMM_KIND_MALLOC, 1, 0, &stamp };

	nr_failed += !block_add(address, NULL, &b);
}

static void enter(uint64_t address)
{
	add_at(address);
	entered[nr_entered++] = address;
}

/* How often a reader comes to the block. */
static unsigned found(uint64_t address)
{
	const struct pmm_table *t = &agent.ledger->table[PMM_TABLE_HEAP];
	unsigned nr = 0;

	for (pmm_ref ref = t->mids; ref; ref = ((struct pmm_mid *)arena_at(ref))->next) {
		const struct pmm_mid *m = arena_at(ref);
		const uint64_t *leaf;

		if (address - m->base >= PART || !m->leaf[(address - m->base) / 8192])
			continue;
		leaf = arena_at(m->leaf[(address - m->base) / 8192]);
		nr += leaf[address / 32 % 256] >> PMM_WORD_KIND_SHIFT == PMM_KIND_MALLOC;
	}
	return nr;
}

/* Does each address have one mid at most, and each block's is there? */
static bool right(void)
{
	const struct pmm_table *t = &agent.ledger->table[PMM_TABLE_HEAP];
	struct block_info was;
	unsigned wrong = nr_failed;

	for (unsigned i = 0; i < nr_entered; i++)
		wrong += found(entered[i]) != 1 || !block_get(entered[i], &was);
	for (pmm_ref ref = t->mids; ref; ref = ((struct pmm_mid *)arena_at(ref))->next) {
		const struct pmm_mid *m = arena_at(ref);

		for (pmm_ref other = m->next; other;
		     other = ((struct pmm_mid *)arena_at(other))->next)
			wrong += ((struct pmm_mid *)arena_at(other))->base == m->base;
	}
	return !wrong;
}

static void add_first(void)
{
	add_at(FIRST);
}

/* Also after what comes then. */
static bool right_then(void)
{
	bool was = right();

	enter(FIRST + 8192);
	enter(FIRST + 3 * PART);
	return was && right();
}

static bool right_with_first(void)
{
	entered[nr_entered++] = FIRST;
	return right_then();
}

static void leave(void)
{
	stepped_leave();
}

static void add_more(void)
{
	enter(FIRST + PART);
	enter(FIRST + 2 * PART + 8192);
	enter(FIRST + 128);			/* the same leaf, too */
}

static void add_more_and_leave(void)
{
	add_more();
	leave();
}

/* At each instruction of the entry of a part's first block. */
static void whatever_comes(void (*then)(void), bool (*right_after)(void))
{
	unsigned steps, wrong;

	agent_host_init(1 << 20);
	agent.ledger->arena_ready = agent.ledger->arena_end;	/* for fewer steps */
	stamp = (struct block_stamp){ .now = BLOCK_NEVER };
	nr_entered = nr_failed = 0;
	enter(FIRST + 9 * PART);				/* the table has been in use */
	wrong = stepped((struct stepped){ add_first, then, right_after }, &steps);
	assert_in_range(steps, 100, 1000);
	assert_int_equal(wrong, 0);
	agent_host_fini();
}

static void a_handler_jumps_out(void **state)
{
	(void)state;
	whatever_comes(leave, right_then);
}

static void a_handler_makes_parts(void **state)
{
	(void)state;
	whatever_comes(add_more, right_with_first);
}

static void a_handler_makes_parts_and_jumps_out(void **state)
{
	(void)state;
	whatever_comes(add_more_and_leave, right_then);
}

#endif

int main(void)
{
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_jumps_out),
		cmocka_unit_test(a_handler_makes_parts),
		cmocka_unit_test(a_handler_makes_parts_and_jumps_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
