/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/piece.c: pieces of stacks that a walk has met are found again, and nothing else is. */
#include "tests/unit/unwound_stack.h"

#include "agent/known.h"
#include "agent/piece.h"

/* The innermost of exactly four frames has no node of its own until a fifth comes. */
static void test_a_full_piece_gets_deeper(void **state)
{
	struct stack s;
	uint32_t site;

	(void)state;
	start(true);
	for (unsigned i = 1; i < 10; i++) {		/* so that site and node numbers differ */
		s = STACK(0, i, i, i, i, i);
		site_at(&s);
	}
	s = STACK(0, 20, 21, 22);
	site = site_at(&s);
	assert_int_equal(site, 10);
	assert_int_equal(ctx->memo[3].node, 0);
	s = STACK(0, 20, 21, 22, 23);
	assert_int_equal(site_at(&s), 11);
	assert_int_equal(ctx->memo[3].node, 1 + 1 + 9 * 5 + 2);
	s = STACK(0, 20, 21, 22);
	assert_int_equal(site_at(&s), site);
	assert_int_equal(SITE(0, 20, 21, 22), site);
	assert_int_equal(SITE(0, 20, 21, 22, 23), 11);
	stop();
}

/* An entry that differs in any bit from what is looked for is not it. */
static void test_a_piece_is_verified(void **state)
{
	struct stack s;
	uint32_t site;

	(void)state;
	start(true);
	s = STACK(0, 1, 2, 3, 4, 5, 6, 7);
	site_at(&s);
	ctx->memo_nr = 0;
	site = site_at(&s);
	for (unsigned i = 0; i < 2u << PIECE_BITS; i++) {
		struct piece *p = &ctx->pieces->set[i / 2][i % 2], was = *p;

		for (unsigned bit = 0; was.number && bit < 224; bit++) {
			*p = was;
			((uint32_t *)p)[bit / 32] ^= 1u << bit % 32;
			p->number = 999;
			ctx->memo_nr = 0;
			known_forget(ctx->known);
			assert_int_equal(site_at(&s), site);
		}
	}
	stop();
}

/* A leaf is not taken for one that has the same frames and more inside, which were there before. */
static void test_a_shorter_leaf(void **state)
{
	struct stack s;

	(void)state;
	start(true);
	s = STACK(0, 1, 2, 3, 4);
	site_at(&s);
	ctx->pieces->mask = 0;		/* all in one set */
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned nr = 8; nr > 4; nr--) {
			s = stack_of(nr, (unsigned[]){ 0, 1, 2, 3, 4, 5, 6, 7 });
			known_forget(ctx->known);
			assert_int_equal(site_at(&s),
					 site_of(nr, (unsigned[]){ 0, 1, 2, 3, 4, 5, 6, 7 }));
		}
	}
	stop();
}

/* All pieces are lost, and so many were before. Numbers stay what they are. */
static void lose_pieces(uint32_t lost)
{
	struct stack s = STACK(0, 1, 2, 3, 4, 5, 6, 7, 8);

	memset(ctx->pieces->set, 0, sizeof(ctx->pieces->set[0]) << ctx->pieces->bits);
	ctx->pieces->lost = lost;
	ctx->memo_nr = 0;
	known_forget(ctx->known);
	assert_int_equal(site_at(&s), SITE(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

/* When as many pieces were lost as it holds, and there are as many stacks. */
static void test_the_cache_of_pieces_grows(void **state)
{
	const uint32_t holds = PIECE_WAYS << PIECE_BITS;
	struct piece_cache *first, *second;
	struct stack s;
	uint64_t ready, end;

	(void)state;
	start(true);
	s = STACK(0, 1, 2, 3, 4, 5, 6, 7, 8);
	site_at(&s);
	ctx->memo_nr = 0;
	s = STACK(0, 1, 2, 3, 4, 5, 6, 7, 8);
	site_at(&s);
	first = ctx->pieces;
	assert_int_equal(first->lost, 3);	/* there before the cache was */
	lose_pieces(holds);
	assert_ptr_equal(ctx->pieces, first);	/* there are not so many stacks */
	ctx->nr_records = holds;
	lose_pieces(holds - 3);
	assert_ptr_equal(ctx->pieces, first);
	assert_int_equal(first->lost, holds);
	ready = agent.ledger->arena_ready;
	agent.ledger->arena_ready = agent.ledger->arena_used;
	agent.no_growth = true;
	lose_pieces(holds + 1);			/* it would need what cannot be had */
	assert_ptr_equal(ctx->pieces, first);
	assert_int_equal(agent.ledger->off_reason, 0);
	agent.ledger->arena_ready = ready;
	agent.no_growth = false;
	end = agent.ledger->arena_end;		/* it would be in the last quarter */
	agent.ledger->arena_end = agent.ledger->arena_used + (5 << 19);
	lose_pieces(holds + 1);
	assert_ptr_equal(ctx->pieces, first);
	agent.ledger->arena_end = end;
	lose_pieces(holds);
	second = ctx->pieces;
	assert_ptr_not_equal(second, first);
	assert_int_equal(second->bits, PIECE_BITS + 2);
	lose_pieces(4 * holds);
	assert_ptr_equal(ctx->pieces, second);
	assert_int_equal(second->bits, PIECE_BITS + 2);
	rule_flush();				/* code goes: small again ... */
	for (unsigned f = 0; f < 32; f++)
		rule_put(f, MODULE, rules[f]);
	s = STACK(0, 1, 2, 3, 4, 5, 6, 7, 8);
	site_at(&s);
	assert_ptr_equal(ctx->pieces, second);
	assert_int_equal(second->bits, PIECE_BITS);
	lose_pieces(holds);			/* ... and large in the same place */
	assert_ptr_equal(ctx->pieces, second);
	assert_int_equal(second->bits, PIECE_BITS + 2);
	agent.ledger->arena_end = agent.ledger->arena_used;
	ctx->nr_records = 4 * holds;
	lose_pieces(4 * holds);			/* no room for more */
	assert_ptr_equal(ctx->pieces, second);
	assert_int_equal(second->bits, PIECE_BITS + 2);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_piece_gets_deeper),
		cmocka_unit_test(test_a_piece_is_verified),
		cmocka_unit_test(test_a_shorter_leaf),
		cmocka_unit_test(test_the_cache_of_pieces_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
