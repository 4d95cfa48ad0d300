/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/release.c, stray.c, finding.c: blocks in this program's own heap, and what is found
 * wrong with them. Also of agent/check/place.c, heads.c, pair.c, check_plain.c, agent/hook.c,
 * agent/record.c.
 */
#include "tests/unit/agent_check_host.h"

#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "agent/guard/finding.h"

static void nothing_wrong(void **state)
{
	struct caller from = caller(1);
	char *p;

	(void)state;
	for (size_t size = 0; size < 3000; size += 7) {
		p = get(size, PMM_KIND_MALLOC, 0);
		memset(p, 1, size);
		p = check_realloc(ctx, p, size * 2 + 1, PMM_KIND_REALLOC, &from);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 1);
		give(p, PMM_RELEASE_FREE, 1);
		p = check_alloc(ctx, size, 256, false, PMM_KIND_MEMALIGN, &from);
		assert_int_equal((uint64_t)p % 256, 0);
		give(p, PMM_RELEASE_FREE, 1);
		p = check_alloc(ctx, size, 0, true, PMM_KIND_CALLOC, &from);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		give(p, PMM_RELEASE_FREE, 1);
	}
	assert_int_equal(nr_findings(), 0);
	assert_int_equal(agent_host_live(), 0);
	assert_int_equal(agent_host_canaried(), 4 * 429);
	assert_int_equal(pmm_ctx_sums(&ctx->pub).allocs, 4 * 429);
	assert_int_equal(ctx->pub.untracked_frees, 0);
}

static void overrun(void **state)
{
	char *p = get(100, PMM_KIND_MALLOC, 0);
	const struct pmm_finding *f;

	(void)state;
	memcpy(p + 100, "abc", 3);
	give(p, PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 1);
	f = finding(0);
	assert_int_equal(f->type, PMM_FINDING_OVERRUN);
	assert_int_equal(f->by, PMM_BY_RELEASE);
	assert_int_equal(f->access, PMM_ACCESS_WRITE);
	assert_int_equal(f->count, 1);
	assert_ptr_equal(f->address, p + 100);
	assert_ptr_equal(f->block, p);
	assert_int_equal(f->block_bytes, 100);
	assert_int_equal(f->kind, PMM_KIND_MALLOC);
	assert_int_equal(f->release, PMM_RELEASE_FREE);
	assert_int_not_equal(f->site, f->alloc_site);
	assert_int_not_equal(f->alloc_site, 0);
	assert_int_equal(f->free_site, 0);
	assert_int_equal(f->nr_bytes, PMM_FINDING_BYTES);
	assert_memory_equal(f->bytes, "abc", 3);
	assert_int_equal(real_frees, 0);	/* whose own data may be damaged too */
}

static void underrun(void **state)
{
	char *p = get(10, PMM_KIND_MALLOC, 0);

	(void)state;
	p[-1] ^= 1;
	give(p, PMM_RELEASE_FREE, 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_UNDERRUN);
	assert_ptr_equal(finding(0)->address, p - 1);
	assert_int_equal(finding(0)->nr_bytes, 1);
	assert_int_not_equal(finding(0)->alloc_site, 0);
	assert_int_equal(nr_findings(), 1);
}

static void written_after_free(void **state)
{
	char *p = get(50, PMM_KIND_MALLOC, 0);

	(void)state;
	give(p, PMM_RELEASE_FREE, 1);
	p[3] = 'x';
	assert_int_equal(nr_findings(), 0);
	check_finish((uint64_t)stack);
	assert_int_equal(nr_findings(), 1);
	check_finish((uint64_t)stack);		/* once is enough */
	assert_int_equal(finding(0)->count, 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_AFTER_FREE);
	assert_int_equal(finding(0)->by, PMM_BY_QUARANTINE);
	assert_ptr_equal(finding(0)->address, p + 3);
	assert_int_equal(finding(0)->site, 0);
	assert_int_not_equal(finding(0)->alloc_site, finding(0)->free_site);
	assert_int_not_equal(finding(0)->free_site, 0);
}

/*
 * Found as well when the block has to leave, and the block goes back all the same: nothing around
 * it is damaged.
 */
static void written_before_leaving(void **state)
{
	char *p = get(600 << 10, PMM_KIND_MALLOC, 0), *q = get(600 << 10, PMM_KIND_MALLOC, 0);

	(void)state;
	give(p, PMM_RELEASE_FREE, 1);
	p[0] = 'x';
	give(q, PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 1);
	assert_ptr_equal(finding(0)->block, p);
	assert_int_equal(finding(0)->nr_bytes, PMM_FINDING_BYTES);
	assert_int_equal(finding(0)->bytes[0], 'x');
	assert_int_equal(finding(0)->bytes[1], PMM_POISON_BYTE);
	assert_int_equal(real_frees, 1);
}

