/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/quarantine.c: first in, first out, up to the bound, and nothing is lost where threads
 * meet; recycle.c: what comes behind it.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <pthread.h>

#include "agent/check/quarantine.h"
#include "agent/check/recycle.h"

#define STACKS	16
#define STACK_BYTES	(64 << 10)
#define EACH	(100 + 32)	/* a block of 100 bytes with its head and tail */

static uint8_t alone;
static uint64_t left[1 << 16], nr_left;

static int begin(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	alone = 1;
	agent.single_threaded = &alone;
	agent.pid = 4711;
	nr_left = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_host_fini();
	return 0;
}

static struct quarantined block(uint64_t address, uint64_t size)
{
	return (struct quarantined){ .address = address,
				     .size = size,
				     .align_log2 = 4,
				     .kind = PMM_KIND_NEW,
				     .alloc_site = 7,
				     .alloc_tick = 8,
				     .alloc_thread = 9,
				     .free_site = 10,
				     .free_tick = 11,
				     .free_thread = 12,
				     .pid = 4711 };
}

static void leave(void *arg, const struct quarantined *q)
{
	assert_ptr_equal(arg, left);
	left[nr_left++] = q->address;
}

/* As a release does it (release.c): false where there is no room for it. */
static bool keep(const struct quarantined *q, quarantine_leave leave_to, void *arg)
{
	struct quarantine_ring *r = quarantine_takes(q->size) ? quarantine_take() : NULL;

	if (!r)
		return false;
	*quarantine_entry(r, r->end) = *q;
	quarantine_put(r, quarantined_bytes(q->size, quarantine_align(q)), leave_to, arg);
	return true;
}

static bool add(uint64_t address, uint64_t size)
{
	struct quarantined q = block(address, size);

	return keep(&q, leave, left);
}

static void first_in_first_out(void **state)
{
	(void)state;
	assert_true(quarantine_start(10 * EACH));
	for (uint64_t i = 1; i <= 10; i++)
		assert_true(add(i * 0x1000, 100));
	assert_int_equal(nr_left, 0);
	assert_int_equal(agent.ledger->check.quarantined_bytes, 10 * EACH);
	agent.ledger->check.quarantined_bytes = 0;		/* as in a child's ledger */
	quarantine_forked();
	assert_int_equal(agent.ledger->check.quarantined_bytes, 10 * EACH);
	assert_true(add(11 * 0x1000, 100));
	assert_int_equal(nr_left, 1);
	assert_int_equal(left[0], 0x1000);
	assert_true(add(12 * 0x1000, 300));		/* 332 bytes: three have to go */
	assert_int_equal(nr_left, 4);
	assert_int_equal(left[3], 4 * 0x1000);
	assert_false(add(13 * 0x1000, 10 * EACH));	/* too large for all of it */
	assert_int_equal(nr_left, 4);
}

static void all_is_told(void **state)
{
	struct quarantined q, was = block(0x5000, 100);
	struct check_block b;

	(void)state;
	assert_true(quarantine_start(10 * EACH));
	assert_true(add(0x5000, 100));
	assert_false(quarantine_find(0x5001, false, &q));
	assert_false(quarantine_find(0x5064, true, &q));
	assert_true(quarantine_find(0x5063, true, &q));
	assert_true(quarantine_find(0x5000, false, &q));
	assert_memory_equal(&q, &was, sizeof(q));
	quarantine_describe(&q, &b);
	assert_int_equal(b.address, 0x5000);
	assert_int_equal(b.size, 100);
	assert_int_equal(b.kind, PMM_KIND_NEW);
	assert_int_equal(b.alloc_site, 7);
	assert_int_equal(b.free_thread, 12);
	assert_true(b.freed);
	assert_int_equal(b.parent_pid, 0);
	agent.pid = 4712;					/* a child finds its parent's */
	quarantine_describe(&q, &b);
	assert_int_equal(b.parent_pid, 4711);
}

/* What has left, and what was never kept, is remembered until its place is taken. */
static void what_is_gone(void **state)
{
	struct quarantined q, odd = block(0x9000, 1 << 20);

	(void)state;
	assert_true(quarantine_start(2 * EACH));
	assert_true(add(0x1000, 100));
	assert_false(quarantine_gone(0x1000, &q));
	quarantine_note(&odd);
	assert_true(quarantine_gone(0x9000, &q));
	assert_int_equal(q.size, 1 << 20);
	assert_int_equal(q.free_site, 10);
	assert_false(quarantine_find(0x9000, false, &q));
	assert_true(add(0x2000, 100));
	assert_true(add(0x3000, 100));
	/* what was noted only is not there to leave */
	assert_int_equal(nr_left, 1);
	assert_true(quarantine_gone(0x1000, &q));
	assert_false(quarantine_find(0x1000, false, &q));
	assert_true(add(0x1000, 100));
	assert_true(quarantine_find(0x1000, false, &q));
	/* as many places as there are, but for its own and the next */
	for (uint64_t i = 0; i < 1022; i++)
		assert_true(add(0x100000 + i * 0x1000, 100));
	assert_true(quarantine_gone(0x1000, &q));
	assert_true(add(0x100000, 100));
	assert_false(quarantine_gone(0x1000, &q));

	assert_true(quarantine_start(0));
	assert_false(add(0x4000, 100));
	for (uint64_t i = 0; i < 3000; i++) {
		odd.address = i << 16;
		quarantine_note(&odd);
	}
	assert_true(quarantine_gone(2999 << 16, &q));
	assert_true(quarantine_gone((3000 - 1023) << 16, &q));
	assert_false(quarantine_gone((3000 - 1024) << 16, &q));
	assert_false(quarantine_find(2999 << 16, false, &q));
}

