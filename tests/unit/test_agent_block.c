/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/block.c: blocks and mappings by address, neighbours in one granule, the limit.
 * Also of agent/record.c.
 */
#include "tests/unit/block_made.h"

#include <pthread.h>
#include <sched.h>

static void test_add_and_del(void **state)
{
	struct block_info b;

	(void)state;
	start(16 << 20);
	assert_false(del(HEAP + 16, &b));
	assert_true(add_by(HEAP + 16, 123456789012, 0xabcde, PMM_KIND_CALLOC, 77, 4000000000u));
	assert_false(del(HEAP, &b));			/* same granule, other address */
	assert_true(del(HEAP + 16, &b));
	assert_int_equal(b.size, 123456789012);
	assert_int_equal(b.site, 0xabcde);
	assert_int_equal(b.kind, PMM_KIND_CALLOC);
	assert_int_equal(pmm_tick_of_time(b.birth), 4000000000u);	/* a multiple of 32 */
	assert_false(del(HEAP + 16, &b));
	agent_host_fini();
}

static void test_every_granule_of_64_mib(void **state)
{
	struct block_info b;

	(void)state;
	start(64 << 20);
	for (uint64_t i = 0; i < 1 << 21; i++)
		assert_true(add(HEAP + 32 * i, i % 57, i & 0xfffff));
	for (uint64_t i = 0; i < 1 << 21; i++) {
		assert_true(del(HEAP + 32 * i, &b));
		assert_int_equal(b.size, i % 57);
		assert_int_equal(b.site, i & 0xfffff);
	}
	/*
	 * a quarter of a byte of table for a byte of heap, 1/32 of that for the ends of leaves, and
	 * little else
	 */
	assert_in_range(agent.ledger->arena_used - PMM_ARENA_OFF, (16 << 20) + (512 << 10),
			(16 << 20) + (600 << 10));
	agent_host_fini();
}

/* Small and wide ones: site changes, nothing else does, and who is not there stays away. */
static void test_a_block_gets_another_site(void **state)
{
	struct block_info b;
	uint64_t size = 0;
	uint32_t was;

	(void)state;
	start(1 << 20);
	assert_true(add(HEAP, 40, 7));
	assert_true(add(HEAP + 64, 4000, 8));
	assert_true(block_change_site(HEAP, PMM_MAX_SITES - 1, &was, &size));
	assert_int_equal(was, 7);
	assert_int_equal(size, 40);
	assert_true(block_change_site(HEAP + 64, 1, &was, &size));
	assert_int_equal(was, 8);
	assert_int_equal(size, 4000);
	assert_false(block_change_site(HEAP + 8, 3, &was, &size));
	assert_true(del(HEAP, &b));
	assert_int_equal(b.site, PMM_MAX_SITES - 1);
	assert_int_equal(b.size, 40);
	assert_true(del(HEAP + 64, &b));
	assert_int_equal(b.site, 1);
	assert_int_equal(b.size, 4000);
	assert_false(block_change_site(HEAP, 3, &was, &size));
}

/* Of live blocks of either table, not of what is inside them, nor of pools'. */
static void test_a_site_is_looked_up(void **state)
{
	struct block_info b;
	uint32_t site;

	(void)state;
	start(1 << 20);
	agent.dense = true;
	assert_true(add(HEAP, 16, PMM_MAX_SITES - 1));
	assert_true(add(HEAP + 16, 16, 8));			/* the same granule */
	assert_true(add(HEAP + 64, 4000, 9));
	assert_true(add_by(HEAP + 128, 8, 10, PMM_KIND_OTHER, 0, 5));
	assert_true(block_site(HEAP, &site));
	assert_int_equal(site, PMM_MAX_SITES - 1);
	assert_true(block_site(HEAP + 16, &site));
	assert_int_equal(site, 8);
	assert_true(block_site(HEAP + 64, &site));
	assert_int_equal(site, 9);
	assert_false(block_site(HEAP + 8, &site));
	assert_false(block_site(HEAP + 96, &site));		/* the second word */
	assert_false(block_site(HEAP + 128, &site));
	assert_false(block_site(HEAP + (1 << 30), &site));
	assert_true(del(HEAP + 16, &b));
	assert_false(block_site(HEAP + 16, &site));
	agent_host_fini();
}

