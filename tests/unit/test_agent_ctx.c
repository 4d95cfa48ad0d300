/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/ctx.c: each thread has a context of its own, those of ended threads are taken over. */
#include "tests/unit/ctx_host.h"

#include <sys/prctl.h>

#include "agent/record.h"

/* ---- threads --------------------------------------------------------------------------------- */

static void a_thread_is_entered(void **state)
{
	struct pmm_thread *t;
	struct tctx *c;
	char name[16];

	(void)state;
	tree()->tick = 77;
	c = ctx_of(1, own_tid());
	assert_int_equal(agent.ledger->nr_ctx, 1);
	assert_int_equal(agent.ledger->nr_threads, 1);
	assert_ptr_equal(arena_at(agent.ledger->ctx[0]), c);
	assert_int_equal(c->pub.number, 0);
	assert_int_equal(c->pub.thread, 0);
	assert_int_equal(c->pub.level, 0);
	assert_ptr_equal(c->countdown, ctx_countdown(c));
	assert_non_null(c->memo);
	t = record_of(0);
	prctl(PR_GET_NAME, name);
	assert_string_equal(t->name, name);
	assert_int_equal(t->tid, own_tid());
	assert_int_equal(t->start_tick, 77);
	assert_int_equal(t->ctx, 0);
	assert_int_equal(t->current, 1);
	assert_ptr_equal(ctx_of(1, own_tid()), c);
	assert_int_equal(agent.ledger->nr_threads, 1);
	c = ctx_of(2, own_tid());
	assert_int_equal(c->pub.number, 1);
	assert_int_equal(record_of(1)->ctx, 1);
	assert_int_equal(agent.ledger->nr_ctx, 2);
}

/* The first event finds out where the C library keeps the thread id. */
static void the_real_thread_is_known_by_its_pointer(void **state)
{
	struct tctx *c;

	(void)state;
	agent.tid_offset = 0;
	c = ctx_find();
	assert_non_null(c);
	assert_int_equal(c->tid, own_tid());
	assert_int_not_equal(agent.tid_offset, 0);
	assert_int_equal(*(uint32_t *)(arch_thread_pointer() + agent.tid_offset), own_tid());
	assert_ptr_equal(ctx_find(), c);
	assert_int_equal(agent.ledger->nr_ctx, 1);
}

static void without_a_known_place_the_kernel_is_asked(void **state)
{
	struct tctx *c;

	(void)state;
	agent.tid_offset = 0;
	c = ctx_find_slow((uint64_t)blocks);		/* nothing is there */
	assert_int_equal(agent.tid_offset, 0);
	assert_int_equal(c->tid, own_tid());
	assert_ptr_equal(ctx_find_slow((uint64_t)blocks), c);
	assert_int_equal(agent.ledger->nr_ctx, 1);
	*(uint32_t *)((char *)blocks + 0x38) = own_tid();
	assert_ptr_equal(ctx_find_slow((uint64_t)blocks), c);
	assert_int_equal(agent.tid_offset, 0x38);
}

static unsigned taken;
static struct tctx *taken_last;

static void note_taken(struct tctx *c)
{
	taken++;
	taken_last = c;
}

static void who_wants_to_know_is_told(void **state)
{
	struct tctx *c;

	(void)state;
	agent.taken = note_taken;
	taken = 0;
	c = ctx_of(1, own_tid());
	assert_int_equal(taken, 1);
	assert_ptr_equal(taken_last, c);
	ctx_of(1, own_tid());
	assert_int_equal(taken, 1);
	ctx_of(1, GONE);
	assert_int_equal(taken, 2);
}

