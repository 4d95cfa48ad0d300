/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/record.h, hook.h, hook.c: the usual event where it meets a block that was freed past the
 * hooks, and malloc() on behalf of an operator new that asks again.
 */
#include "agent/hook.h"

#include "tests/unit/record_host.h"

#include "agent/unwind/rule.h"

#define PC	0x401000ull

static uint64_t frames[64];
static void *answer;			/* of the real malloc() */

static void *real_malloc(size_t size)
{
	(void)size;
	return answer;
}

/* So many words up the stack, in its outermost function. */
static struct caller called_from(unsigned words)
{
	const uint64_t module = 7;

	agent.rules->far[PC * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
		(struct rule_entry){ CFI_END ^ (PC | module << 48), CFI_END };
	*rule_near_entry(rule_mix(PC)) = 0;
	return (struct caller){ .ra = PC + 1, .sp = (uint64_t)&frames[words] };
}

static void ask(void *gets, uint32_t kind, unsigned words)
{
	struct caller from = called_from(words);

	answer = gets;
	assert_ptr_equal(hook_malloc(c, real_malloc, 10, kind, &from), gets);
}

static uint64_t failed(void)
{
	return c->pub.class[0].failed;
}

static void released_were(uint32_t site, uint64_t frees, uint64_t bytes)
{
	assert_int_equal(record(site)->frees, frees);
	assert_int_equal(record(site)->bytes_out, bytes);
}

static void the_block_in_the_same_place_is_gone(void **state)
{
	(void)state;
	usual_alloc(HEAP, 100, 1);
	usual_alloc(HEAP, 50, 2);
	released_were(1, 1, 100);
	assert_int_equal(c->pub.class[1].displaced, 1);
	assert_int_equal(agent_host_total(), 50);
	assert_int_equal(record_take_usual(c, HEAP), 50);
	assert_int_equal(c->pub.untracked_frees, 0);
	events_were(3);
}

/* A block of more than 56 bytes has the word of its second granule as well. */
static void the_large_block_that_reaches_there_is_gone(void **state)
{
	(void)state;
	usual_alloc(HEAP, 57, 1);
	usual_alloc(HEAP + 32, 20, 2);
	released_were(1, 1, 57);
	assert_int_equal(agent_host_total(), 20);
	usual_alloc(HEAP + 64, 56, 1);
	usual_alloc(HEAP + 96, 20, 2);
	released_were(1, 1, 57);
	assert_int_equal(agent_host_total(), 96);
}

static void the_block_that_a_large_one_reaches_is_gone(void **state)
{
	(void)state;
	usual_alloc(HEAP + 32, 20, 1);
	usual_alloc(HEAP, 56, 2);
	assert_int_equal(agent_host_total(), 76);
	assert_int_equal(record_take_usual(c, HEAP), 56);
	usual_alloc(HEAP, 57, 2);
	released_were(1, 1, 20);
	assert_int_equal(agent_host_total(), 57);
	assert_int_equal(c->pub.class[1].displaced, 1);
}

static uint64_t displaced(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PMM_NR_CLASSES; i++)
		sum += c->pub.class[i].displaced;
	return sum;
}

/* With an allocator whose blocks share granules: who shares no byte is a neighbour. */
static void neighbours_stay(void **state)
{
	(void)state;
	agent.dense = true;
	usual_alloc(HEAP + 32, 8, 1);
	usual_alloc(HEAP + 40, 0, 2);
	usual_alloc(HEAP + 48, 16, 3);
	usual_alloc(HEAP + 24, 8, 4);
	usual_alloc(HEAP, 24, 5);
	usual_alloc(HEAP + 64, 24, 6);
	usual_alloc(HEAP + 88, 1000, 7);
	assert_int_equal(displaced(), 0);
	assert_int_equal(agent_host_total(), 1080);
	assert_int_equal(record_take_usual(c, HEAP + 48), 16);
	assert_int_equal(record_take_usual(c, HEAP + 24), 8);
	assert_int_equal(record_take_usual(c, HEAP + 40), 0);
	assert_int_equal(record_take_usual(c, HEAP + 32), 8);
	assert_int_equal(record_take_usual(c, HEAP + 88), 1000);
	assert_int_equal(record_take_usual(c, HEAP), 24);
	assert_int_equal(record_take_usual(c, HEAP + 64), 24);
	assert_int_equal(agent_host_total(), 0);
	events_were(14);
}