static void test_dense_neighbours(void **state)
{
	struct block_info b;

	(void)state;
	start(16 << 20);
	agent.dense = true;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(add(HEAP + 8 * i, i % 50, 1));
	for (uint64_t i = 0; i < 1000; i += 2) {
		assert_true(del(HEAP + 8 * i, &b));
		assert_int_equal(b.size, i % 50);
	}
	/* into granules that others hold or left */
	for (uint64_t i = 0; i < 1000; i += 2)
		assert_true(add(HEAP + 8 * i, 56 - i % 50, 2));
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(del(HEAP + 8 * i, &b));
		assert_int_equal(b.size, i % 2 ? i % 50 : 56 - i % 50);
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(del(HEAP + 8 * i, &b));
	agent_host_fini();
}

/* Only as long as its word is the one that was looked at: another thread may have been faster. */
static void test_who_has_no_owner_is_taken_out_once(void **state)
{
	uint64_t *at, word;
	struct block_info b;

	(void)state;
	start(16 << 20);
	assert_true(add(HEAP, 100, 1));
	at = block_place(HEAP);
	word = *at;
	assert_true(block_displace(at, word, &stamp, &b));
	assert_int_equal(b.size, 100);
	assert_int_equal(b.site, 1);
	assert_false(block_displace(at, word, &stamp, &b));
	assert_true(add(HEAP, 100, 2));
	assert_false(block_displace(at, word, &stamp, &b));
	assert_true(del(HEAP, &b));
	assert_int_equal(b.site, 2);
	agent_host_fini();
}

#define CONTENDED 20000

static unsigned entered[2];		/* granules by each of two threads */

/* One block of each granule, at the same time as the other thread enters its own. */
static void *enter_halves(void *at)
{
	struct block_stamp own = { .now = BLOCK_NEVER };
	uint64_t offset = (uint64_t)at;
	unsigned self = !!offset;

	for (unsigned i = 0; i < CONTENDED; i++) {
		uint64_t address = HEAP + 32 * i + offset;

		while (LOAD(entered[!self]) < i)
			sched_yield();
		if (!block_add(address, block_place(address),
			       &(struct block_new){ 16, 1 + self, PMM_KIND_MALLOC, 0, 0, &own }))
			return NULL;
		STORE(entered[self], i + 1);
	}
	return at;
}

static void test_two_threads_enter_neighbours(void **state)
{
	struct block_info b;
	pthread_t other;
	void *ended;

	(void)state;
	start(16 << 20);
	agent.dense = true;
	assert_int_equal(pthread_create(&other, NULL, enter_halves, (void *)16), 0);
	enter_halves(NULL);
	assert_int_equal(pthread_join(other, &ended), 0);
	assert_ptr_equal(ended, (void *)16);
	for (uint64_t i = 0; i < 2 * CONTENDED; i++) {
		assert_true(del(HEAP + 16 * i, &b));
		assert_int_equal(b.size, 16);
		assert_int_equal(b.site, 1 + i % 2);
	}
	agent_host_fini();
}

/* Blocks of all sizes side by side as close as they can be: no word is another block's. */
static void test_small_and_wide_neighbours(void **state)
{
	static const uint16_t sizes[] = { 24, 56, 57, 40, 0, 88, 1000, 8, 56, 4096, 120, 57, 25 };
	uint64_t at[3000], next = HEAP;
	struct block_info b;
	unsigned nr = sizeof(at) / sizeof(at[0]);

	(void)state;
	start(16 << 20);
	agent.dense = true;
	for (unsigned i = 0; i < nr; i++) {
		uint64_t size = sizes[i % 13];

		at[i] = next;
		next += size < 8 ? 8 : (size + 7) & ~7ull;
		assert_true(add_by(at[i], size, i, PMM_KIND_NEW, i, 7 * i));
	}
	/* inside of blocks there are none */
	for (unsigned i = 0; i < nr; i++)
		if (sizes[i % 13] > 8) {
			assert_false(del(at[i] + 8, &b));
			assert_false(del(at[i] + ((sizes[i % 13] - 1) & ~7u), &b));
		}
	for (unsigned i = 0; i < nr; i++) {
		unsigned k = i * 1009 % nr;

		assert_true(del(at[k], &b));
		assert_int_equal(b.size, sizes[k % 13]);
		assert_int_equal(b.site, k);
		if (b.size > PMM_SIZE_SMALL)
			assert_int_equal(b.birth, 7 * k);
		assert_false(del(at[k], &b));
	}
	agent_host_fini();
}

