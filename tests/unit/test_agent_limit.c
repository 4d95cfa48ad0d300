/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/limit.c: the limit on address space makes room for a ledger and stays the program's. */
#include "tests/unit/segment_board.h"

#include <sys/syscall.h>

#include "agent/limit.h"

#define LIMIT	(8ul << 30)

static uint32_t alive = 1;

static uint64_t limit_now(void)
{
	struct limit l = { 0, 0 };

	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	return l.now;
}

static void limit_is(uint64_t now, uint64_t most)
{
	MUST(!sys4(prlimit, 0, RLIMIT_AS, &((struct limit){ now, most }), 0));
}

/* Hard limits are not to be raised from now on. */
static void no_right_to_more(void)
{
	struct { uint32_t version; int pid; } head = { 0x20080522, 0 };
	struct { uint32_t effective, permitted, inheritable; } sets[2];

	MUST(!syscall(SYS_capget, &head, sets));
	sets[0].effective &= ~(1u << 24);	/* CAP_SYS_RESOURCE */
	MUST(!syscall(SYS_capset, &head, sets));
}

static struct limit both_now(void)
{
	struct limit l = { 0, 0 };

	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	return l;
}

static void a_hard_limit_is_raised_where_it_may_be(void)
{
	struct limit l;

	limit_is(LIMIT, LIMIT);
	agent.alive = &alive;
	if (sys4(prlimit, 0, RLIMIT_AS, &((struct limit){ LIMIT, LIMIT + 1 }), 0))
		return;		/* not by this user */
	limit_is(LIMIT, LIMIT);
	MUST(segment_claim(true) == 0);
	l = both_now();
	MUST(l.now == LIMIT + FILE_BYTES && l.most == LIMIT + FILE_BYTES);
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED);
	MUST(limit_room(1 << 20));
	l = both_now();
	MUST(l.now == LIMIT + FILE_BYTES + (1 << 20) && l.most == l.now);
	segment_unmap();
	l = both_now();
	MUST(l.now == LIMIT && l.most == LIMIT && !agent.limit_most_raised);
	limit_is(LIMIT, LIMIT + 2 * FILE_BYTES);	/* not only where it must be */
	MUST(segment_claim(true) == 0);
	l = both_now();
	MUST(l.now == LIMIT + FILE_BYTES && l.most == LIMIT + 3 * FILE_BYTES);
	no_right_to_more();				/* gone meanwhile: a pool gets none */
	MUST(!limit_room(1 << 20));
	segment_unmap();
	l = both_now();
	MUST(l.now == LIMIT && l.most == LIMIT + 2 * FILE_BYTES);
}

static void the_program_keeps_what_it_had(void)
{
	limit_is(LIMIT, UINT64_MAX);
	MUST(limit_of(RLIMIT_AS) == LIMIT);
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT + FILE_BYTES);
	MUST(agent.limit_shifted && agent.limit_raised_bytes == FILE_BYTES &&
	     agent.reserved_bytes == FILE_BYTES);
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED);
	segment_unmap();
	MUST(limit_now() == LIMIT);
	MUST(!agent.limit_shifted && !agent.limit_raised_bytes);
	MUST(segment_map(-1, 1ul << 60) == -1);	/* and when it was not mapped after all */
	MUST(limit_now() == LIMIT);
}

static void a_hard_limit_is_left_alone(void)
{
	limit_is(LIMIT, LIMIT + FILE_BYTES - 1);
	no_right_to_more();
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT);
	MUST(!agent.limit_shifted && !agent.limit_raised_bytes);
	MUST(agent.slot->limit_raised == PMM_LIMIT_TAKEN);
	segment_unmap();
	MUST(limit_now() == LIMIT);
}

static void a_hard_limit_may_just_be_reached(void)
{
	limit_is(LIMIT, LIMIT + FILE_BYTES);
	no_right_to_more();
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT + FILE_BYTES);
}

static void no_limit_is_none_to_raise(void)
{
	limit_is(UINT64_MAX, UINT64_MAX);
	agent_host_form.inherited = PMM_LIMIT_RAISED_POOL;
	MUST(segment_claim(true) == 0);
	MUST(limit_of(RLIMIT_AS) == UINT64_MAX);
	MUST(!agent.limit_shifted && !agent.limit_has_pool && !agent.limit_raised_bytes);
}

static void programs_with_the_agent_in_them_see_no_change(void)
{
	agent.compiled_in = true;
	limit_is(LIMIT, UINT64_MAX);
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT && !agent.limit_shifted);
}