/*
 * What is noted when all places but one are taken takes none from a block that is kept: each leaves
 * once.
 */
static void no_place_is_taken_twice(void **state)
{
	struct quarantined odd = block(0x9000, 1 << 20);

	(void)state;
	assert_true(quarantine_start(1024 * EACH));
	for (uint64_t i = 1; i <= 5000; i++) {
		assert_true(add(i * 0x1000, 0));
		quarantine_note(&odd);
	}
	assert_true(nr_left > 2000);
	for (uint64_t i = 0; i < nr_left; i++)
		assert_int_equal(left[i], (i + 1) * 0x1000);
}

static void count_each(void *arg, const struct quarantined *q)
{
	*(uint64_t *)arg += q->address;
}

static void count_leaving(void *arg, const struct quarantined *q)
{
	__atomic_fetch_add((uint64_t *)arg, q->address, __ATOMIC_RELAXED);
}

static uint64_t gone;

static void *counting_thread(void *arg)
{
	for (uint64_t i = 0; i < 20000; i++) {
		struct quarantined q = block((uint64_t)arg + i, 100);

		if (!keep(&q, count_leaving, &gone))
			__atomic_fetch_add(&gone, q.address, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* What went in, came out or is still there. */
static void threads(void **state)
{
	uint64_t kept = 0, want = 0;
	pthread_t t[8];

	(void)state;
	alone = 0;
	gone = 0;
	assert_true(quarantine_start(8 * 50 * EACH));
	for (uint64_t k = 0; k < NR(t); k++) {
		assert_int_equal(
			pthread_create(&t[k], NULL, counting_thread, (void *)((k + 1) << 32)), 0);
		for (uint64_t i = 0; i < 20000; i++)
			want += ((k + 1) << 32) + i;
	}
	for (size_t k = 0; k < NR(t); k++)
		pthread_join(t[k], NULL);
	quarantine_each(count_each, &kept);
	assert_int_equal(gone + kept, want);
	assert_true(agent.ledger->check.quarantined_bytes <= 8 * 50 * EACH);
}

/*
 * In a thread of its own, and so most likely a ring of its own: blocks [from, to), released at
 * ticks of these numbers.
 */
struct range {
	uint64_t from, to, size;
	uint32_t tick;			/* 0: the block's number */
};

static void *adding_thread(void *arg)
{
	const struct range *r = arg;

	for (uint64_t i = r->from; i < r->to; i++) {
		struct quarantined q = block(i * 0x1000, r->size);

		q.free_tick = r->tick ? r->tick : (uint32_t)i;
		if (!keep(&q, leave, left))
			return NULL;
	}
	return arg;
}

/* Threads of different stacks have different rings, but for some. */
static void add_elsewhere(uint64_t from, uint64_t to, uint64_t size, uint32_t tick)
{
	static char stacks[STACKS][STACK_BYTES] __attribute__((aligned(4096)));
	struct range r = { from, to, size, tick };
	static unsigned turn;
	void *done = NULL;
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	assert_int_equal(pthread_attr_setstack(&a, stacks[turn++ % STACKS], STACK_BYTES), 0);
	assert_int_equal(pthread_create(&t, &a, adding_thread, &r), 0);
	pthread_join(t, &done);
	pthread_attr_destroy(&a);
	assert_ptr_equal(done, &r);
}

static unsigned rings_used(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		nr += quarantine.ring[i].end > 0;
	return nr;
}

static uint64_t bytes_kept(void)
{
	quarantine_report();
	return agent.ledger->check.quarantined_bytes;
}

/* Threads share all of the bound: what leaves was released first, whoever did. */
static void threads_share(void **state)
{
	(void)state;
	alone = 0;
	assert_true(quarantine_start(20 * EACH));
	add_elsewhere(1, 21, 100, 0);			/* all of it by one thread */
	assert_int_equal(nr_left, 0);
	assert_int_equal(bytes_kept(), 20 * EACH);
	for (uint64_t i = 21; i < 36; i++)
		add_elsewhere(i, i + 1, 100,
			      0); /* then by others, some of which have the same ring */
	assert_true(nr_left >= 15);
	for (uint64_t i = 0; i < 15; i++)
		assert_int_equal(left[i], (i + 1) * 0x1000);
	assert_in_range(bytes_kept(), 10 * EACH, 20 * EACH);
	add_elsewhere(100, 101, 18 * EACH, 0);		/* one that takes nearly all */
	assert_in_range(bytes_kept(), 18 * EACH, 20 * EACH);
	assert_true(left[nr_left - 1] != 100 * 0x1000);
	assert_true(rings_used() > 3);
	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		assert_int_equal(quarantine.ring[i].lock, 0);
}

/*
 * Of those of one tick, which are as old, the fullest ring gives, so that all have about as much.
 */
static void as_old_is_shared(void **state)
{
	uint64_t most = 0;

	(void)state;
	alone = 0;
	assert_true(quarantine_start(800 * EACH));
	for (uint64_t i = 0; i < 40; i++)
		add_elsewhere(1 + i * 1000, 1 + i * 1000 + 1000, 100, 5);
	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		most = quarantine.ring[i].bytes > most ? quarantine.ring[i].bytes : most;
	assert_true(most < 600 * EACH);
	assert_in_range(bytes_kept(), 780 * EACH, 800 * EACH);
}

/* A child has what its parent's threads had, with nothing lost, and goes on alone. */
static void a_child_has_all(void **state)
{
	(void)state;
	alone = 0;
	assert_true(quarantine_start(20 * EACH));
	add_elsewhere(1, 13, 100, 0);
	add_elsewhere(13, 21, 100, 0);
	/* a thread of the parent's was about to be given it */
	quarantine.spare = 0;
	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		quarantine.ring[i].lock = 1;
	alone = 1;
	quarantine_forked();
	agent.ledger->check.generation = 1;			/* ticks count anew */
	for (uint64_t i = 21; i < 221; i++) {
		struct quarantined q = block(i * 0x1000, 100);

		q.free_generation = 1;
		assert_true(keep(&q, leave, left));
	}
	assert_true(nr_left >= 200);
	for (uint64_t i = 0; i < QUARANTINE_RINGS; i++)
		assert_true(quarantine.ring[i].bytes <= quarantine.ring[i].allowed);
	assert_int_equal(bytes_kept(), quarantine.ring[0].bytes);
	assert_in_range(bytes_kept(), 18 * EACH, 20 * EACH);
}

/*
 * Blocks of just the size that is asked for, the last first; so many of a size, and of so many
 * bytes, and the rest go back.
 */
static void blocks_are_used_again(void **state)
{
	static struct tctx one, other, third;
	static char block[64];
	unsigned nr = 0;

	(void)state;
	assert_false(recycle_put(&one, block, 48));		/* there is no memory for it yet */
	recycle_start();
	assert_null(recycle_take(&one, 48));
	for (unsigned i = 0; i < RECYCLE_DEPTH; i++)
		assert_true(recycle_put(&one, &block[i], 48));
	assert_false(recycle_put(&one, &block[20], 48));
	assert_false(recycle_put(&one, &block[20], RECYCLE_BYTES));
	assert_true(recycle_put(&one, &block[21], RECYCLE_BYTES - RECYCLE_STEP));
	assert_null(recycle_take(&one, 64));
	assert_null(recycle_take(&one, RECYCLE_BYTES));
	assert_null(recycle_take(&other, 48));
	for (unsigned i = RECYCLE_DEPTH; i-- > 0;)
		assert_ptr_equal(recycle_take(&one, 48), &block[i]);
	assert_null(recycle_take(&one, 48));
	assert_ptr_equal(recycle_take(&one, RECYCLE_BYTES - RECYCLE_STEP), &block[21]);
	for (size_t bytes = RECYCLE_BYTES - RECYCLE_STEP; bytes >= 48; bytes -= RECYCLE_STEP)
		for (unsigned i = 0; i < RECYCLE_DEPTH; i++)
			nr += recycle_put(&one, block, bytes) * bytes;
	assert_in_range(nr, RECYCLE_MOST, RECYCLE_MOST + RECYCLE_BYTES);
	assert_true(recycle_put(&other, block, 48));
	recycle_forked();
	/* in a child the first context to come has what the parent's first one had */
	assert_false(recycle_put(&third, &block[1], 48));
	assert_ptr_equal(recycle_take(&third, RECYCLE_BYTES - RECYCLE_STEP), block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_in_first_out, begin, end),
		cmocka_unit_test_setup_teardown(all_is_told, begin, end),
		cmocka_unit_test_setup_teardown(what_is_gone, begin, end),
		cmocka_unit_test_setup_teardown(no_place_is_taken_twice, begin, end),
		cmocka_unit_test_setup_teardown(threads, begin, end),
		cmocka_unit_test_setup_teardown(threads_share, begin, end),
		cmocka_unit_test_setup_teardown(as_old_is_shared, begin, end),
		cmocka_unit_test_setup_teardown(a_child_has_all, begin, end),
		cmocka_unit_test_setup_teardown(blocks_are_used_again, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
