/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/unwind/unwind.c, piece.c, known.c: whatever the context remembers of earlier stacks, the
 * site is that of a full walk. Stacks are made up in an array, of functions whose rules are put
 * into the rule cache. Also of agent/agent_stack.c, agent/unwind/module.c.
 */
#include "tests/unit/agent_host.h"

#include "agent/node.h"

#include "tests/unit/unit.h"

#include "agent/known.h"
#include "agent/piece.h"
#include "agent/record.h"
#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

#define MODULE		7ull
#define FUNCTIONS	64
#define WORDS		2048

static uint64_t words[WORDS] __attribute__((aligned(4096)));
static struct cfi_rule rules[FUNCTIONS];
static struct tctx *ctx;

static uint64_t pc_of(unsigned f)
{
	return 0x401000 + f * 0x40ull;
}

static uint64_t id_of(unsigned f)
{
	return pc_of(f) | MODULE << 48;
}

static void rule_put(unsigned f, uint64_t module, struct cfi_rule r)
{
	uint64_t packed = r.kind | (uint64_t)(uint16_t)r.fp_off << 16 |
			  (uint64_t)(uint32_t)r.cfa_off << 32;

	agent.rules->far[pc_of(f) * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
		(struct rule_entry){ packed ^ (pc_of(f) | module << 48), packed };
	*rule_near_entry(rule_mix(pc_of(f))) = 0;
	rules[f] = r;
}

/* From here on a walk that steps out of function f finds no way. */
static void forbid(unsigned f)
{
	struct cfi_rule was = rules[f];

	rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_NONE });
	rules[f] = was;			/* its frames look the same */
}

/*
 * Functions: 0 outermost, 1..31 two words, 32..47 four words and fp saved, 48..55 found through
 * fp, 56..63 realigned.
 */
static void start(bool long_used)
{
	agent_host_init(64 << 20);
	agent.rules = calloc(1, sizeof(*agent.rules));
	ctx = arena_get(sizeof(*ctx), 64);
	unwind_init(ctx, arena_get(unwind_bytes(), 64));
	ctx->pub.seq = long_used ? 200000 : 0;
	memset(words, 0, sizeof(words));
	rule_put(0, MODULE, (struct cfi_rule){ .kind = CFI_END });
	for (unsigned f = 1; f < 32; f++)
		rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_SP, .cfa_off = 16 });
	for (unsigned f = 32; f < 48; f++)
		rule_put(f, MODULE,
			 (struct cfi_rule){ .kind = CFI_SP, .cfa_off = 32, .fp_off = -2 });
	for (unsigned f = 48; f < 56; f++)
		rule_put(f, MODULE,
			 (struct cfi_rule){ .kind = CFI_FP, .cfa_off = 16, .fp_off = -2 });
	for (unsigned f = 56; f < 64; f++)
		rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_FP_DEREF, .cfa_off = -8 });
}

static void stop(void)
{
	free(agent.rules);
	agent_host_fini();
}

/* A stack under construction, outermost function first, growing down from the end of `words`. */
struct stack {
	struct caller at;	/* its innermost frame */
	unsigned nr;
	unsigned f[64];
};

static uint64_t *push(struct stack *s, uint64_t word)
{
	s->at.sp -= 8;
	*(uint64_t *)s->at.sp = word;
	return (uint64_t *)s->at.sp;
}

/* Function f, called from the innermost one. */
static void call(struct stack *s, unsigned f)
{
	if (s->nr)
		push(s, s->at.ra);
	switch (rules[f].kind) {
	case CFI_SP:
		push(s, s->at.fp);
		for (int32_t k = 16; k < rules[f].cfa_off; k += 8)
			push(s, 0xabad1dea);
		if (rules[f].fp_off)
			s->at.fp = 0xdeadbeef;
		break;
	case CFI_FP:
		push(s, s->at.fp);
		s->at.fp = s->at.sp;
		push(s, 0xabad1dea);
		break;
	case CFI_FP_DEREF: {
		uint64_t cfa = s->at.sp + 8;

		push(s, 0xabad1dea);
		push(s, s->at.fp);
		s->at.fp = s->at.sp;
		push(s, cfa);
		push(s, 0xabad1dea);
		break;
	}
	default:
		break;
	}
	s->at.ra = pc_of(f) + 1;
	s->f[s->nr++] = f;
}

static struct stack stack_of(unsigned nr, const unsigned *f)
{
	struct stack s = { .at = { .sp = (uint64_t)&words[WORDS - 64], .fp = 0x5555 } };

	for (unsigned i = 0; i < nr; i++)
		call(&s, f[i]);
	return s;
}

#define STACK(...)                                                                                 \
	stack_of(sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned),                           \
		 (unsigned[]){ __VA_ARGS__ })
#define SITE(...)                                                                                  \
	site_of(sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned), (unsigned[]){ __VA_ARGS__ })

/* What a full walk has to find, outermost function first. */
static uint32_t site_of(unsigned nr, const unsigned *f)
{
	uint32_t node = 0;

	for (unsigned i = 0; i < nr; i++)
		node = node_get(node, id_of(f[i]));
	return site_get(node, 0);
}

/* As an event asks, or as other hooks do; they take turns. */
static bool by_event;

static uint32_t site_at(const struct stack *s)
{
	by_event = !by_event;
	return by_event ? record_site(ctx, &s->at) : unwind_site(ctx, &s->at, 0);
}

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
		cmocka_unit_test(test_a_full_piece_gets_deeper),
		cmocka_unit_test(test_a_word_in_the_middle_differs),
		cmocka_unit_test(test_stacks_that_come_back),
		cmocka_unit_test(test_saved_fp),
		cmocka_unit_test(test_a_realigned_frame),
		cmocka_unit_test(test_a_zero_return_address),
		cmocka_unit_test(test_nothing_beyond_odd_frames),
		cmocka_unit_test(test_code_that_goes),
		cmocka_unit_test(test_a_known_stack_and_fp),
		cmocka_unit_test(test_a_piece_is_verified),
		cmocka_unit_test(test_a_shorter_leaf),
		cmocka_unit_test(test_the_cache_of_pieces_grows),
		cmocka_unit_test(test_random_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
