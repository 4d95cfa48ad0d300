/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/record.c: each event against the sums that it must change, to the unit.
 */
#include "agent/hook.h"
#include "tests/unit/record_host.h"

#include "agent/node.h"
#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

/* ---- single events --------------------------------------------------------------------------- */

static void an_allocation_counts_everywhere(void **state)
{
	struct pmm_record *r;

	(void)state;
	agent.warn_size = 700;
	record_alloc_at(c, HEAP, 100, PMM_KIND_CALLOC, 5);
	tree()->tick = 1007;
	record_alloc_at(c, HEAP + 0x1000, 700, PMM_KIND_NEW, 5);
	tree()->tick = 1009;
	record_alloc_at(c, HEAP + 0x2000, 0, PMM_KIND_NEW, 5);
	events_were(3);
	r = record(5);
	assert_int_equal(r->bytes_in, 800);
	assert_int_equal(r->allocs, 3);
	assert_int_equal(r->bytes_out, 0);
	assert_int_equal(r->frees, 0);
	assert_int_equal(r->max_bytes, 700);
	assert_int_equal(r->first_tick, 1000);
	assert_int_equal(r->last_tick, 1009);
	assert_int_equal(r->zero_size, 1);
	assert_int_equal(r->huge, 1);
	assert_int_equal(r->samples_in, 0);
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 3);
	assert_int_equal(pmm_ctx_sums(&c->pub).bytes_in, 800);
	assert_int_equal(c->pub.class[1].calls[PMM_KIND_CALLOC], 1);
	assert_int_equal(c->pub.class[2].calls[PMM_KIND_NEW], 1);
	assert_int_equal(c->pub.class[0].calls[PMM_KIND_NEW], 1);
	assert_int_equal(c->pub.class[2].bytes_in, 700);
	assert_int_equal(agent_host_total(), 800);
	assert_int_equal(c->last_address, HEAP + 0x2000);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.site, 5);
	assert_int_equal(was.kind, PMM_KIND_CALLOC);
	assert_int_equal(block_thread(&was), 3);
}

/* Of small and of large blocks, whatever their site. */
static void whose_a_block_is_is_known(void **state)
{
	(void)state;
	for (uint32_t site = 1; site < 40; site++) {
		record_alloc_at(c, HEAP + site * 0x1000, site % 2 ? 40 : 4000, PMM_KIND_MALLOC,
				site);
		assert_true(block_get(HEAP + site * 0x1000, &was));
		assert_int_equal(was.site, site);
		assert_int_equal(block_thread(&was), 3);
	}
}

static void without_a_bound_nothing_is_huge(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 1 << 30, PMM_KIND_MALLOC, 1);
	record_failed_at(c, 1ull << 60, 1);
	assert_int_equal(record(1)->huge, 0);
}

static void a_release_takes_it_back(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 100, PMM_KIND_MALLOC, 5);
	record_alloc_at(c, HEAP + 0x1000, 300, PMM_KIND_MALLOC, 6);
	assert_true(record_free(c, HEAP, &was));
	assert_int_equal(was.size, 100);
	assert_false(was.temporary);			/* another event was in between */
	assert_int_equal(record(5)->bytes_out, 100);
	assert_int_equal(record(5)->frees, 1);
	assert_int_equal(record(5)->temporary, 0);
	assert_int_equal(record(6)->frees, 0);
	assert_int_equal(pmm_ctx_sums(&c->pub).frees, 1);
	assert_int_equal(pmm_ctx_sums(&c->pub).bytes_out, 100);
	assert_int_equal(c->pub.class[1].frees, 1);
	assert_int_equal(c->pub.class[1].bytes_out, 100);
	assert_int_equal(c->pub.class[2].frees, 0);
	assert_int_equal(c->pub.temporary, 0);
	assert_int_equal(c->last_address, 0);
	assert_int_equal(agent_host_total(), 300);
	assert_int_equal(released_after(5, 0), 1);
	assert_false(block_get(HEAP, &was));
	events_were(3);
}