/* A pool's blocks lie inside others, also where these begin, and neither is taken for the other. */
static void test_pools(void **state)
{
	struct block_info b;

	(void)state;
	for (int dense = 0; dense < 2; dense++) {
		start(16 << 20);
		agent.dense = dense;
		assert_true(add(HEAP, 65536, 1));
		assert_true(add_by(HEAP, 100, 2, PMM_KIND_OTHER, 0, 5));
		assert_true(add_by(HEAP + 104, 8, 3, PMM_KIND_OTHER, 0, 5));
		assert_true(add_by(HEAP + 112, 16, 4, PMM_KIND_OTHER, 0, 5));
		assert_false(del(HEAP + 112, &b));
		assert_true(del(HEAP, &b));
		assert_int_equal(b.size, 65536);
		assert_false(del(HEAP, &b));
		assert_true(block_del_pool(HEAP, &stamp, &b));
		assert_int_equal(b.size, 100);
		assert_false(block_del_pool(HEAP, &stamp, &b));
		assert_true(block_restore(HEAP, &b));
		assert_false(del(HEAP, &b));
		assert_true(block_del_pool(HEAP, &stamp, &b));
		assert_int_equal(b.site, 2);
		assert_true(block_del_pool(HEAP + 104, &stamp, &b));
		assert_int_equal(b.size, 8);
		assert_true(block_del_pool(HEAP + 112, &stamp, &b));
		assert_int_equal(b.kind, PMM_KIND_OTHER);
		assert_true(add(HEAP, 8, 7));
		assert_false(block_del_pool(HEAP, &stamp, &b));
		if (dense) {
			/* in the pools' table, but none of theirs */
			assert_true(add(HEAP + 8, 8, 8));
			assert_false(block_del_pool(HEAP + 8, &stamp, &b));
			assert_true(del(HEAP + 8, &b));
		}
		agent_host_fini();
	}
}

static void test_restore(void **state)
{
	struct block_info b, again;

	(void)state;
	start(16 << 20);
	assert_true(add_by(HEAP + 8, 56, 3, PMM_KIND_MALLOC, 9, 100));
	assert_true(add_by(HEAP + 96, 57, 4, PMM_KIND_CALLOC, 8, 100));
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at = i ? HEAP + 96 : HEAP + 8;

		assert_true(del(at, &b));
		assert_true(block_restore(at, &b));
		assert_true(del(at, &again));
		assert_int_equal(again.size, 56 + i);
		assert_int_equal(again.site, 3 + i);
		assert_int_equal(again.word[0], b.word[0]);
		if (i)
			assert_int_equal(again.word[1], b.word[1]);
	}
	agent_host_fini();
}

