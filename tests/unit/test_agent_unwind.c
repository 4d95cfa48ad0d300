/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/unwind/unwind.c, piece.c, known.c: whatever the context remembers of earlier stacks, the
 * site is that of a full walk. Also of agent/agent_stack.c, agent/unwind/module.c.
 */
#include "tests/unit/unwound_stack.h"

#include "agent/known.h"

/*
 * Joins the stack before in the middle of a piece, at its edges, and where it merely became
 * shorter.
 */
static void test_joins_anywhere(void **state)
{
	(void)state;
	for (int long_used = 0; long_used < 2; long_used++) {
		struct stack s;

		start(long_used);
		s = STACK(0, 1, 2, 3, 4, 5, 6, 7, 8);
		assert_int_equal(site_at(&s), 1);
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 3, 4, 5, 6, 7, 8));
		assert_int_equal(ctx->memo_nr, 9);
		if (long_used)
			assert_non_null(ctx->pieces);
		/* from here on only what is remembered leads further */
		forbid(1);
		s = STACK(0, 1, 2, 3, 4, 5, 9, 10);	/* at 6: between the edges 4 and 8 */
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 3, 4, 5, 9, 10));
		s = STACK(0, 1, 2, 3, 4, 5);		/* shorter, ends between them */
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 3, 4, 5));
		assert_int_equal(ctx->memo_nr, 6);
		s = STACK(0, 1, 2, 3);			/* at an edge whose node is known */
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 3));
		s = STACK(0, 1, 2, 3, 11);		/* beyond it */
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 3, 11));
		assert_int_equal(
			ctx->memo[3].node,
			node_get(node_get(node_get(node_get(0, id_of(0)), id_of(1)), id_of(2)),
				 id_of(3)));
		s = STACK(0, 1, 2, 12, 13);		/* before it */
		assert_int_equal(site_at(&s), SITE(0, 1, 2, 12, 13));
		assert_int_equal(agent.ledger->nr_nodes, 1 + 9 + 2 + 1 + 2);
		stop();
	}
}