static void what_is_released_next_is_temporary(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 100, PMM_KIND_MALLOC, 5);
	assert_true(record_free(c, HEAP, &was));
	assert_true(was.temporary);
	assert_int_equal(record(5)->temporary, 1);
	assert_int_equal(c->pub.temporary, 1);
	record_restore(c, HEAP, &was);			/* back as if nothing had been */
	assert_int_equal(record(5)->temporary, 0);
	assert_int_equal(c->pub.temporary, 0);
	assert_int_equal(record(5)->bytes_out, 0);
	assert_int_equal(record(5)->frees, 0);
	assert_int_equal(pmm_ctx_sums(&c->pub).frees, 0);
	assert_int_equal(pmm_ctx_sums(&c->pub).bytes_out, 0);
	assert_int_equal(c->pub.class[1].frees, 0);
	assert_int_equal(c->pub.class[1].bytes_out, 0);
	assert_int_equal(released_after(5, 0), 0);
	assert_int_equal(agent_host_total(), 100);
	assert_int_equal(agent_host_live(), 100);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.site, 5);
	events_were(3);
	record_alloc_at(c, HEAP + 0x1000, 1, PMM_KIND_MALLOC, 5);
	record_free_unknown(c);
	assert_true(record_free(c, HEAP + 0x1000, &was));
	assert_false(was.temporary);			/* an unknown one is an event, too */
}

static void classes_end_at_powers_of_four(void **state)
{
	static const struct { uint64_t last; unsigned class; } ends[] = {
		{ 16, 0 }, { 256, 1 }, { 1024, 2 }, { 4096, 3 }, { 16384, 4 }, { 65536, 5 },
	};

	(void)state;
	for (unsigned i = 0; i < NR(ends); i++) {
		record_failed_at(c, ends[i].last, 1);
		record_failed_at(c, ends[i].last + 1, 1);
	}
	record_failed_at(c, 0, 1);
	record_failed_at(c, 257, 1);
	record_failed_at(c, 1ull << 43, 1);
	assert_int_equal(c->pub.class[0].failed, 2);
	assert_int_equal(c->pub.class[1].failed, 2);
	assert_int_equal(c->pub.class[2].failed, 3);
	assert_int_equal(c->pub.class[3].failed, 2);
	assert_int_equal(c->pub.class[4].failed, 2);
	assert_int_equal(c->pub.class[5].failed, 2);
	assert_int_equal(c->pub.class[6].failed, 2);
	assert_int_equal(record(1)->failed, 15);
}

static void a_failure_is_no_block(void **state)
{
	struct pmm_record *r;

	(void)state;
	agent.warn_size = 1000;
	record_alloc_at(c, HEAP, 10, PMM_KIND_MALLOC, 5);
	record_failed_at(c, 1000, 5);
	record_failed_at(c, 999, 5);
	record_failed_at(c, 0, 5);
	r = record(5);
	assert_int_equal(r->failed, 3);
	assert_int_equal(r->huge, 1);
	assert_int_equal(r->zero_size, 1);
	assert_int_equal(r->max_bytes, 1000);
	assert_int_equal(r->allocs, 1);
	assert_int_equal(r->bytes_in, 10);
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 1);
	assert_int_equal(agent_host_total(), 10);
	assert_int_equal(c->last_address, HEAP);	/* what is freed now was asked for last */
	events_were(4);
}

static void unknown_releases_are_counted(void **state)
{
	(void)state;
	assert_false(record_free(c, HEAP, &was));
	assert_int_equal(c->pub.untracked_frees, 1);
	assert_false(record_free_pool(c, HEAP, &was));
	assert_int_equal(c->pub.untracked_frees, 1);
	agent.min_size = 1; /* now it may be one that was too small */
	assert_false(record_free(c, HEAP, &was));
	agent.min_size = 0;
	agent.sampled = true;				/* ... or not sampled */
	assert_false(record_free(c, HEAP, &was));
	assert_int_equal(c->pub.untracked_frees, 1);
	assert_int_equal(pmm_ctx_sums(&c->pub).frees, 0);
	events_were(4);
}

/* Addresses in the granule of a live block, where none begins. */
static void what_is_inside_a_block_is_unknown(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP + 8, 20, PMM_KIND_MALLOC, 1);
	for (uint64_t at = HEAP; at < HEAP + 32; at += 8) {
		if (at == HEAP + 8)
			continue;
		assert_false(record_free(c, at, &was));
		assert_int_equal(record_take_usual(c, at), RECORD_UNKNOWN);
	}
	/* of what is only taken the caller counts it */
	assert_int_equal(c->pub.untracked_frees, 3);
	assert_int_equal(agent_host_total(), 20);
	assert_int_equal(record_take_usual(c, HEAP + 8), 20);
	events_were(8);
}