/* One number for a thread and a tick, and numbers that stand for more ticks as more were given. */
static void test_stamps(void **state)
{
	const struct pmm_stamp *s;
	struct block_stamp other = { .now = BLOCK_NEVER };
	struct block_info b;

	(void)state;
	start(16 << 20);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(add_by(HEAP + 32 * i, 8, 1, PMM_KIND_MALLOC, 5, 1000 + i / 4));
	assert_int_equal(agent.ledger->nr_stamps, 4);		/* numbers 1, 2, 3 */
	s = arena_at(agent.ledger->stamp_dir[0]);
	assert_int_equal(s[2].tick, 1001);
	assert_int_equal(s[2].thread, 5);
	assert_true(block_del(HEAP + 32 * 4, &other, &b));	/* by another thread */
	assert_int_equal(b.birth, 1001);
	assert_true(add_by(HEAP, 8, 1, PMM_KIND_MALLOC, 5, 999));	/* clocks that go back */
	assert_int_equal(agent.ledger->nr_stamps, 5);

	agent.ledger->nr_stamps = 3 << 18;				/* 8 ticks each by now */
	assert_true(add_by(HEAP + 4096, 8, 1, PMM_KIND_MALLOC, 5, 2000));
	assert_true(add_by(HEAP + 4128, 8, 1, PMM_KIND_MALLOC, 5, 2007));
	assert_int_equal(agent.ledger->nr_stamps, (3 << 18) + 1);
	assert_true(del(HEAP + 4096, &b));
	assert_int_equal(b.birth, 2007);			/* just now, as far as is known */
	assert_true(block_del(HEAP + 4128, &other, &b));
	assert_int_equal(b.birth, 2000);
	assert_true(add_by(HEAP + 4096, 8, 1, PMM_KIND_MALLOC, 5, 2008));
	assert_int_equal(agent.ledger->nr_stamps, (3 << 18) + 2);

	agent.ledger->nr_stamps = PMM_MAX_STAMPS; /* no more: the last one goes on */
	assert_true(add_by(HEAP + 4160, 8, 1, PMM_KIND_MALLOC, 5, 9999));
	assert_true(block_del(HEAP + 4160, &other, &b));
	assert_int_equal(b.birth, 2008);
	agent.ledger->nr_stamps = (3 << 18) + 2;		/* that was for a moment */
	assert_true(add_by(HEAP + 4160, 8, 1, PMM_KIND_MALLOC, 5, 9999));
	assert_true(add_by(HEAP + 4192, 8, 1, PMM_KIND_MALLOC, 5, 10000));
	assert_true(block_del(HEAP + 4160, &other, &b));
	assert_int_equal(b.birth, 2008);
	assert_true(block_del(HEAP + 4192, &other, &b));
	assert_int_equal(b.birth, 10000);
	agent_host_fini();
}

#define NONE ((struct block_stamp){ .now = BLOCK_NEVER })

/* A small block of a context with this stamp; the number that it got. */
static uint32_t number_of(struct block_stamp *of, uint32_t thread, uint32_t tick)
{
	const struct block_new b = { 8, 1, PMM_KIND_MALLOC, tick, thread, of };
	struct block_info was;

	assert_true(block_add(HEAP, NULL, &b));
	assert_true(block_del(HEAP, of, &was));
	return was.word[0] & PMM_WORD_TIME_MASK;
}

/* Of millions of threads, one after the other, most have one number: they share a stamp, too. */
static void test_stamps_of_many_threads(void **state)
{
	const uint32_t many = PMM_MAX_THREADS - 1;
	struct block_stamp of[4] = { NONE, NONE, NONE, NONE };

	(void)state;
	start(16 << 20);
	assert_int_equal(number_of(&of[0], many - 1, 1000), 1);
	assert_int_equal(number_of(&of[1], many, 1000), 2);
	for (unsigned i = 0; i < 1000; i++) {
		of[2] = NONE;
		assert_int_equal(number_of(&of[2], many, 1000), 2);
	}
	assert_int_equal(number_of(&of[2], many, 1001), 3);	/* time passes for all of them */
	assert_int_equal(number_of(&of[1], many, 1001), 3);
	assert_int_equal(number_of(&of[3], many, 999), 4);
	assert_int_equal(number_of(&of[0], many - 1, 1001), 5);
	assert_int_equal(stamp_at(3)->tick, 1001);
	assert_int_equal(stamp_at(3)->thread, many);
	block_init();					/* another ledger has none of them */
	assert_int_equal(number_of(&of[2], many, 1002), 6);
	agent_host_fini();
}

/* The last numbers are for as long as there are ticks: each for a share of the time so far. */
static void test_the_last_stamps(void **state)
{
	const uint32_t first = 15u << 18, last = PMM_MAX_STAMPS - 1, late = 1u << 30;
	struct block_stamp of = NONE;

	(void)state;
	start(16 << 20);
	agent.ledger->nr_stamps = first;
	assert_int_equal(number_of(&of, 5, 1000), first);
	assert_int_equal(of.end_tick, 1000 + (1 << 15));
	of = NONE;
	assert_int_equal(number_of(&of, 5, late), first + 1);
	assert_int_equal(of.end_tick, late + (1 << 18));	/* 1/4096 */
	assert_int_equal(number_of(&of, 5, late + (1 << 18) - 1), first + 1);
	assert_int_equal(number_of(&of, 5, late + (1 << 18)), first + 2);
	agent.ledger->nr_stamps = first + (1 << 14);
	of = NONE;
	number_of(&of, 5, late);
	assert_int_equal(of.end_tick, late + (1 << 19));
	agent.ledger->start_tick = late - (1 << 20);		/* it began late */
	of = NONE;
	number_of(&of, 5, late);
	assert_int_equal(of.end_tick, late + (1 << 15));
	agent.ledger->start_tick = 0;
	agent.ledger->nr_stamps = last - 1;
	of = NONE;
	number_of(&of, 5, late);
	assert_int_equal(of.end_tick, 2 * late);		/* as long again */
	of = NONE;
	assert_int_equal(number_of(&of, 5, 3 * late), last);
	assert_int_equal(of.end_tick, UINT32_MAX);
	agent_host_fini();
}