/* A frame in the middle returned and was called from elsewhere; those around it have not moved. */
static void test_a_word_in_the_middle_differs(void **state)
{
	(void)state;
	for (unsigned changed = 1; changed < 9; changed++) {
		unsigned f[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
		struct stack s;

		start(true);
		s = stack_of(10, f);
		assert_int_equal(site_at(&s), 1);
		f[changed] = 20;
		s = stack_of(10, f);
		assert_int_equal(site_at(&s), site_of(10, f));
		assert_int_equal(agent.ledger->nr_nodes, 1 + 10 + (10 - changed));
		forbid(changed > 1 ? 1 : 2);
		f[9] = 21;				/* the outer part is confirmed again */
		s = stack_of(10, f);
		assert_int_equal(site_at(&s), site_of(10, f));
		stop();
	}
}

/*
 * Stacks of each depth that come back, and differ in a single word, the outermost or any other:
 * what is known of one is not taken for the other, whatever number of words decides.
 */
static void test_stacks_that_come_back(void **state)
{
	(void)state;
	for (unsigned depth = 2; depth <= 15; depth++) {
		unsigned f[16] = { 0 };
		struct stack s;

		start(true);
		/* another outermost one */
		rule_put(31, MODULE, (struct cfi_rule){ .kind = CFI_END });
		for (unsigned i = 1; i < depth; i++)
			f[i] = i % 7 ? 1 + i % 20 : 32 + i % 10;
		for (unsigned round = 0; round < 12 * depth; round++) {
			unsigned g[16], changed = round % depth;

			memcpy(g, f, sizeof(g));
			/* of the same size */
			g[changed] += !changed ? 31 : g[changed] < 32 ? 9 : 3;
			s = stack_of(depth, g);
			assert_int_equal(site_at(&s), site_of(depth, g));
			assert_int_equal(site_at(&s), site_of(depth, g));
			s = stack_of(depth, f);
			assert_int_equal(site_at(&s), site_of(depth, f));
		}
		stop();
	}
}

/* A saved fp counts where a frame further out is found through it, and nowhere else. */
static void test_saved_fp(void **state)
{
	struct stack s;
	uint64_t *saved;

	(void)state;
	start(true);
	s = STACK(0, 1, 48, 2, 32, 3, 4);
	assert_int_equal(site_at(&s), SITE(0, 1, 48, 2, 32, 3, 4));
	/* 48 saved one that nobody needs */
	assert_true(ctx->memo[4].nr_checks == 5 && ctx->memo[5].nr_checks == 6);
	saved = (uint64_t *)(ctx->memo[3].sp - 16);
	assert_int_equal(*saved, ctx->memo[3].fp);
	words[WORDS - 32] = pc_of(9) + 1;		/* where a wrong fp would lead */
	*saved = (uint64_t)&words[WORDS - 33];
	assert_int_not_equal(site_at(&s), SITE(0, 1, 48, 2, 32, 3, 4));
	stop();

	start(true);
	s = STACK(0, 1, 5, 2, 32, 3, 4);
	assert_int_equal(site_at(&s), SITE(0, 1, 5, 2, 32, 3, 4));
	assert_int_equal(ctx->memo[6].nr_checks, 6);
	*(uint64_t *)(ctx->memo[3].sp - 16) = 0x1234;
	forbid(1);
	assert_int_equal(site_at(&s), SITE(0, 1, 5, 2, 32, 3, 4));
	stop();

	/* saved twice: the one further in is not needed */
	start(true);
	s = STACK(0, 1, 48, 2, 32, 33, 3);
	site_at(&s);
	assert_true(ctx->memo[4].nr_checks == 5 && ctx->memo[6].nr_checks == 7);
	assert_true(ctx->memo[4].needs_fp == false && ctx->memo[3].needs_fp == true);
	stop();

	start(true);					/* fp itself, not saved by anybody */
	s = STACK(0, 1, 48, 2);
	assert_int_equal(site_at(&s), SITE(0, 1, 48, 2));
	words[WORDS - 32] = pc_of(0) + 1;
	s.at.fp = (uint64_t)&words[WORDS - 33];
	assert_int_equal(site_at(&s), SITE(0, 48, 2));
	stop();
}

/* Of a realigned frame: where its CFA is kept, the return address there, and the fp it saved. */
static void test_a_realigned_frame(void **state)
{
	(void)state;
	for (int word = 0; word < 3; word++) {
		struct stack s;
		uint64_t *at, ra = pc_of(9) + 1;

		start(true);
		s = STACK(0, 1, 48, 2, 56, 3);
		assert_int_equal(site_at(&s), SITE(0, 1, 48, 2, 56, 3));
		assert_int_equal(ctx->memo[4].nr_checks, 6);
		words[WORDS - 32] = pc_of(0) + 1;
		at = (uint64_t *)ctx->memo[4].fp;
		switch (word) {
		case 0:				/* the CFA */
			at[-1] = (uint64_t)&words[WORDS - 31];
			assert_int_equal(site_at(&s), SITE(0, 56, 3));
			break;
		case 1:				/* the return address, of function 2 */
			*(uint64_t *)(at[-1] - 8) = ra;
			assert_int_equal(site_at(&s), SITE(0, 1, 48, 9, 56, 3));
			break;
		default:			/* fp, by which function 48 is left */
			at[0] = (uint64_t)&words[WORDS - 33];
			assert_int_equal(site_at(&s), SITE(0, 48, 2, 56, 3));
		}
		stop();
	}
}

/* A stack ends at a return address of 0: of a coroutine, until it is given a caller. */
static void test_a_zero_return_address(void **state)
{
	struct stack s;

	(void)state;
	start(true);
	/* function 1's return address is what lies above, 0 */
	s = STACK(1, 2, 3);
	assert_int_equal(site_at(&s), SITE(1, 2, 3));
	assert_int_equal(site_at(&s), SITE(1, 2, 3));
	words[WORDS - 64] = pc_of(0) + 1;
	assert_int_equal(site_at(&s), SITE(0, 1, 2, 3));
	stop();
}

/* ... also below a realigned frame, and where a signal has interrupted a call of address 0. */
static void test_nothing_beyond_odd_frames(void **state)
{
	struct stack s;

	(void)state;
	start(true);
	s = STACK(56, 3);
	for (int turn = 0; turn < 2; turn++)
		assert_int_equal(site_at(&s), SITE(56, 3));
	rule_put(30, MODULE, (struct cfi_rule){ .kind = CFI_SIGFRAME });
	s = STACK(30);
	for (int turn = 0; turn < 2; turn++)
		assert_int_equal(site_at(&s), SITE(30));
	stop();
}

/* Two stacks in turn, until both are known and their pieces are kept. */
static void settle_on(struct stack *a, struct stack *b)
{
	struct stack again;

	for (int turn = 0; turn < 4; turn++) {
		again = stack_of(b->nr, b->f);
		site_at(&again);
		again = stack_of(a->nr, a->f);
		site_at(&again);
	}
}

/* Another module at the same addresses: neither memo, nor known stacks, nor pieces may count. */
static void test_code_that_goes(void **state)
{
	struct stack s, other;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		start(true);
		s = STACK(0, 1, 2, 3, 4, 5);
		other = STACK(0, 1, 2, 3, 4, 5, 6);
		settle_on(&s, &other);
		assert_int_equal(agent.ledger->nr_nodes, 1 + 7);
		/* numbered from the outermost frame by pieces */
		ctx->memo_nr = 0;
		s = STACK(0, 1, 2, 3, 7);
		site_at(&s);
		settle_on(&s, &other);
		rule_flush();
		for (unsigned f = 0; f < 32; f++)
			rule_put(f, MODULE + 1, rules[f]);
		by_event = turn;
		assert_int_equal(site_at(&s), 4);
		assert_int_equal(agent.ledger->nr_nodes, 1 + 8 + 5);
		stop();
	}
}