static void pools_lie_inside_blocks(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 4000, PMM_KIND_MALLOC, 1);
	record_alloc_at(c, HEAP + 64, 100, PMM_KIND_OTHER, 2);
	record_alloc_at(c, HEAP, 50, PMM_KIND_OTHER, 3);
	assert_int_equal(agent_host_total(), 4150);
	assert_false(record_free(c, HEAP + 64, &was));
	assert_true(record_free_pool(c, HEAP, &was));
	assert_int_equal(was.site, 3);
	assert_int_equal(was.size, 50);
	record_restore(c, HEAP, &was);
	assert_int_equal(record(3)->frees, 0);
	assert_true(record_free_pool(c, HEAP, &was));
	assert_true(record_free_pool(c, HEAP + 64, &was));
	assert_true(record_free(c, HEAP, &was));
	assert_int_equal(was.site, 1);
	assert_int_equal(agent_host_total(), 0);
}

/* Their entry is the caller's affair. */
static void blocks_apart_are_in_no_table(void **state)
{
	struct block_info apart = { .size = 300, .site = 4, .birth = 990 };

	(void)state;
	record_alloc_apart(c, HEAP, 300, PMM_KIND_MALLOC, 4);
	assert_false(block_get(HEAP, &was));
	assert_int_equal(agent_host_total(), 300);
	assert_int_equal(c->pub.class[2].calls[PMM_KIND_MALLOC], 1);
	record_free_apart(c, HEAP, &apart);
	assert_int_equal(apart.lifetime, 4);		/* ten ticks: 8..15 */
	assert_true(apart.temporary);
	assert_int_equal(agent_host_total(), 0);
	assert_int_equal(record(4)->frees, 1);
	record_restore_apart(c, HEAP, &apart);
	assert_int_equal(agent_host_total(), 300);
	assert_int_equal(record(4)->frees, 0);
	assert_int_equal(released_after(4, 4), 0);
	events_were(3);
}

static void what_is_larger_than_a_word_holds_counts_for_that(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, UINT64_MAX, PMM_KIND_MALLOC, 1);
	assert_int_equal(record(1)->bytes_in, PMM_SIZE_MAX);
	assert_true(record_free(c, HEAP, &was));
	assert_int_equal(was.size, PMM_SIZE_MAX);
	assert_int_equal(agent_host_total(), 0);
}

static void another_name_for_a_block(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 100, PMM_KIND_ALIGNED_ALLOC, 1);
	record_rename(c, HEAP, PMM_KIND_NEW_ALIGNED);
	record_rename(c, HEAP + 0x1000, PMM_KIND_NEW_ALIGNED);	/* there is none */
	assert_int_equal(c->pub.class[1].calls[PMM_KIND_ALIGNED_ALLOC], 0);
	assert_int_equal(c->pub.class[1].calls[PMM_KIND_NEW_ALIGNED], 1);
	assert_int_equal(c->pub.class[0].calls[PMM_KIND_NEW_ALIGNED], 0);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.kind, PMM_KIND_NEW_ALIGNED);
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 1);
	events_were(3);
}

static void another_site_for_a_block(void **state)
{
	(void)state;
	record_alloc_at(c, HEAP, 100, PMM_KIND_MALLOC, 1);
	record_alloc_at(c, HEAP + 0x1000, 60, PMM_KIND_MALLOC, 2);
	tree()->tick = 1020;
	assert_true(record_move(c, HEAP, 2));
	assert_true(record_move(c, HEAP + 0x1000, 9));
	assert_false(record_move(c, HEAP + 0x2000, 2));
	assert_int_equal(record(1)->allocs, 0);
	assert_int_equal(record(1)->bytes_in, 0);
	assert_int_equal(record(2)->allocs, 1);
	assert_int_equal(record(2)->bytes_in, 100);
	assert_int_equal(record(2)->max_bytes, 100);
	assert_int_equal(record(2)->first_tick, 1000);
	assert_int_equal(record(2)->last_tick, 1020);
	assert_int_equal(record(9)->max_bytes, 60);
	assert_int_equal(record(9)->first_tick, 1020);
	assert_int_equal(agent_host_total(), 160);
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 2);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.site, 2);
	events_were(5);
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

