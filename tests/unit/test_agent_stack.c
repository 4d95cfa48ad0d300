/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/agent_stack.c: which pages of a stack are known to be readable, on pages made for it;
 * frames of signal handlers.
 */
#include "tests/unit/agent_host.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "agent/agent_stack.h"

#define PAGES	8
#define PAGE	4096ull

/* of PAGES readable ones; before and after them there is nothing */
static uint64_t base;
static struct tctx *c;

static int begin(void **state)
{
	char *p = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	agent_host_init(16 << 20);
	c = agent_host_ctx();
	base = (uint64_t)p + PAGE;
	return mprotect(p + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE);
}

static int end(void **state)
{
	(void)state;
	munmap((void *)(base - PAGE), (PAGES + 2) * PAGE);
	agent_host_fini();
	return 0;
}

static void words_above_the_known_part(void **state)
{
	(void)state;
	c->stack_lo = base;
	c->stack_hi = base + PAGE;
	assert_true(stack_readable_slow(c, base + PAGE));
	assert_int_equal(c->stack_hi, base + 2 * PAGE);
	assert_true(stack_readable_slow(c, base + 4 * PAGE + 8));
	assert_int_equal(c->stack_hi, base + 5 * PAGE);
	assert_false(stack_readable_slow(c, base + 4 * PAGE + 4));	/* no word begins there */
	assert_false(stack_readable_slow(c, 1ull << 47));
	assert_false(stack_readable_slow(c, base + PAGES * PAGE));
	assert_int_equal(c->stack_hi, base + PAGES * PAGE);
	/* below: asked for by itself */
	assert_false(stack_readable_slow(c, base - 8));
	assert_true(stack_readable_slow(c, base + 8));
	assert_int_equal(c->stack_lo, base);
}

/* Too far away to be the same stack: it is asked for, and nothing is learned. */
static void words_far_above(void **state)
{
	uint64_t low = base - (8ull << 20);

	(void)state;
	c->stack_lo = low - PAGE;
	c->stack_hi = low;
	assert_true(stack_readable_slow(c, base));
	assert_int_equal(c->stack_hi, low);
	c->stack_hi = base - (4ull << 20);
	assert_true(stack_readable_slow(c, base));
	assert_int_equal(c->stack_hi, base - (4ull << 20));
}

static void nothing_is_asked_where_it_is_forbidden(void **state)
{
	(void)state;
	agent.no_asking = true;
	c->stack_lo = base;
	c->stack_hi = base + PAGE;
	assert_false(stack_readable_slow(c, base + PAGE));
	assert_int_equal(c->stack_hi, base + PAGE);
	/* the page that the stack pointer is in is believed */
	stack_new(c, base + 2 * PAGE);
	assert_int_equal(c->stack_hi, base + 3 * PAGE);
	agent.no_asking = false;
	agent.valgrind = true;
	assert_true(stack_readable_slow(c, base + PAGE));
	assert_false(stack_readable_slow(c, base + PAGES * PAGE));
}

static void the_stack_grows_downwards(void **state)
{
	(void)state;
	c->stack_lo = base + 4 * PAGE;
	c->stack_hi = base + 6 * PAGE;
	/* all pages in between are there: the same stack */
	stack_new(c, base + PAGE);
	assert_int_equal(c->stack_lo, base + PAGE);
	assert_int_equal(c->stack_hi, base + 6 * PAGE);
	mprotect((void *)(base + 3 * PAGE), PAGE, PROT_NONE);
	c->stack_lo = base + 5 * PAGE;
	stack_new(c, base + PAGE);				/* a hole: another stack */
	assert_int_equal(c->stack_lo, base + PAGE);
	assert_int_equal(c->stack_hi, base + 2 * PAGE);
}

static void another_stack(void **state)
{
	(void)state;
	c->stack_lo = base;
	c->stack_hi = base + PAGE;
	stack_new(c, base + 3 * PAGE);				/* above */
	assert_int_equal(c->stack_lo, base + 3 * PAGE);
	assert_int_equal(c->stack_hi, base + 4 * PAGE);
	c->stack_lo = base + (2ull << 20);			/* too far away */
	c->stack_hi = c->stack_lo + PAGE;
	stack_new(c, base + 3 * PAGE);
	assert_int_equal(c->stack_lo, base + 3 * PAGE);
	assert_int_equal(c->stack_hi, base + 4 * PAGE);
	/* a page that is not there: where a fault has interrupted */
	stack_new(c, base - PAGE);
	assert_int_equal(c->stack_lo, base - PAGE);
	assert_int_equal(c->stack_hi, base - PAGE);
	c->stack_lo = base + 5 * PAGE;
	c->stack_hi = base + 6 * PAGE;
	stack_new(c, base + PAGES * PAGE);
	assert_int_equal(c->stack_lo, base + PAGES * PAGE);
	assert_int_equal(c->stack_hi, base + PAGES * PAGE);
}

static void all_that_is_above_is_learned(void **state)
{
	(void)state;
	c->stack_lo = base;
	c->stack_hi = base + PAGE;
	stack_learn(c);
	assert_int_equal(c->stack_hi, base + PAGES * PAGE);
	stack_learn(c);
	assert_int_equal(c->stack_hi, base + PAGES * PAGE);
}

