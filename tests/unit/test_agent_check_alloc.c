/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/agent_check.c, resize.c, refuse.h: how blocks come to be, guarded ones among them,
 * and requests that fail. Also of agent/guard/guarded.c, place.c, pair.c, release.c, agent/hook.c,
 * agent/record.c.
 */
#include "tests/unit/agent_check_host.h"

#include "tests/unit/unit.h"

static void requests_fail(void **state)
{
	unsigned failed = 0;

	(void)state;
	tree.check.fail_after = 3;
	for (unsigned i = 0; i < 10; i++)
		failed += !get(10, PMM_KIND_MALLOC, 0);
	assert_int_equal(failed, 7);
	assert_int_equal(agent.ledger->check.failed_on_purpose, 7);
}

/*
 * What operator new is refused, malloc refuses the C++ library as well, which asks it next; not
 * once more.
 */
static void new_fails(void **state)
{
	struct caller from = caller(0), within = caller(1), deeper = caller(2);

	(void)state;
	within.sp -= 64;
	deeper.sp -= 128;
	tree.check.fail_after = 0;
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_NEW_ARRAY, &from));
	checker.o.fail_after = UINT64_MAX;
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_NEW, &within));
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_MALLOC, &deeper));
	assert_int_equal(agent.ledger->check.failed_on_purpose, 1);
	assert_non_null(check_alloc(ctx, 10, 0, false, PMM_KIND_MALLOC, &deeper));
	assert_non_null(check_alloc(ctx, 10, 0, false, PMM_KIND_NEW, &from));
}

static void requests_fail_at_random(void **state)
{
	unsigned failed[3] = { 0 };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		tree.check.fail_ppb = 100000000;
		tree.check.secret = k < 2 ? 5 : 6;
		for (unsigned i = 0; i < 10000; i++) {
			void *p = get(10, PMM_KIND_MALLOC, 0);

			failed[k] += p ? 0 : i;
			if (p)
				give(p, PMM_RELEASE_FREE, 1);
		}
		assert_in_range(agent.ledger->check.failed_on_purpose, 900, 1100);
		end(NULL);
		begin(NULL);
	}
	assert_int_equal(failed[0], failed[1]);	/* the same secret, the same requests */
	assert_int_not_equal(failed[0], failed[2]);
}

static void heap_limit(void **state)
{
	void *p;

	(void)state;
	tree.check.heap_limit_bytes = 1000;
	p = get(900, PMM_KIND_MALLOC, 0);
	assert_non_null(p);
	assert_null(get(101, PMM_KIND_MALLOC, 0));
	assert_non_null(get(100, PMM_KIND_MALLOC, 0));
	give(p, PMM_RELEASE_FREE, 1);
	assert_non_null(get(900, PMM_KIND_MALLOC, 0));
	assert_int_equal(agent.ledger->check.failed_on_purpose, 1);
}

static void sizes(void **state)
{
	(void)state;
	assert_null(get((size_t)-4, PMM_KIND_MALLOC, 0));
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_SIZE);
	assert_int_equal(finding(0)->size_bytes, (size_t)-4);
	assert_string_equal(finding(0)->function, "malloc");
	assert_non_null(get(0, PMM_KIND_MALLOC, 1));
	assert_int_equal(nr_findings(), 1);
	checker.o.flags |= PMM_CHECK_ZERO;
	assert_non_null(get(0, PMM_KIND_MALLOC, 1));
	assert_non_null(get(0, PMM_KIND_NEW, 2));	/* new char[0] is nothing odd */
	assert_int_equal(nr_findings(), 2);
	assert_int_equal(finding(1)->size_bytes, 0);
}