static long third_second(int clock, int64_t *ts)
{
	(void)clock;
	ts[0] = 3;
	ts[1] = 0;
	return 0;
}

/* Nobody ticks: the kernel's clock says how old blocks are. */
static void without_a_monitor_time_goes_on(void **state)
{
	(void)state;
	tree()->tick = 7;
	record_alloc_at(c, HEAP, 1000, PMM_KIND_MALLOC, 1);
	agent.vdso_clock = (void *)third_second;
	agent.own_clock = true;
	assert_true(record_free(c, HEAP, &was));
	assert_int_equal(was.lifetime, 9);		/* 300 - 7 ticks */
	record_alloc_at(c, HEAP, 1000, PMM_KIND_MALLOC, 1);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.birth, 300);
}

static unsigned bucket_of(uint32_t born, uint32_t gone)
{
	tree()->tick = born;
	record_alloc_at(c, HEAP, 1000, PMM_KIND_MALLOC, 1);
	tree()->tick = gone;
	assert_true(record_free(c, HEAP, &was));
	return was.lifetime;
}

static void lifetimes_double(void **state)
{
	(void)state;
	assert_int_equal(bucket_of(7, 7), 0);
	for (unsigned k = 1; k < PMM_NR_LIFETIMES - 1; k++) {
		assert_int_equal(bucket_of(7, 7 + (1u << (k - 1))), k);
		assert_int_equal(bucket_of(7, 7 + (1u << k) - 1), k);
	}
	assert_int_equal(bucket_of(7, 7 + (1u << 22)), 23);
	assert_int_equal(bucket_of(7, 7 + (1u << 23)), 23);	/* and longer */
	assert_int_equal(bucket_of(7, 7 + (1u << 26)), 23);
	assert_int_equal(bucket_of(9, 7), 0);			/* clocks of two threads */
	assert_int_equal(released_after(1, 1), 2);
	assert_int_equal(released_after(1, 23), 3);
	assert_int_equal(released_after(1, 0), 2);
	assert_int_equal(record(1)->frees, 2 + 44 + 3);
}

static void nothing_is_kept_of_what_is_released_at_once(void **state)
{
	(void)state;
	assert_int_equal(bucket_of(7, 7), 0);
	assert_int_equal(bucket_of(8, 8), 0);
	assert_int_equal(record(1)->lifetimes, 0);
	assert_int_equal(released_after(1, 0), 2);
	assert_int_equal(bucket_of(8, 9), 1);
	assert_int_not_equal(record(1)->lifetimes, 0);
	assert_int_equal(released_after(1, 0), 2);
	assert_int_equal(released_after(1, 1), 1);
	record_restore(c, HEAP, &was);
	assert_int_equal(released_after(1, 0), 2);
	assert_int_equal(released_after(1, 1), 0);
}

/* With those of site 0: each block's life is counted once. */
static void lifetimes_without_room_are_counted_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(bucket_of(7, 7), 0);
	site_record_none(c, 0);
	agent.ledger->arena_end = agent.ledger->arena_used;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(bucket_of(7, 9), 2);
	record_restore(c, HEAP, &was);
	assert_int_equal(record(1)->lifetimes, 0);
	assert_int_equal(record(1)->frees, 3);
	assert_int_equal(released_after(1, 0), 1);
	assert_int_equal(all_released(1), 1);
	assert_int_equal(record(0)->frees, 0);
	assert_int_equal(released_after(0, 0), 0);
	assert_int_equal(released_after(0, 2), 2);
	assert_int_equal(all_released(0), 2);
}

/* From PMM_TIME_EXACT on a birth is known to 32 ticks, and the last of them counts. */
static void late_births_are_known_to_a_unit(void **state)
{
	const uint32_t late = PMM_TIME_EXACT + 64;

	(void)state;
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(bucket_of(late + i, late + 31), 0);
		assert_int_equal(bucket_of(late + i, late + 32), 1);
		assert_int_equal(bucket_of(late + i, late + 31 + 256), 9);
		assert_int_equal(bucket_of(late + i, late + 30 + 256), 8);
	}
}