static bool known_at(uint64_t offset)
{
	return stack_known_in(base + offset, 1);
}

/* Where words are that a context knows, on whichever stack, and nowhere else. */
static void memory_that_goes_may_have_been_a_stack(void **state)
{
	struct tctx *other = agent_host_ctx();

	(void)state;
	assert_false(stack_known_in(0, UINT64_MAX));
	stack_note(c, base + 3 * PAGE);			/* the word below is on the third page */
	assert_false(known_at(2 * PAGE - 1));
	assert_true(known_at(2 * PAGE) && known_at(3 * PAGE - 1));
	assert_false(known_at(3 * PAGE));
	assert_false(stack_known_in(base, 2 * PAGE));
	assert_true(stack_known_in(base, 2 * PAGE + 1));
	assert_true(stack_readable(c, base + 4 * PAGE));	/* further up */
	assert_true(known_at(5 * PAGE - 1));
	assert_false(known_at(5 * PAGE));
	assert_true(stack_readable(c, base + 8));		/* a word by itself */
	assert_true(known_at(8) && known_at(PAGE));
	assert_false(known_at(7));
	assert_false(stack_readable(c, base - 8));
	assert_false(known_at(7));
	mprotect((void *)(base + 5 * PAGE), PAGE, PROT_NONE);
	assert_true(stack_readable(c, base + 6 * PAGE));	/* beyond one that has run over */
	assert_true(known_at(6 * PAGE + 7));
	assert_false(known_at(6 * PAGE + 8));
	stack_note(other, base + 8 * PAGE);
	assert_true(known_at(8 * PAGE - 1));
	assert_false(known_at(8 * PAGE));
	stack_goes(base + 8 * PAGE, PAGE);
	assert_int_equal(agent.stack_gen, 0);
	stack_goes(base + 7 * PAGE, PAGE);
	assert_int_equal(agent.stack_gen, 1);
	/* more contexts than are looked at */
	while (agent.ledger->nr_ctx < 256)
		agent_host_ctx();
	assert_false(known_at(8 * PAGE));
	agent_host_ctx();
	assert_true(known_at(8 * PAGE));
}

static void what_is_learned_may_go(void **state)
{
	(void)state;
	c->stack_lo = base;
	c->stack_hi = base + PAGE;
	stack_learn(c);
	assert_true(known_at(0) && known_at(PAGES * PAGE - 1));
}

/* 16 MiB are enough. */
static void no_more_than_most(void **state)
{
	char *p = mmap(NULL, 20 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);

	(void)state;
	c->stack_hi = (uint64_t)p + PAGE;
	stack_learn(c);
	assert_int_equal(c->stack_hi, (uint64_t)p + PAGE + (16 << 20));
	munmap(p, 20 << 20);
}

static void frames_of_handlers(void **state)
{
	struct stack_at at = { .sp = base + 3 * PAGE };
	char *frame = (char *)at.sp;

	(void)state;
	c->stack_lo = base + 3 * PAGE;
	c->stack_hi = base + 4 * PAGE;
	memcpy(frame + ARCH_SIGFRAME_PC, &(uint64_t){ 0x1111 }, 8);
	memcpy(frame + ARCH_SIGFRAME_SP, &(uint64_t){ 0x2222 }, 8);
	memcpy(frame + ARCH_SIGFRAME_FP, &(uint64_t){ 0x3333 }, 8);
	assert_int_equal(stack_step_signal(c, &at), STEP_ON);
	assert_int_equal(at.pc, 0x1111);
	assert_int_equal(at.sp, 0x2222);
	assert_int_equal(at.fp, 0x3333);
	memset(frame + ARCH_SIGFRAME_PC, 0, 8);
	at.sp = base + 3 * PAGE;
	assert_int_equal(stack_step_signal(c, &at), STEP_END);
	at.sp = base + PAGES * PAGE - ARCH_SIGFRAME_PC;	/* the rest of it is not there */
	assert_int_equal(stack_step_signal(c, &at), STEP_UNKNOWN);
	assert_int_equal(at.sp, base + PAGES * PAGE - ARCH_SIGFRAME_PC);
	at.sp = base + PAGES * PAGE - ARCH_SIGFRAME_FP;
	assert_int_equal(stack_step_signal(c, &at), STEP_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words_above_the_known_part, begin, end),
		cmocka_unit_test_setup_teardown(words_far_above, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_asked_where_it_is_forbidden, begin, end),
		cmocka_unit_test_setup_teardown(the_stack_grows_downwards, begin, end),
		cmocka_unit_test_setup_teardown(another_stack, begin, end),
		cmocka_unit_test_setup_teardown(all_that_is_above_is_learned, begin, end),
		cmocka_unit_test_setup_teardown(memory_that_goes_may_have_been_a_stack, begin, end),
		cmocka_unit_test_setup_teardown(what_is_learned_may_go, begin, end),
		cmocka_unit_test_setup_teardown(no_more_than_most, begin, end),
		cmocka_unit_test_setup_teardown(frames_of_handlers, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