/* A known stack found through fp is another one with another fp. */
static void test_a_known_stack_and_fp(void **state)
{
	struct stack s, other;

	(void)state;
	start(true);
	s = STACK(0, 1, 48, 2);
	other = STACK(0, 1, 3, 4, 5);
	settle_on(&s, &other);
	other = STACK(0, 6, 7, 8, 9, 10);
	assert_int_equal(site_at(&other), SITE(0, 6, 7, 8, 9, 10));
	s = STACK(0, 1, 48, 2);
	assert_int_equal(site_at(&s), SITE(0, 1, 48, 2));
	assert_int_equal(ctx->memo_nr, 6);		/* of the other: this one was known */
	words[WORDS - 32] = pc_of(0) + 1;
	s.at.fp = (uint64_t)&words[WORDS - 33];
	assert_int_equal(site_at(&s), SITE(0, 48, 2));
	stop();
}

static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(random_state >> 33) % n;
}

#define ROUNDS 200000

/* Random stacks that share their outer part with the one before, or look as if; many come back. */
static void test_random_stacks(void **state)
{
	unsigned f[16] = { 0 }, nr = 1, joined = 0, found = 0;

	(void)state;
	start(true);
	random_state = 42;
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned keep = 1 + below(nr), more = below(4), change = below(3);
		uint32_t memo_nr = ctx->memo_nr;
		struct stack s;

		nr = keep + more < 15 ? keep + more : 15;
		for (unsigned i = keep; i < nr; i++)
			f[i] = below(10) ? 1 + below(3) + 31 * below(2) : 46 + below(12);
		if (!change)
			f[nr > 1 ? 1 + below(nr - 1) : 0] = nr > 1 ? 1 + below(60) : 0;
		s = stack_of(nr, f);
		assert_int_equal(site_at(&s), site_of(nr, f));
		/* known: the memo was not touched */
		found += ctx->memo_nr == memo_nr && ctx->memo_nr != nr;
		joined += ctx->memo_nr == nr;
	}
	assert_true(joined > ROUNDS / 2);
	assert_true(found > 1000);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins_anywhere),
		cmocka_unit_test(test_a_word_in_the_middle_differs),
		cmocka_unit_test(test_stacks_that_come_back),
		cmocka_unit_test(test_saved_fp),
		cmocka_unit_test(test_a_realigned_frame),
		cmocka_unit_test(test_a_zero_return_address),
		cmocka_unit_test(test_nothing_beyond_odd_frames),
		cmocka_unit_test(test_code_that_goes),
		cmocka_unit_test(test_a_known_stack_and_fp),
		cmocka_unit_test(test_random_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