/* Exact for 15 days and 12 hours, from there on 32 ticks are one, up to the last tick there is. */
static void test_late_births(void **state)
{
	static const struct { uint32_t tick, birth;
	} born[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ PMM_TIME_EXACT - 1, PMM_TIME_EXACT - 1 },
		{ PMM_TIME_EXACT, PMM_TIME_EXACT },
		{ PMM_TIME_EXACT + 31, PMM_TIME_EXACT },
		{ PMM_TIME_EXACT + 32, PMM_TIME_EXACT + 32 },
		{ PMM_TIME_EXACT + 33, PMM_TIME_EXACT + 32 },
		{ (1u << 28) - 1, (1u << 28) - 32 },
		{ 1u << 28, 1u << 28 },
		{ UINT32_MAX - 32, UINT32_MAX - 63 },
		{ UINT32_MAX - 31, UINT32_MAX - 31 },
		{ UINT32_MAX, UINT32_MAX - 31 },
	};
	struct block_info b;
	uint32_t time;

	(void)state;
	start(16 << 20);
	for (size_t i = 0; i < NR(born); i++) {
		time = pmm_time_of_tick(born[i].tick);
		assert_true(time <= PMM_WORD_TIME_MASK);
		assert_int_equal(pmm_tick_of_time(time), born[i].birth);
		assert_int_equal(pmm_time_of_tick(born[i].birth), time);
		/* wide, with all other fields full: none runs into another */
		assert_true(add_by(HEAP, PMM_SIZE_MAX, PMM_MAX_SITES - 1, PMM_KIND_OTHER - 1, 65535,
				   born[i].tick));
		assert_true(del(HEAP, &b));
		assert_int_equal(pmm_tick_of_time(b.birth), born[i].birth);
		assert_int_equal(b.site, PMM_MAX_SITES - 1);
		assert_int_equal(b.kind, PMM_KIND_OTHER - 1);
		assert_int_equal(b.size, PMM_SIZE_MAX);
		assert_int_equal(block_thread(&b), 65535);
	}
	agent_host_fini();
}

static void test_rename(void **state)
{
	struct block_info b;
	uint64_t size;

	(void)state;
	start(16 << 20);
	assert_int_equal(block_rename(HEAP, PMM_KIND_NEW, &size), PMM_KIND_NONE);
	add_by(HEAP, 99, 3, PMM_KIND_ALIGNED_ALLOC, 1, 2);
	assert_int_equal(block_rename(HEAP, PMM_KIND_NEW_ALIGNED, &size), PMM_KIND_ALIGNED_ALLOC);
	assert_int_equal(size, 99);
	assert_true(del(HEAP, &b));
	assert_int_equal(b.kind, PMM_KIND_NEW_ALIGNED);
	assert_int_equal(b.site, 3);
	agent_host_fini();
}

static void test_the_limit_is_counted(void **state)
{
	unsigned kept = 0;

	(void)state;
	start(256 << 10);
	for (uint64_t i = 0; i < 200; i++)			/* each in a leaf of its own */
		kept += add(HEAP + 8192 * i, 1000, 1);
	/* less the mid and a chunk of stamps; a leaf is 257 words in whole lines */
	assert_int_equal(kept, ((256 << 10) - (32 << 10) - 64 - (8 << 10)) / 2112);
	assert_int_equal(kept, 104);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_BLOCK_FULL], 96);
	assert_int_equal(agent.ledger->dropped_bytes, 96000);
	agent_host_fini();
}