/* What belonged to the thread is closed with what it did, and the next one starts at nothing. */
static void a_new_thread_on_an_old_stack_takes_over(void **state)
{
	struct pmm_thread *t;
	struct tctx *c, *now;

	(void)state;
	c = ctx_of(1, GONE);
	c->pub.class[0].calls[PMM_KIND_MALLOC] = 3;
	c->pub.class[6].calls[PMM_KIND_NEW_ARRAY_ALIGNED] = 7;
	c->pub.class[5].frees = 4;
	c->pub.class[0].bytes_in = 100;
	c->pub.class[6].bytes_in = 900;
	c->pub.class[6].bytes_out = 300;
	c->pub.seq = 7;
	c->busy = TCTX_RECORDING;
	c->last_address = 1;
	c->stamp.now = 5;
	c->sampling = c->throwing = true;
	c->bytes_left = 9;
	c->pub.pool_sp = 8;
	c->pub.move[PMM_MOVE_HEAP].address = c->pub.move[PMM_MOVE_POOL].address = 64;
	c->random = 0;
	tree()->tick = 60;
	now = ctx_of(1, GONE + 1);
	assert_ptr_equal(now, c);
	assert_int_equal(agent.ledger->nr_ctx, 1);
	assert_int_equal(agent.ledger->nr_threads, 2);
	t = record_of(0);
	assert_int_equal(t->current, 0);
	assert_int_equal(t->sums.allocs, 10);
	assert_int_equal(t->sums.frees, 4);
	assert_int_equal(t->sums.bytes_in, 1000);
	assert_int_equal(t->sums.bytes_out, 300);
	assert_int_equal(c->pub.thread, 1);
	assert_int_equal(c->pub.base.allocs, 10);
	assert_int_equal(c->pub.base.frees, 4);
	assert_int_equal(c->pub.base.bytes_in, 1000);
	assert_int_equal(c->pub.base.bytes_out, 300);
	assert_int_equal(c->pub.seq, 8);
	assert_int_equal(c->busy, TCTX_IDLE);
	assert_int_equal(c->last_address, 0);
	assert_int_equal(c->stamp.now, BLOCK_NEVER);
	assert_false(c->sampling || c->throwing);
	assert_int_equal(c->bytes_left, 0);
	assert_int_equal(c->pub.pool_sp, 0);
	assert_int_equal(c->pub.move[PMM_MOVE_HEAP].address, 0);
	assert_int_equal(c->pub.move[PMM_MOVE_POOL].address, 0);
	assert_int_not_equal(c->random, 0);
	assert_int_equal(record_of(1)->current, 1);
	assert_int_equal(record_of(1)->tid, GONE + 1);
	assert_int_equal(record_of(1)->start_tick, 60);
	c->pub.class[0].calls[PMM_KIND_MALLOC] = 4;
	c->pub.class[0].bytes_in = 101;
	ctx_of(1, GONE + 2);
	assert_int_equal(record_of(1)->sums.allocs, 1);	/* only its own */
	assert_int_equal(record_of(1)->sums.bytes_in, 1);
	assert_int_equal(record_of(1)->sums.frees, 0);
	assert_int_equal(record_of(1)->sums.bytes_out, 0);
	assert_int_equal(record_of(0)->sums.allocs, 10);
}

/* The last record is of all threads beyond it: it stays open, and has what they all did. */
static void threads_beyond_the_last_number_add_up(void **state)
{
	struct pmm_thread *t;
	struct tctx *a, *b;

	(void)state;
	agent.ledger->nr_threads = PMM_MAX_THREADS - 1;
	a = ctx_of(1, GONE);
	t = record_of(PMM_MAX_THREADS - 1);
	for (uint32_t i = 1; i <= 5; i++) {
		a->pub.class[0].calls[PMM_KIND_MALLOC] += i;
		a->pub.class[0].frees += 1;
		a->pub.class[0].bytes_in += 16 * i;
		a->pub.class[0].bytes_out += 16;
		assert_ptr_equal(ctx_of(1, GONE + i), a);
		assert_int_equal(a->pub.thread, PMM_MAX_THREADS - 1);
		assert_int_equal(a->pub.base.allocs, i * (i + 1) / 2);
	}
	b = ctx_of(2, own_tid());				/* adopts it, and does nothing */
	assert_ptr_equal(b, a);
	assert_int_equal(t->current, 1);
	assert_int_equal(t->tid, own_tid());
	assert_int_equal(t->sums.allocs, 15);
	assert_int_equal(t->sums.frees, 5);
	assert_int_equal(t->sums.bytes_in, 16 * 15);
	assert_int_equal(t->sums.bytes_out, 16 * 5);
}

static void contexts_of_the_dead_are_adopted(void **state)
{
	struct tctx *c, *other;

	(void)state;
	c = ctx_of(1, GONE);
	c->pub.class[0].calls[PMM_KIND_MALLOC] = 3;
	other = ctx_of(2, own_tid());			/* of another thread pointer */
	assert_ptr_equal(other, c);
	assert_int_equal(agent.ledger->nr_ctx, 1);
	assert_int_equal(agent.ledger->nr_threads, 2);
	assert_int_equal(record_of(0)->sums.allocs, 3);
	assert_int_equal(record_of(0)->current, 0);
	assert_int_equal(record_of(1)->current, 1);
	/* the first place again: its entry is gone */
	other = ctx_of(1, GONE + 1);
	assert_ptr_not_equal(other, c);
	assert_ptr_equal(ctx_of(2, own_tid()), c);
	assert_int_equal(agent.ledger->nr_ctx, 2);
	ctx_of(3, own_tid());				/* that one is adopted */
	assert_int_equal(agent.ledger->nr_ctx, 2);
	ctx_of(4, own_tid());				/* the living are not */
	assert_int_equal(agent.ledger->nr_ctx, 3);
}

