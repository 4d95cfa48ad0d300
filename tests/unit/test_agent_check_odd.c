/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/release.c, resize.c, check_plain.c, quarantine_check.c: two threads at once, no
 * context, a process that is not set up yet, harmless damage.
 */
#include "tests/unit/agent_check_host.h"

#include "tests/unit/unit.h"

#include "agent/check/canary.h"

/* Two threads found the block live: one of them has it. */
static void released_at_once(void **state)
{
	static const struct check_said said = { PMM_RELEASE_FREE, SIZE_MAX, 0 };
	struct held one = { .known = true }, other = { .known = true };
	char *p = get(50, PMM_KIND_MALLOC, 0);

	(void)state;
	assert_true(block_get((uint64_t)p, &one.was));
	other.was = one.was;
	held_find(p, &one);
	held_find(p, &other);
	held_release(ctx, p, &one, &said, 1);
	assert_int_equal(nr_findings(), 0);
	held_release(ctx, p, &other, &said, 1);
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(agent_host_live(), 0);
}

/*
 * Both took the block out of the tables before one of them was the first to have it: it counts
 * once.
 */
static void counted_once(void **state)
{
	static const struct check_said said = { PMM_RELEASE_FREE, SIZE_MAX, 0 };
	struct held one = { .known = true }, other;
	char *p = get(50, PMM_KIND_MALLOC, 0);

	(void)state;
	get(70, PMM_KIND_MALLOC, 0);
	assert_true(block_get((uint64_t)p, &one.was));
	held_find(p, &one);
	other = one;
	held_uncount(ctx, p, &one);
	record_restore(ctx, (uint64_t)p, &one.was);
	held_uncount(ctx, p, &other);
	record_free_apart(ctx, (uint64_t)p, &one.was);
	assert_int_equal(agent_host_live(), 20);
	held_release(ctx, p, &one, &said, 1);
	held_release(ctx, p, &other, &said, 1);
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(agent_host_live(), 70);
	assert_int_equal(agent_host_total(), 70);
}

/* Of what canary_take() stores one is seen without the other: not damage. */
static void taken_halfway(void **state)
{
	char *p = get(50, PMM_KIND_MALLOC, 0);
	struct pmm_head *head = (struct pmm_head *)p - 1, was = *head;
	struct held h = { .known = true };
	size_t size, align;

	(void)state;
	assert_true(block_get((uint64_t)p, &h.was));
	head->what |= PMM_HEAD_FREED;
	held_find(p, &h);
	assert_int_equal(h.as, HELD_NONE);
	assert_int_equal(canary_look(p, &size, &align), CANARY_FREED);
	assert_int_equal(size, 50);
	*head = was;
	head->what ^= 1;			/* that is */
	held_find(p, &h);
	assert_int_equal(h.as, HELD_HEADLESS);
	head->what |= PMM_HEAD_FREED;
	assert_int_equal(canary_look(p, &size, &align), CANARY_NOTHING);
}

/*
 * A thread without a context: its blocks go back, and the tables do not say that there is one any
 * more.
 */
static void no_context(void **state)
{
	char *p = get(50, PMM_KIND_MALLOC, 0), *q = get(60, PMM_KIND_MALLOC, 0),
	     *kept = get(70, PMM_KIND_MALLOC, 0);
	struct block_info was;
	size_t size;

	(void)state;
	check_free_plain(p);
	assert_false(block_get((uint64_t)p, &was));
	memset(q, 7, 60);
	p = check_realloc_plain(q, 100);
	assert_int_equal(p[59], 7);
	assert_false(block_get((uint64_t)q, &was));
	assert_int_equal(real_frees, 2);
	assert_null(check_realloc_plain(p, 0));
	/* it is the real allocator's: realloc() was called */
	assert_int_equal(real_frees, 2);
	assert_null(check_realloc_plain(get(80, PMM_KIND_MALLOC, 0), 0));
	assert_int_equal(real_frees, 3);
	give(kept, PMM_RELEASE_FREE, 1);
	check_free_plain(kept);			/* in quarantine */
	assert_int_equal(real_frees, 3);
	/* the real allocator would take its head for the size */
	assert_true(check_usable(kept, &size));
	assert_int_equal(size, 70);
}

/* A signal handler interrupts the first event after a fork: blocks of before are ours. */
static void not_ready_yet(void **state)
{
	struct caller from = caller(1);
	char *p = get(50, PMM_KIND_MALLOC, 0), *q = get(50, PMM_KIND_MALLOC, 0);
	uint32_t ours = checker.image;

	(void)state;
	checker.image = ours + 1;
	checker.starting = 1;
	memset(q, 5, 50);
	give(p, PMM_RELEASE_FREE, 1);
	q = check_realloc(ctx, q, 100, PMM_KIND_REALLOC, &from);
	assert_int_equal(q[49], 5);
	assert_int_equal(real_frees, 2);
	free(q);
	checker.image = ours;
	checker.starting = 0;
}

/*
 * What is overwritten by a few bytes goes back in the end; what is so up to the real allocator's
 * own data does not.
 */
static void damage_that_ends(void **state)
{
	static const struct {
		int at;
		bool back;
	} cases[] = {
		{ 1124, true }, { 1143, true }, { 1144, false }, { -1, true }, { -9, false }
	};
	const size_t bytes = 1124;	/* too large to be kept for the next request (recycle.h) */

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		char *p;

		end(NULL);
		begin(NULL);
		tree.check.quarantine_bytes = 8500;
		p = get(bytes, PMM_KIND_MALLOC, 0);
		p[cases[i].at] ^= 1;
		give(p, PMM_RELEASE_FREE, 1);
		assert_int_equal(nr_findings(), 1);
		assert_int_equal(real_frees, 0);
		for (unsigned k = 0; k < 8; k++)
			give(get(bytes, PMM_KIND_MALLOC, 2), PMM_RELEASE_FREE, 3);
		assert_int_equal(nr_findings(), 1);
		assert_int_equal(real_frees, cases[i].back ? 2 : 1);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(released_at_once), T(counted_once),  T(taken_halfway),
		T(no_context),	     T(not_ready_yet), T(damage_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