static void garbage(void **state)
{
	struct caller from = caller(0);
	uint8_t *p;

	(void)state;
	tree.check.flags = PMM_CHECK_GARBAGE;
	tree.check.garbage = 0xab;
	p = get(100, PMM_KIND_MALLOC, 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(p[i], 0xab);
	memset(p, 1, 100);
	p = check_realloc(ctx, p, 150, PMM_KIND_REALLOC, &from);
	for (unsigned i = 0; i < 150; i++)
		assert_int_equal(p[i], i < 100 ? 1 : 0xab);
	p = check_alloc(ctx, 100, 0, true, PMM_KIND_CALLOC, &from);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(p[i], 0);
}

/* The program never has the old block and the new one. What cannot be had leaves all as it was. */
static void realloc_counts_one_block(void **state)
{
	static const uint32_t level[] = { PMM_CHECK_LIGHT, PMM_CHECK_GUARD };

	(void)state;
	for (size_t k = 0; k < NR(level); k++) {
		struct caller from = caller(1);
		char *p;

		end(NULL);
		begin(NULL);
		tree.check.level = level[k];
		tree.check.max_guarded = 3;
		tree.check.budget_permille = UINT64_MAX;
		p = get(1000, PMM_KIND_MALLOC, 0);
		assert_null(check_realloc(ctx, p, 1ull << 50, PMM_KIND_REALLOC, &from));
		assert_int_equal(agent_host_live(), 1000);
		assert_int_equal(agent_host_total(), 1000);
		assert_int_equal(pmm_ctx_sums(&ctx->pub).frees, 0);
		p = check_realloc(ctx, p, 1500, PMM_KIND_REALLOC, &from);
		p = check_realloc(ctx, p, 1200, PMM_KIND_REALLOC, &from);
		assert_int_equal(agent.ledger->check.guarded, k ? 3 : 0);
		assert_int_equal(agent.ledger->peak_bytes, 1500);
		assert_int_equal(agent_host_at_peak(), 1500);
		assert_int_equal(agent_host_live(), 1200);
		give(p, PMM_RELEASE_FREE, 2);
		assert_int_equal(agent_host_live(), 0);
		assert_int_equal(agent_host_total(), 0);
		assert_int_equal(pmm_ctx_sums(&ctx->pub).frees, 3);
		assert_int_equal(ctx->pub.untracked_frees, 0);
		assert_int_equal(nr_findings(), 0);
	}
}

/* Large blocks are resized where the real allocator wants them, canary and all. */
static void large_realloc(void **state)
{
	struct caller from = caller(1);
	uint8_t *p = get(200 << 10, PMM_KIND_MALLOC, 0);

	(void)state;
	memset(p, 3, 200 << 10);
	p = check_realloc(ctx, p, 3 << 20, PMM_KIND_REALLOC, &from);
	for (unsigned i = 0; i < 200 << 10; i++)
		assert_int_equal(p[i], 3);
	assert_int_equal(real_frees, 0);
	assert_int_equal(agent_host_live(), 3 << 20);
	assert_int_equal(agent.ledger->peak_bytes > (3 << 20), false);	/* never both at once */
	p[3 << 20] = 1;
	give(p, PMM_RELEASE_FREE, 2);
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_OVERRUN);
	assert_int_equal(finding(0)->block_bytes, 3 << 20);
}

/* Guarded blocks are in no table and yet in all sums. One test: there is one pool in a process. */
static void guarded(void **state)
{
	struct caller from = caller(2);
	const struct pmm_class *small = &ctx->pub.class[1], *large = &ctx->pub.class[2];
	struct block_info was;
	char *p, *q;

	(void)state;
	tree.check.level = PMM_CHECK_GUARD;
	tree.check.max_guarded = 3;
	tree.check.budget_permille = UINT64_MAX;
	p = get(100, PMM_KIND_NEW, 0);
	q = get(300, PMM_KIND_MALLOC, 1);
	assert_false(block_get((uint64_t)p, &was));
	assert_int_equal(agent.ledger->check.guarded, 2);
	assert_int_equal(agent_host_canaried(), 0);
	assert_int_equal(agent_host_live(), 400);
	assert_int_equal(agent_host_total(), 400);
	assert_int_equal(small->calls[PMM_KIND_NEW], 1);
	assert_int_equal(large->calls[PMM_KIND_MALLOC], 1);
	give(p, PMM_RELEASE_DELETE, 2);
	assert_int_equal(agent_host_live(), 300);
	assert_int_equal(agent.ledger->peak_bytes, 400);
	assert_int_equal(agent_host_at_peak(), 400);
	assert_int_equal(small->frees, 1);
	assert_int_equal(nr_findings(), 0);

	give(p, PMM_RELEASE_DELETE, 3);
	assert_int_equal(finding(0)->type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(finding(0)->guarded, 1);
	assert_int_not_equal(finding(0)->free_site, 0);
	assert_int_not_equal(finding(0)->free_site, finding(0)->site);

	memset(q, 9, 300);
	q[300] = 1;				/* in what alignment leaves of the page */
	q = check_realloc(ctx, q, 5000, PMM_KIND_REALLOC, &from);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(q[i], 9);
	assert_int_equal(finding(1)->type, PMM_FINDING_OVERRUN);
	assert_int_equal(finding(1)->release, PMM_RELEASE_REALLOC);
	assert_int_equal(finding(1)->block_bytes, 300);
	assert_int_equal(agent_host_live(), 5000);
	give(q + 16, PMM_RELEASE_FREE, 4);
	assert_int_equal(finding(2)->place, PMM_PLACE_INSIDE);
	give(q, PMM_RELEASE_DELETE, 4);
	assert_int_equal(finding(3)->type, PMM_FINDING_MISMATCH);
	assert_int_equal(nr_findings(), 4);
	assert_int_equal(agent_host_live(), 0);

	for (unsigned i = 0; i < 5; i++)
		get(10, PMM_KIND_MALLOC, 5);
	assert_int_equal(agent.ledger->check.unguarded_limit, 2);
	assert_int_equal(agent_host_canaried(), 2);
	assert_int_equal(agent.ledger->check.guarded_now, 3);
	assert_non_null(get((1 << 20) + 1, PMM_KIND_MALLOC, 5));
	assert_int_equal(agent.ledger->check.unguarded_large, 1);
	assert_int_equal(agent_host_live(), 50 + (1 << 20) + 1);
	assert_int_equal(real_frees, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(requests_fail), T(new_fails), T(requests_fail_at_random),  T(heap_limit),
		T(sizes),	  T(garbage),	T(realloc_counts_one_block), T(large_realloc),
		T(guarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