static void test_addresses_beyond_the_tables(void **state)
{
	struct block_info b;

	(void)state;
	start(16 << 20);
	assert_false(add(1ull << 47, 1, 1));
	assert_int_equal(agent.ledger->dropped[PMM_DROP_ADDRESS], 1);
	assert_false(del(1ull << 47, &b));
	assert_false(add(HEAP + 4, 1, 1));			/* between words */
	assert_int_equal(agent.ledger->dropped[PMM_DROP_ADDRESS], 2);
	assert_true(add(HEAP, 1, 1));
	assert_false(del(HEAP + 4, &b));
	assert_true(add((1ull << 47) - 32, 1, 1));
	assert_true(del((1ull << 47) - 32, &b));
	agent_host_fini();
}

/* Near the heap's start leaves are found by a table, and beyond it in the tree: the same ones. */
static void test_leaves_of_the_table(void **state)
{
	static uint64_t *leaves[LEAVES_BYTES / sizeof(uint64_t *)];
	const uint64_t at[] = { HEAP - 32, HEAP, HEAP + 8160, HEAP + 8192, HEAP + (64 << 20),
				HEAP + LEAVES_REACH - 32, HEAP + LEAVES_REACH };
	struct block_info b;

	(void)state;
	start(16 << 20);
	assert_true(add(HEAP + (1 << 20), 7, 9));		/* made before there was a table */
	agent.leaves = leaves;
	agent.leaves_from = HEAP;
	agent.leaves_reach = LEAVES_REACH;
	assert_true(del(HEAP + (1 << 20), &b));
	for (uint32_t i = 0; i < 7; i++) {
		bool within = i > 0 && i < 6;

		assert_true(add(at[i], 40, i + 1));
		assert_int_equal(block_place(at[i]) - (at[i] >> 5 & (GRANULES - 1)) ==
					 leaves[within ? (at[i] - HEAP) >> LEAVES_SHIFT : 0],
				 within);
	}
	for (uint32_t i = 0; i < 7; i++) {
		uint64_t *place = block_place(at[i]);

		agent.leaves_reach = 0;
		assert_ptr_equal(block_place(at[i]), place);
		agent.leaves_reach = LEAVES_REACH;
		assert_true(del(at[i], &b));
		assert_int_equal(b.site, i + 1);
		assert_false(del(at[i], &b));
	}
	agent_host_fini();
}

/* Where another allocator than glibc's has its blocks is said by the first leaf only. */
static void test_the_first_leaf_places_the_table(void **state)
{
	static uint64_t *leaves[LEAVES_BYTES / sizeof(uint64_t *)];
	const uint64_t first = HEAP + (700 << 20), middle = LEAVES_REACH / 2;
	struct block_info b;

	(void)state;
	start(16 << 20);
	agent.leaves = leaves;
	agent.leaves_from = LEAVES_NOWHERE;
	agent.leaves_reach = LEAVES_REACH;
	assert_null(block_place(0));
	assert_true(add(first + 40, 24, 1));
	assert_int_equal(agent.leaves_from, first - middle);
	assert_true(add(first + (1 << 20), 24, 2));
	assert_true(add(HEAP, 24, 3));			/* out of reach */
	assert_int_equal(agent.leaves_from, first - middle);
	assert_ptr_equal(leaves[middle >> LEAVES_SHIFT], block_place(first));
	assert_ptr_equal(leaves[(middle + (1 << 20)) >> LEAVES_SHIFT],
			 block_place(first + (1 << 20)));
	assert_true(del(first + 40, &b));
	assert_int_equal(b.site, 1);
	assert_true(del(HEAP, &b));
	assert_int_equal(b.site, 3);
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_del),
		cmocka_unit_test(test_every_granule_of_64_mib),
		cmocka_unit_test(test_dense_neighbours),
		cmocka_unit_test(test_who_has_no_owner_is_taken_out_once),
		cmocka_unit_test(test_two_threads_enter_neighbours),
		cmocka_unit_test(test_small_and_wide_neighbours),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_stamps_of_many_threads),
		cmocka_unit_test(test_the_last_stamps),
		cmocka_unit_test(test_late_births),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_the_limit_is_counted),
		cmocka_unit_test(test_a_block_gets_another_site),
		cmocka_unit_test(test_a_site_is_looked_up),
		cmocka_unit_test(test_addresses_beyond_the_tables),
		cmocka_unit_test(test_leaves_of_the_table),
		cmocka_unit_test(test_the_first_leaf_places_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