/* Four tries each: among many one that is dead is found in the end, before three looks at all. */
static void few_dead_are_found_in_turn(void **state)
{
	unsigned calls = 1;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		ctx_of(i, own_tid());
	((struct tctx *)arena_at(agent.ledger->ctx[7]))->tid = GONE;
	agent.ledger->nr_ctx = PMM_MAX_CTX;			/* no new ones */
	while (calls < PMM_MAX_CTX && !ctx_find_slow(thread(100, own_tid())))
		calls++;
	assert_in_range(calls, 1, 3 * PMM_MAX_CTX / 4);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_CTX_FULL], calls - 1);
	assert_int_equal(ctx_of(100, own_tid())->pub.number, 7);
	assert_null(ctx_find_slow(thread(7, own_tid())));
}

/* Beside those that stay others come and go, each on its own stack: they need few contexts. */
static void contexts_are_few_beside_threads_that_stay(void **state)
{
	enum { STAY = 40, COME = 20000 };

	(void)state;
	for (uint32_t i = 0; i < STAY; i++)
		ctx_of(i, own_tid());
	for (uint32_t i = 0; i < COME; i++)
		ctx_of(STAY + i % 4000, GONE + i);	/* long after, it is another thread's */
	assert_in_range(agent.ledger->nr_ctx, STAY, 2 * STAY);
}

/* Under seccomp nobody is asked who lives. */
static void the_confined_adopt_nobody(void **state)
{
	(void)state;
	ctx_of(1, GONE);
	agent.confined = true;
	ctx_of(2, own_tid());
	assert_int_equal(agent.ledger->nr_ctx, 2);
	assert_int_equal(record_of(1)->name[0], 0);
}

/* More threads than probes for one place of the hash: each keeps its context. */
static void crowded_places_lose_nobody(void **state)
{
	enum { CROWD = 20 };
	struct tctx *c[CROWD];
	uint64_t tp[CROWD];
	uint32_t nr = 0, place = ctx_hash_of(thread(0, own_tid()));

	(void)state;
	for (uint32_t i = 0; i < BLOCKS / 64 && nr < CROWD; i++)
		if ((ctx_hash_of((uint64_t)&blocks[i * 64]) - place) % AGENT_CTX_HASH < 2)
			tp[nr++] = thread(i, own_tid());
	assert_in_range(nr, 3, CROWD);
	for (uint32_t i = 0; i < nr; i++)
		c[i] = ctx_find_slow(tp[i]);
	for (unsigned round = 0; round < 3; round++)
		for (uint32_t i = 0; i < nr; i++) {
			assert_ptr_equal(ctx_find_slow(tp[i]), c[i]);
			for (uint32_t k = 0; k < i; k++)
				assert_ptr_not_equal(c[k], c[i]);
		}
	assert_int_equal(agent.ledger->nr_ctx, nr);
	assert_int_equal(agent.ledger->nr_threads, nr);
}

static void many_threads_have_many_contexts(void **state)
{
	enum { MANY = 3000 };
	static struct tctx *c[MANY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal((c[i] = ctx_of(i, own_tid()))->pub.number, i);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ptr_equal(ctx_of(i, own_tid()), c[i]);
	assert_int_equal(agent.ledger->nr_ctx, MANY);
}

static void there_are_no_more_than_there_may_be(void **state)
{
	(void)state;
	agent.ledger->nr_ctx = PMM_MAX_CTX - 1;
	ctx_of(1, own_tid());
	assert_int_equal(agent.ledger->nr_ctx, PMM_MAX_CTX);
	assert_null(ctx_find_slow(thread(2, own_tid())));
	assert_int_equal(agent.ledger->nr_ctx, PMM_MAX_CTX);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_CTX_FULL], 1);
	ctx_of(1, own_tid());
}

