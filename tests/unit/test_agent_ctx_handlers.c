/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/ctx.c: signal handlers get contexts of their own, and what they or a jump left is put in
 * order.
 */
#include "tests/unit/ctx_host.h"

#include <signal.h>

#include "agent/known.h"
#include "agent/record.h"

#define SP	0x7ffff000ul

static void handlers_have_contexts_of_their_own(void **state)
{
	struct tctx *c, *n[AGENT_MAX_LEVEL];

	(void)state;
	c = ctx_of(1, own_tid());
	c->busy = TCTX_IN_ALLOCATOR;
	c->pub.busy_sp = SP;
	c->pub.thread = 5;
	for (unsigned i = 0; i < AGENT_MAX_LEVEL; i++) {
		n[i] = ctx_nested(c, SP - 0x1000 * (i + 1));
		assert_non_null(n[i]);
		assert_int_equal(n[i]->pub.level, i + 1);
		assert_int_equal(n[i]->pub.thread, 5);
		assert_int_equal(n[i]->tid, own_tid());
		assert_int_equal(n[i]->tp, 0);
		/* not busy: the same again */
		assert_ptr_equal(ctx_nested(c, SP - 0x1000 * (i + 1)), n[i]);
		n[i]->busy = TCTX_IN_ALLOCATOR;
		n[i]->pub.busy_sp = SP - 0x1000 * (i + 1);
	}
	assert_int_equal(agent.ledger->nr_ctx, 4);
	assert_int_equal(agent.ledger->nr_threads, 1);
	assert_null(ctx_nested(c, SP - 0x10000));
	assert_int_equal(agent.ledger->dropped[PMM_DROP_NESTED], 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_CTX_FULL], 0);
	assert_int_equal(c->busy, TCTX_IN_ALLOCATOR);
	/* another thread on this stack: nothing of it goes on */
	ctx_of(1, GONE);
	assert_int_equal(n[0]->busy, TCTX_IDLE);
	assert_int_equal(n[2]->busy, TCTX_IDLE);
	assert_int_equal(n[2]->tid, GONE);
}

static void a_handler_without_room_is_not_recorded(void **state)
{
	struct tctx *c;

	(void)state;
	c = ctx_of(1, own_tid());
	c->busy = TCTX_RECORDING;
	c->pub.busy_sp = SP;
	agent.ledger->arena_end = agent.ledger->arena_used;
	assert_null(ctx_nested(c, SP - 64));
	assert_int_equal(agent.ledger->dropped[PMM_DROP_CTX_FULL], 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_NESTED], 0);
}

/* Who takes over from a thread that ended in the middle of an event trusts nothing half written. */
static void who_ended_in_an_event_leaves_nothing_half_written(void **state)
{
	struct pmm_record *r;
	struct tctx *c;

	(void)state;
	c = ctx_of(1, GONE);
	c->known = arena_get(sizeof(*c->known), 4096);
	assert_non_null(c->known);
	r = site_record(c, 5, 0);
	for (unsigned i = 0; i < 2; i++) {
		c->busy = i ? TCTX_RECORDING : TCTX_IN_ALLOCATOR;
		c->known->nr_groups = 7;
		((pmm_ref *)arena_at(c->site_page[0]))[5] = 0;	/* hung in, not noted */
		assert_ptr_equal(ctx_of(1, i ? own_tid() : GONE - 1), c);
		assert_int_equal(c->known->nr_groups, i ? 0 : 7);
	}
	assert_ptr_equal(site_record(c, 5, 0), r);
}

/* A hook that lies below cannot be running: it was left by a jump. */
static void who_was_left_by_a_jump_starts_afresh(void **state)
{
	struct tctx *c;

	(void)state;
	c = ctx_of(1, own_tid());
	c->pub.busy_sp = SP;
	c->busy = TCTX_RECORDING;
	c->pub.seq = 3;
	c->memo_nr = 4;
	c->stamp = (struct block_stamp){ .number = 7, .now = 1000, .end_tick = 1001 };
	c->pub.move[PMM_MOVE_HEAP].address = 64;
	c->pub.move[PMM_MOVE_POOL].address = 128;
	assert_ptr_equal(ctx_nested(c, SP), c);
	assert_int_equal(c->stamp.now, BLOCK_NEVER);	/* the next block gets a new one */
	assert_int_equal(c->busy, TCTX_IDLE);
	assert_int_equal(c->pub.seq, 4);
	assert_int_equal(agent.ledger->cut, 1);
	assert_int_equal(c->memo_nr, 0);
	assert_int_equal(c->pub.move[PMM_MOVE_HEAP].address, 0);
	assert_int_equal(c->pub.move[PMM_MOVE_POOL].address, 128);
	assert_int_equal(agent.ledger->nr_ctx, 1);
	assert_int_equal(c->pub.busy_sp, 0);		/* no hook runs */
	c->busy = TCTX_IN_ALLOCATOR;
	c->pub.busy_sp = SP;
	c->pub.seq = 6;
	assert_ptr_equal(ctx_nested(c, SP + (8 << 20) - 8), c);
	assert_int_equal(c->pub.seq, 6);
	assert_null(c->nested);
	c->busy = TCTX_IN_ALLOCATOR;
	c->pub.busy_sp = SP;
	/* so far above is another stack */
	assert_ptr_not_equal(ctx_nested(c, SP + (8 << 20)), c);
	assert_int_equal(c->busy, TCTX_IN_ALLOCATOR);
	assert_int_equal(agent.ledger->nr_ctx, 2);
}