static void what_exec_kept_is_not_raised_again(void)
{
	agent_host_form.inherited = PMM_LIMIT_RAISED;
	limit_is(LIMIT, UINT64_MAX);
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT);
	MUST(agent.limit_shifted && !agent.limit_has_pool && !agent.limit_raised_bytes);
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED);
	segment_unmap();
	MUST(limit_now() == LIMIT);			/* it is not ours to take back */
}

static void a_pool_is_room_more(void)
{
	limit_is(LIMIT, UINT64_MAX);
	agent.alive = &alive;
	MUST(segment_claim(true) == 0);
	MUST(limit_room(1 << 20));
	MUST(agent.pool_bytes == 1 << 20);
	MUST(limit_now() == LIMIT + FILE_BYTES + (1 << 20));
	MUST(agent.limit_raised_bytes == FILE_BYTES + (1 << 20));
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED_POOL);
	segment_unmap();
	MUST(limit_now() == LIMIT);
	limit_is(LIMIT, LIMIT + FILE_BYTES + 99);	/* none for the pool */
	no_right_to_more();
	agent.pool_bytes = 0;
	MUST(segment_claim(true) == 0);
	MUST(limit_now() == LIMIT + FILE_BYTES);
	MUST(!limit_room(100));
	MUST(agent.pool_bytes == 0);
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED);
	MUST(limit_room(99));
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED_POOL);
}

static void a_pool_before_exec_is_room_enough(void)
{
	agent_host_form.inherited = PMM_LIMIT_RAISED_POOL;
	limit_is(LIMIT, UINT64_MAX);
	agent.alive = &alive;
	MUST(segment_claim(true) == 0);
	MUST(agent.limit_shifted && agent.limit_has_pool);
	MUST(agent.slot->limit_raised == PMM_LIMIT_RAISED_POOL);
	MUST(limit_room(1 << 20));
	MUST(limit_now() == LIMIT);
	MUST(agent.pool_bytes == 1 << 20);
}

/*
 * A limit that was not raised for the ledger is not raised for the pool: it is the program's, which
 * can ask what it is.
 */
static void a_limit_as_it_was_stays_so(void)
{
	limit_is(LIMIT, LIMIT + (1 << 20));
	no_right_to_more();
	agent.alive = &alive;
	MUST(segment_claim(true) == 0);
	MUST(!limit_room(1 << 20));
	MUST(limit_now() == LIMIT);
	MUST(agent.slot->limit_raised == PMM_LIMIT_TAKEN);
}

/* Before its first event a child's slot is its parent's, and not there. */
static void a_slot_of_others_is_not_written(void)
{
	uint32_t not_yet = 0;

	agent.alive = &not_yet;
	agent.slot = (struct pmm_slot *)8;
	limit_note();
	agent.alive = NULL;
	limit_note();
	agent.alive = &alive;
	agent.slot = NULL;
	limit_note();
}

#define CHILD_TEST(f) static void test_##f(void **state) { (void)state; in_child(f); }
CHILD_TEST(the_program_keeps_what_it_had)
CHILD_TEST(a_hard_limit_is_raised_where_it_may_be)
CHILD_TEST(a_hard_limit_is_left_alone)
CHILD_TEST(a_hard_limit_may_just_be_reached)
CHILD_TEST(no_limit_is_none_to_raise)
CHILD_TEST(programs_with_the_agent_in_them_see_no_change)
CHILD_TEST(what_exec_kept_is_not_raised_again)
CHILD_TEST(a_pool_is_room_more)
CHILD_TEST(a_pool_before_exec_is_room_enough)
CHILD_TEST(a_limit_as_it_was_stays_so)
CHILD_TEST(a_slot_of_others_is_not_written)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_program_keeps_what_it_had),
		TEST(test_a_hard_limit_is_raised_where_it_may_be),
		TEST(test_a_hard_limit_is_left_alone),
		TEST(test_a_hard_limit_may_just_be_reached),
		TEST(test_no_limit_is_none_to_raise),
		TEST(test_programs_with_the_agent_in_them_see_no_change),
		TEST(test_what_exec_kept_is_not_raised_again),
		TEST(test_a_pool_is_room_more),
		TEST(test_a_pool_before_exec_is_room_enough),
		TEST(test_a_limit_as_it_was_stays_so),
		TEST(test_a_slot_of_others_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