static void late_threads_share_the_last_number(void **state)
{
	(void)state;
	agent.ledger->nr_threads = PMM_MAX_THREADS - 1;
	assert_int_equal(ctx_of(1, own_tid())->pub.thread, PMM_MAX_THREADS - 1);
	assert_int_equal(ctx_of(2, own_tid())->pub.thread, PMM_MAX_THREADS - 1);
	assert_int_equal(agent.ledger->nr_threads, PMM_MAX_THREADS);
}

static void without_memory_there_is_none(void **state)
{
	(void)state;
	agent.ledger->arena_end = agent.ledger->arena_used;
	assert_null(ctx_find_slow(thread(1, own_tid())));
	assert_int_equal(agent.ledger->nr_ctx, 0);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_CTX_FULL], 1);
}

/* ---- real threads ---------------------------------------------------------------------------- */

#define THREADS	8

static struct tctx *had[THREADS];
static pthread_barrier_t barrier;

static void *run(void *arg)
{
	struct tctx **mine = arg;

	*mine = ctx_find();
	for (unsigned i = 0; i < 20000; i++)
		if (ctx_find() != *mine)
			*mine = NULL;
	if (*mine && (*mine)->tid == own_tid())
		(*mine)->pub.class[0].calls[PMM_KIND_MALLOC] += 1 + (uint64_t)(mine - had);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void round_of_threads(void)
{
	pthread_t t[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, run, &had[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_non_null(had[i]);
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(had[i], had[k]);
	}
}

static void threads_at_once_never_share(void **state)
{
	uint64_t sum = 0, allocs = 0;

	(void)state;
	agent.tid_offset = 0;
	for (unsigned round = 0; round < 4; round++)
		round_of_threads();
	assert_int_equal(agent.ledger->nr_threads, 4 * THREADS);
	/* as many as there were at once, or a few more that ended just then */
	assert_in_range(agent.ledger->nr_ctx, THREADS, 2 * THREADS);
	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++)
		allocs += pmm_ctx_sums(arena_at(agent.ledger->ctx[i])).allocs;
	for (uint32_t i = 0; i < agent.ledger->nr_threads; i++) {
		const struct pmm_thread *t = record_of(i);
		const struct pmm_ctx *c = arena_at(agent.ledger->ctx[t->ctx]);

		sum += t->current ? pmm_ctx_sums(c).allocs - c->base.allocs
				  : t->sums.allocs;
	}
	assert_int_equal(allocs, 4 * THREADS * (THREADS + 1) / 2);
	assert_int_equal(sum, allocs);			/* each thread's own, and all of them */
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The view after a program's end with so many frees, as it was `before`. */
static uint32_t view_at_end(void *mallinfo2, uint64_t frees, uint32_t before)
{
	struct pmm_ledger *l = agent.ledger;

	agent.no_break = true;
	agent.next.mallinfo2 = mallinfo2;
	STORE(agent.state, AGENT_ON);
	l->mapping.brk_now = l->mapping.brk_start + 32 * 60000;
	l->allocator_view.valid = before;
	ctx_find()->pub.class[0].frees = frees;
	l->state = PMM_STATE_RUNNING;
	agent_finish(NULL);
	assert_int_equal(l->state, PMM_STATE_EXITED);
	return l->allocator_view.valid;
}

static void who_has_much_to_count_is_not_asked_at_its_end(void **state)
{
	(void)state;
	assert_int_equal(view_at_end(view_at_end, 50000, PMM_VIEW_NONE), PMM_VIEW_LONG);
	assert_int_equal(view_at_end(view_at_end, 50000, PMM_VIEW_TAKEN), PMM_VIEW_TAKEN);
	assert_int_equal(view_at_end(NULL, 50000, PMM_VIEW_NONE), PMM_VIEW_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread_is_entered),
		TEST(the_real_thread_is_known_by_its_pointer),
		TEST(without_a_known_place_the_kernel_is_asked),
		TEST(who_wants_to_know_is_told),
		TEST(a_new_thread_on_an_old_stack_takes_over),
		TEST(threads_beyond_the_last_number_add_up),
		TEST(contexts_of_the_dead_are_adopted),
		TEST(few_dead_are_found_in_turn),
		TEST(contexts_are_few_beside_threads_that_stay),
		TEST(the_confined_adopt_nobody),
		TEST(crowded_places_lose_nobody),
		TEST(many_threads_have_many_contexts),
		TEST(there_are_no_more_than_there_may_be),
		TEST(late_threads_share_the_last_number),
		TEST(without_memory_there_is_none),
		TEST(threads_at_once_never_share),
		TEST(who_has_much_to_count_is_not_asked_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