static void released_twice(void **state)
{
	struct caller from = caller(3);
	char *p = get(50, PMM_KIND_MALLOC, 0);

	(void)state;
	tree.tick = 40;
	give(p, PMM_RELEASE_FREE, 1);
	tree.tick = 50;
	give(p, PMM_RELEASE_FREE, 2);
	tree.tick = 60;
	give(p, PMM_RELEASE_FREE, 2);
	tree.tick = 0;
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->alloc_tick, 0);
	assert_int_equal(finding(0)->free_tick, 40);
	assert_int_equal(finding(0)->first_tick, 50);
	assert_int_equal(finding(0)->last_tick, 60);
	assert_int_equal(finding(0)->thread, ctx->pub.thread);
	assert_int_equal(finding(0)->free_thread, ctx->pub.thread);
	assert_int_equal(finding(0)->block_bytes, 50);
	assert_int_equal(finding(0)->parent_pid, 0);
	assert_false(finding(0)->guarded);
	assert_int_equal(finding(0)->type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(finding(0)->count, 2);
	assert_int_not_equal(finding(0)->free_site, finding(0)->site);
	assert_int_not_equal(finding(0)->free_site, finding(0)->alloc_site);
	assert_null(check_realloc(ctx, p, 100, PMM_KIND_REALLOC, &from));
	assert_int_equal(nr_findings(), 2);
	assert_int_equal(finding(1)->type, PMM_FINDING_REALLOC_FREED);
	assert_int_equal(finding(1)->release, PMM_RELEASE_REALLOC);
	assert_int_equal(real_frees, 0);
}

static void no_blocks(void **state)
{
	char *p = get(100, PMM_KIND_MALLOC, 0);
	static char variable[64] __attribute__((aligned(16)));
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	(void)variable;
	give(p + 32, PMM_RELEASE_FREE, 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_BAD_FREE);
	assert_int_equal(finding(0)->place, PMM_PLACE_INSIDE);
	assert_ptr_equal(finding(0)->block, p);
	assert_ptr_equal(finding(0)->address, p + 32);
	give(page + 64, PMM_RELEASE_FREE, 2);
	assert_int_equal(finding(1)->place, PMM_PLACE_UNKNOWN);
	munmap(page, 4096);
	give(page + 64, PMM_RELEASE_FREE, 3);
	assert_int_equal(finding(2)->place, PMM_PLACE_UNMAPPED);
	assert_int_equal(nr_findings(), 3);
	assert_int_equal(real_frees, 0);
	/* a block may be one that nobody checked: it is the real allocator's to judge */
	checker.passed = 1;
	p = malloc(100);
	give(p, PMM_RELEASE_FREE, 4);
	assert_int_equal(nr_findings(), 3);
	assert_int_equal(real_frees, 1);
}

/* Blocks of the real allocator itself look like its blocks. */
static void passed_block(void **state)
{
	struct caller from = caller(1);

	(void)state;
	give(malloc(100), PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 0);
	assert_int_equal(real_frees, 1);
	give(check_realloc(ctx, malloc(100), 200, PMM_KIND_REALLOC, &from), PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 0);	/* still one of its own */
	assert_int_equal(real_frees, 2);
}

/* Blocks are plain from then on; those from before are still what they were. */
static void checking_ends(void **state)
{
	char *before = get(100, PMM_KIND_MALLOC, 0), *p,
	     *moved = get(200 << 10, PMM_KIND_MALLOC, 0);
	struct caller from = caller(1);
	uint64_t canaried;
	char *untold;
	size_t size;

	(void)state;
	agent.min_size = 64;
	untold = get(20, PMM_KIND_MALLOC, 0);	/* in no table either */
	agent.min_size = 0;
	canaried = agent_host_canaried();
	check_end();
	check_end();
	p = get(100, PMM_KIND_MALLOC, 0);
	assert_false(check_usable(p, &size));
	assert_true(check_usable(before, &size));
	free(p);			/* nothing but the real allocator's */
	p = get(100, PMM_KIND_MALLOC, 0);
	p = check_realloc(ctx, p, 5000, PMM_KIND_REALLOC, &from);
	give(p, PMM_RELEASE_FREE, 1);
	assert_int_equal(real_frees, 1);
	memset(moved, 7, 200 << 10);
	moved = check_realloc(ctx, moved, 300 << 10, PMM_KIND_REALLOC, &from);
	assert_false(check_usable(moved, &size));
	assert_int_equal(moved[(200 << 10) - 1], 7);
	free(moved);
	assert_int_equal(agent.ledger->check.passed, 3);
	assert_int_equal(agent_host_canaried(), canaried);
	assert_int_equal(nr_findings(), 0);
	give(untold, PMM_RELEASE_FREE, 1);
	assert_int_equal(real_frees, 1);	/* it is in quarantine */
	before[100] = 1;
	give(before, PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_OVERRUN);
	give(before, PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 2);
	assert_int_equal(finding(1)->type, PMM_FINDING_DOUBLE_FREE);
	assert_int_equal(agent_host_live(), 0);
}