/* ... and who shares one is gone. */
static void who_overlaps_is_gone(void **state)
{
	(void)state;
	agent.dense = true;
	usual_alloc(HEAP, 100, 1);
	usual_alloc(HEAP, 57, 2);			/* in the same place */
	released_were(1, 1, 100);
	usual_alloc(HEAP + 40, 8, 3);			/* within it */
	released_were(2, 1, 57);
	usual_alloc(HEAP + 48, 16, 4);			/* beside that */
	usual_alloc(HEAP + 16, 64, 5);			/* over it */
	released_were(3, 1, 8);
	assert_int_equal(record_take_usual(c, HEAP + 16), 64);
	usual_alloc(HEAP + 72, 8, 6);
	usual_alloc(HEAP + 64, 9, 7);			/* over that by its last byte */
	released_were(6, 1, 8);
	usual_alloc(HEAP + 72, 0, 8);			/* at its last byte */
	released_were(7, 1, 9);
	usual_alloc(HEAP + 72, 8, 9);			/* a block of no bytes has an address */
	assert_int_equal(record(8)->frees, 1);
	usual_alloc(HEAP + 72, 0, 1);
	assert_int_equal(record(9)->frees, 1);
	assert_int_equal(displaced(), 7);
	/* all but that which had a neighbour, as it is in the other table */
	assert_int_equal(agent_host_total(), 16);
}

/* operator new calls its handler and malloc() again, from the same frame or from further in. */
static void a_request_made_again_has_failed_once(void **state)
{
	(void)state;
	ask(NULL, PMM_KIND_NEW, 30);
	assert_int_equal(failed(), 1);
	ask(NULL, PMM_KIND_MALLOC, 20);
	assert_int_equal(failed(), 1);
	ask((void *)HEAP, PMM_KIND_MALLOC, 20);		/* what the handler does */
	ask(NULL, PMM_KIND_MALLOC, 20);
	assert_int_equal(failed(), 1);
	ask((void *)(HEAP + 64), PMM_KIND_NEW, 30);	/* it got it */
	ask(NULL, PMM_KIND_MALLOC, 20);
	assert_int_equal(failed(), 2);
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 2);
	assert_int_equal(agent_host_total(), 20);
}

static void move(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t bytes)
{
	struct caller caller = called_from(30);

	c->seen_lo = HEAP + 4088;
	c->seen_hi = HEAP + 4096;
	hook_remapped(c, (void *)from, from_bytes, (void *)to, bytes, &caller);
}

/* The kernel unmaps whole pages, and what is moved somewhere takes the place of what was there. */
static void mappings_that_go_may_have_been_stacks(void **state)
{
	(void)state;
	c->seen_lo = HEAP + 4088;
	c->seen_hi = HEAP + 4096;
	agent.stack_gen = 7;
	hook_unmapping(c, (void *)HEAP, 4096);
	assert_int_equal(agent.stack_gen, 8);
	hook_unmapping(c, (void *)HEAP, 1);
	assert_int_equal(agent.stack_gen, 9);
	hook_unmapping(c, (void *)(HEAP + 4096), 4096);
	hook_unmapping(c, (void *)(HEAP - 4096), 4096);
	assert_int_equal(agent.stack_gen, 9);
	/* by mremap: from there, to there, past it, and in the same place */
	move(HEAP + 8, 1, HEAP + (1 << 20), 1);
	assert_int_equal(agent.stack_gen, 10);
	move(HEAP + (1 << 20), 1, HEAP, 1);
	assert_int_equal(agent.stack_gen, 11);
	move(HEAP + (1 << 20), 1, HEAP + 4096, 1);
	assert_int_equal(agent.stack_gen, 11);
	move(HEAP - 4096, 4096, HEAP - 4096, 8192);
	assert_int_equal(agent.stack_gen, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_block_in_the_same_place_is_gone),
		TEST(the_large_block_that_reaches_there_is_gone),
		TEST(the_block_that_a_large_one_reaches_is_gone),
		TEST(neighbours_stay),
		TEST(who_overlaps_is_gone),
		TEST(a_request_made_again_has_failed_once),
		TEST(mappings_that_go_may_have_been_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