/* ... and so were the hooks of handlers that had interrupted it. */
static void handlers_of_who_was_left_were_left(void **state)
{
	struct tctx *c, *n[2];

	(void)state;
	c = ctx_of(1, own_tid());
	c->busy = TCTX_RECORDING;
	c->pub.busy_sp = SP;
	for (unsigned i = 0; i < 2; i++) {
		n[i] = ctx_nested(c, SP - 0x1000 * (i + 1));
		n[i]->busy = TCTX_RECORDING;
		n[i]->pub.busy_sp = 0x1000;		/* on any stack */
		n[i]->pub.seq = 3;
	}
	assert_ptr_equal(ctx_nested(c, SP), c);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(n[i]->busy, TCTX_IDLE);
		assert_int_equal(n[i]->pub.seq, 4);
	}
}

static char stack[65536];
static struct tctx *elsewhere, *same, *lower;	/* what ctx_nested() says on the alternate stack */

static void on_alternate_stack(int number)
{
	struct tctx *c = ctx_of(1, own_tid());

	(void)number;
	c->busy = TCTX_RECORDING;
	c->pub.busy_sp = SP;
	elsewhere = ctx_nested(c, (uintptr_t)stack + 4096);
	c->pub.busy_sp = (uintptr_t)stack + 4096;
	lower = ctx_nested(c, (uintptr_t)stack + 4088);
	same = ctx_nested(c, (uintptr_t)stack + 4096);
}

/* A hook on the alternate stack is not running when that is not in use, wherever the next is. */
static void who_was_left_on_the_alternate_stack_starts_afresh(void **state)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) }, before;
	struct sigaction sa = { .sa_handler = on_alternate_stack, .sa_flags = SA_ONSTACK };
	struct tctx *c;

	(void)state;
	assert_int_equal(sigaltstack(&ss, &before), 0);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	c = ctx_of(1, own_tid());
	assert_non_null(c->nested);
	assert_ptr_equal(elsewhere, c->nested);
	assert_ptr_equal(lower, c->nested);
	assert_ptr_equal(same, c);
	c->busy = TCTX_RECORDING;
	c->pub.busy_sp = (uintptr_t)stack + 4096;
	assert_ptr_equal(ctx_nested(c, SP), c);
	assert_int_equal(c->busy, TCTX_IDLE);
	sigaltstack(&before, NULL);
}

static unsigned handled, handled_within;

static void count_handled(int number)
{
	(void)number;
	handled++;
}

static void interrupt(struct tctx *c)
{
	(void)c;
	raise(SIGUSR1);
	handled_within = handled;
}

/* A handler would get a context of its own, and the thread a second record. */
static void no_handler_comes_while_a_thread_gets_its_context(void **state)
{
	sigset_t mask;

	(void)state;
	handled = 0;
	handled_within = 9;
	signal(SIGUSR1, count_handled);
	agent.taken = interrupt;
	ctx_of(1, own_tid());
	assert_int_equal(handled_within, 0);
	assert_int_equal(handled, 1);			/* but then */
	agent.confined = true;				/* no system call more than is needed */
	ctx_of(2, own_tid());
	assert_int_equal(handled_within, 2);
	agent.confined = false;
	agent.taken = NULL;
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1));
}

static void an_operator_new_that_threw_has_failed(void **state)
{
	struct tctx *c;

	(void)state;
	c = ctx_of(1, own_tid());
	c->busy = TCTX_IN_ALLOCATOR;
	c->pub.busy_sp = SP;
	c->throwing = true;
	c->throwing_size = 5000;
	c->throwing_site = 3;
	assert_ptr_equal(ctx_nested(c, SP), c);
	assert_false(c->throwing);
	assert_int_equal(site_record(c, 3, 0)->failed, 1);
	assert_int_equal(site_record(c, 3, 0)->max_bytes, 5000);
	c->busy = TCTX_IN_ALLOCATOR;
	c->pub.busy_sp = SP;
	assert_ptr_equal(ctx_nested(c, SP), c);
	assert_int_equal(site_record(c, 3, 0)->failed, 1);		/* once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(handlers_have_contexts_of_their_own),
		TEST(a_handler_without_room_is_not_recorded),
		TEST(who_ended_in_an_event_leaves_nothing_half_written),
		TEST(who_was_left_by_a_jump_starts_afresh),
		TEST(handlers_of_who_was_left_were_left),
		TEST(who_was_left_on_the_alternate_stack_starts_afresh),
		TEST(no_handler_comes_while_a_thread_gets_its_context),
		TEST(an_operator_new_that_threw_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