static void mismatches(void **state)
{
	static const struct {
		uint32_t kind, how;
		size_t size, align;
		bool wrong;
		uint64_t other;
	} cases[] = {
		{ PMM_KIND_MALLOC, PMM_RELEASE_FREE, SIZE_MAX, 0, false, 0 },
		{ PMM_KIND_MALLOC, PMM_RELEASE_DELETE, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_CALLOC, PMM_RELEASE_DELETE_ARRAY, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_MEMALIGN, PMM_RELEASE_DELETE_ALIGNED, SIZE_MAX, 64, true, 0 },
		{ PMM_KIND_NEW, PMM_RELEASE_FREE, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_NEW, PMM_RELEASE_DELETE, SIZE_MAX, 0, false, 0 },
		{ PMM_KIND_NEW, PMM_RELEASE_DELETE_SIZED, 40, 0, false, 0 },
		{ PMM_KIND_NEW, PMM_RELEASE_DELETE_SIZED, 41, 0, true, 41 },
		{ PMM_KIND_NEW, PMM_RELEASE_DELETE_ARRAY, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_NEW, PMM_RELEASE_DELETE_ALIGNED, SIZE_MAX, 64, true, 0 },
		{ PMM_KIND_NEW_ARRAY, PMM_RELEASE_DELETE_ARRAY_SIZED, 41, 0, false, 0 },
		{ PMM_KIND_NEW_ARRAY, PMM_RELEASE_DELETE, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_NEW_ALIGNED, PMM_RELEASE_DELETE_SIZED_ALIGNED, 40, 64, false, 0 },
		{ PMM_KIND_NEW_ALIGNED, PMM_RELEASE_DELETE_ALIGNED, SIZE_MAX, 32, true, 32 },
		{ PMM_KIND_NEW_ALIGNED, PMM_RELEASE_DELETE, SIZE_MAX, 0, true, 0 },
		{ PMM_KIND_NEW_ARRAY_ALIGNED, PMM_RELEASE_DELETE_ARRAY_ALIGNED, SIZE_MAX, 64, false,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		bool aligned = cases[i].kind == PMM_KIND_NEW_ALIGNED ||
			       cases[i].kind == PMM_KIND_NEW_ARRAY_ALIGNED;
		struct check_said said = { cases[i].how, cases[i].size, cases[i].align };
		struct caller from = caller(0);
		void *p;

		begin(NULL);
		p = check_alloc(ctx, 40, aligned ? 64 : 0, false, cases[i].kind, &from);
		check_free(ctx, p, &said, &from);
		if (nr_findings() != cases[i].wrong)
			fail_msg("case %zu: %u findings", i, nr_findings());
		if (cases[i].wrong) {
			assert_int_equal(finding(0)->type, PMM_FINDING_MISMATCH);
			assert_int_equal(finding(0)->other, cases[i].other);
			assert_int_equal(finding(0)->release, cases[i].how);
		}
		assert_int_equal(agent_host_live(), 0);	/* released all the same */
		if (i + 1 < NR(cases))
			end(NULL);
	}
}

static void many_findings(void **state)
{
	struct pmm_finding f = { .type = PMM_FINDING_OVERLAP };

	(void)state;
	get(1, PMM_KIND_MALLOC, 0);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= PMM_MAX_FINDINGS + 10; i++) {
			f.site = i;
			assert_int_equal(finding_add(ctx, &f),
					 i <= PMM_MAX_FINDINGS ? i - 1 : UINT32_MAX);
		}
	assert_int_equal(nr_findings(), PMM_MAX_FINDINGS);
	assert_int_equal(agent.ledger->check.findings_lost, 20);
	for (uint32_t i = 0; i < PMM_MAX_FINDINGS; i++)
		assert_int_equal(finding(i)->count, 2);
}

/* Addresses around blocks are theirs. */
static void blocks_around(void **state)
{
	struct check_block b;
	char *p = get(100, PMM_KIND_MALLOC, 0);

	(void)state;
	for (int i = -16; i < 100 + 16; i++) {
		assert_true(check_find((uint64_t)p + (uint64_t)i, 200, &b));
		assert_ptr_equal(b.address, p);
		assert_int_equal(b.size, 100);
		assert_false(b.freed);
	}
	assert_false(check_find((uint64_t)p + 80, 40, &b));
	give(p, PMM_RELEASE_FREE, 1);
	assert_false(check_find((uint64_t)p + 50, 200, &b));
	assert_true(check_find((uint64_t)p + 50, CHECK_REACH_ALL, &b));
	assert_true(b.freed);
	assert_int_not_equal(b.free_site, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(nothing_wrong),
		T(overrun),
		T(underrun),
		T(written_after_free),
		T(written_before_leaving),
		T(released_twice),
		T(no_blocks),
		T(passed_block),
		T(checking_ends),
		T(mismatches),
		T(many_findings),
		T(blocks_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