/* Also where a word is just large enough for a size, or just too small, and the tick is new. */
static void each_block_has_its_own_birth(void **state)
{
	uint64_t at = HEAP;

	(void)state;
	for (uint32_t tick = 1000; tick < 1004; tick++) {
		tree()->tick = tick;
		for (uint64_t size = PMM_SIZE_SMALL + 1; size >= PMM_SIZE_SMALL - 1; size--) {
			record_alloc_at(c, at += 0x1000, size, PMM_KIND_MALLOC, 1);
			assert_true(block_get(at, &was));
			assert_int_equal(was.size, size);
			assert_int_equal(was.birth, tick);
		}
	}
	for (uint64_t i = 1; i <= 12; i++) {
		assert_true(record_free(c, HEAP + i * 0x1000, &was));
		assert_int_equal(was.birth, 1000 + (i - 1) / 3);
	}
}

/* As large as a stack may be, and where one is known: what is known of it is void then. */
static void only_large_blocks_may_have_been_stacks(void **state)
{
	(void)state;
	c->seen_lo = HEAP + 32760;
	c->seen_hi = HEAP + 32768;
	record_alloc_at(c, HEAP, 32767, PMM_KIND_MALLOC, 1);
	assert_int_equal(record_take_usual(c, HEAP), 32767);
	assert_int_equal(record_take_usual(c, HEAP), RECORD_UNKNOWN);
	assert_int_equal(c->pub.untracked_frees, 0);
	assert_int_equal(record(1)->bytes_out, 32767);
	agent.stack_gen = 7;
	hook_free(c, (void *)HEAP);
	assert_int_equal(c->pub.untracked_frees, 1);
	assert_int_equal(agent.stack_gen, 7);
	record_alloc_at(c, HEAP, 32767, PMM_KIND_MALLOC, 1);
	hook_free(c, (void *)HEAP);
	assert_int_equal(agent.stack_gen, 7);
	record_alloc_at(c, HEAP, 32768, PMM_KIND_MALLOC, 1);
	hook_free(c, (void *)HEAP);
	assert_int_equal(agent.stack_gen, 8);
	record_alloc_at(c, HEAP - 8, 32768, PMM_KIND_MALLOC, 1);
	hook_free(c, (void *)(HEAP - 8));
	assert_int_equal(agent.stack_gen, 8);
}

/* ---- no room --------------------------------------------------------------------------------- */

static void stacks_without_room_are_those_of_site_0(void **state)
{
	uint32_t site = 1;

	(void)state;
	end(NULL);
	begin_with(256 << 10);
	record_alloc_at(c, HEAP, 100, PMM_KIND_MALLOC, site);
	while (site_record(c, site + 1, 0))
		site++;
	record_alloc_at(c, HEAP + 0x1000, 30, PMM_KIND_MALLOC, site + 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	assert_int_equal(record(0)->bytes_in, 30);
	assert_int_equal(record(0)->allocs, 1);
	assert_int_equal(c->pub.class[1].calls[PMM_KIND_MALLOC], 2);
	assert_true(block_get(HEAP + 0x1000, &was));
	assert_int_equal(was.site, 0);				/* so that its release is found */
	assert_true(record_free(c, HEAP + 0x1000, &was));
	assert_int_equal(record(0)->bytes_out, 30);
	record_alloc_at(c, HEAP + 0x1000, 31, PMM_KIND_MALLOC, 0);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_SITE_FULL], 2);	/* its stack had no room */
	assert_int_equal(record(0)->bytes_in, 61);
	record_failed_at(c, 5, site + 1);
	assert_int_equal(record(0)->failed, 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_SITE_FULL], 3);
	record_failed_at(c, 5, 0);
	assert_int_equal(record(0)->failed, 2);
	/* was counted when there was no number for it */
	assert_int_equal(agent.ledger->dropped[PMM_DROP_SITE_FULL], 3);
	assert_true(record_move(c, HEAP, site + 1));
	assert_int_equal(agent.ledger->dropped[PMM_DROP_SITE_FULL], 4);
	assert_int_equal(record(0)->bytes_in, 161);
	assert_int_equal(record(1)->bytes_in, 0);
	assert_true(block_get(HEAP, &was));
	assert_int_equal(was.site, 0);
	assert_int_equal(agent_host_total(), 131);
	assert_int_equal(agent_host_live(), 131);
}

/* A block that no table has room for is in no sum. */
static void blocks_without_room_are_none(void **state)
{
	(void)state;
	record_alloc_at(c, 1ull << 60, 100, PMM_KIND_MALLOC, 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_ADDRESS], 1);
	assert_null(record(1));
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 0);
	assert_int_equal(agent_host_total(), 0);
	events_were(1);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void a_sample_stands_for_many(void **state)
{
	const uint64_t blocks = sample_weight(1000, HEAP), bytes = sample_bytes(1000);

	(void)state;
	agent.sampled = true;
	/* a thousandth of half a MiB, and a little more */
	assert_true(blocks > 400 && bytes > 400000);
	record_alloc_at(c, HEAP, 1000, PMM_KIND_MALLOC, 1);
	assert_int_equal(record(1)->allocs, blocks);
	assert_int_equal(record(1)->bytes_in, bytes);
	assert_int_equal(record(1)->samples_in, 1);
	assert_int_equal(record(1)->max_bytes, 1000);
	assert_int_equal(c->pub.class[2].calls[PMM_KIND_MALLOC], blocks);
	assert_int_equal(*sample_filter(HEAP), 1);
	assert_true(record_move(c, HEAP, 2));
	assert_int_equal(record(1)->allocs, 0);
	assert_int_equal(record(2)->bytes_in, bytes);
	record_rename(c, HEAP, PMM_KIND_CALLOC);
	assert_int_equal(c->pub.class[2].calls[PMM_KIND_CALLOC], blocks);
	assert_int_equal(c->pub.class[2].calls[PMM_KIND_MALLOC], 0);
	assert_true(record_free(c, HEAP, &was));
	assert_int_equal(record(2)->frees, blocks);
	assert_int_equal(record(2)->bytes_out, bytes);
	assert_int_equal(record(2)->samples_out, 1);
	assert_int_equal(released_after(2, 0), blocks);
	assert_int_equal(*sample_filter(HEAP), 0);
	record_restore(c, HEAP, &was);
	assert_int_equal(record(2)->samples_out, 0);
	assert_int_equal(record(2)->frees, 0);
	assert_int_equal(*sample_filter(HEAP), 1);
}

/* The filter never forgets a page that has a sample: at 255 it stays. */
static void crowded_pages_stay(void **state)
{
	(void)state;
	agent.sampled = true;
	for (unsigned i = 0; i < 300; i++) {
		record_alloc_apart(c, HEAP, 8, PMM_KIND_MALLOC, 1);
		assert_int_equal(*sample_filter(HEAP), i < 255 ? i + 1 : 255);
	}
	was = (struct block_info){ .size = 8, .site = 1, .birth = 1000 };
	for (unsigned i = 0; i < 300; i++)
		record_free_apart(c, HEAP, &was);
	assert_int_equal(*sample_filter(HEAP), 255);
	*sample_filter(HEAP) = 1;
	record_free_apart(c, HEAP, &was);
	record_free_apart(c, HEAP, &was);			/* none is there: not below 0 */
	assert_int_equal(*sample_filter(HEAP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_allocation_counts_everywhere),
		TEST(whose_a_block_is_is_known),
		TEST(without_a_bound_nothing_is_huge),
		TEST(a_release_takes_it_back),
		TEST(what_is_released_next_is_temporary),
		TEST(classes_end_at_powers_of_four),
		TEST(a_failure_is_no_block),
		TEST(unknown_releases_are_counted),
		TEST(what_is_inside_a_block_is_unknown),
		TEST(pools_lie_inside_blocks),
		TEST(blocks_apart_are_in_no_table),
		TEST(what_is_larger_than_a_word_holds_counts_for_that),
		TEST(another_name_for_a_block),
		TEST(another_site_for_a_block),
		TEST(without_a_monitor_time_goes_on),
		TEST(lifetimes_double),
		TEST(nothing_is_kept_of_what_is_released_at_once),
		TEST(lifetimes_without_room_are_counted_elsewhere),
		TEST(late_births_are_known_to_a_unit),
		TEST(each_block_has_its_own_birth),
		TEST(only_large_blocks_may_have_been_stacks),
		TEST(stacks_without_room_are_those_of_site_0),
		TEST(blocks_without_room_are_none),
		TEST(a_sample_stands_for_many),
		TEST(crowded_pages_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
