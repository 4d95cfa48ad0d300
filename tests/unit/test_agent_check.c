/* agent/check/check.c, release.c, stray.c, finding.c: blocks in this program's own heap, and what is found wrong with them. */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "agent/check/bounds.h"
#include "agent/check/canary.h"
#include "agent/check/check.h"
#include "agent/check/fault.h"
#include "agent/check/finding.h"
#include "agent/check/ways.h"
#include "agent/preload/leave.h"
#include "agent/rule.h"
#include "agent/unwind.h"

#define MODULE	7ull
#define SITES	8

/* Stacks of one frame each: of callers 0, 1, ... */
static uint64_t stack[64] __attribute__((aligned(4096)));
static struct tctx *ctx;
static struct pmm_tree tree;
static uint8_t alone = 1;
static uint32_t alive = 1;
static unsigned real_frees;

void fault_start(void)
{
}

void bounds_forked(void)
{
}

bool bounds_told(uint64_t block)
{
	(void)block;
	return false;
}

static void counted_free(void *p)
{
	real_frees++;
	free(p);
}

static struct caller caller(unsigned i)
{
	return (struct caller){ .ra = 0x401001 + i * 0x40, .sp = (uint64_t)&stack[32], .rbp = 0 };
}

static void rules_put(void)
{
	uint64_t packed = CFI_END;

	for (unsigned i = 0; i < SITES; i++) {
		uint64_t pc = 0x401000 + i * 0x40ull;

		A.rules->far[pc * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
			(struct rule_entry){ packed ^ (pc | MODULE << 48), packed };
	}
}

/* This thread's context, where the agent looks for it. */
static void ctx_put(void)
{
	uint64_t tp = arch_thread_pointer();

	ctx = agent_host_ctx();
	unwind_init(ctx, arena_get(unwind_bytes(), 64));
	ctx->tp = tp;
	ctx->tid = (uint32_t)gettid();
	ctx->countdown = &ctx->bytes_left;
	A.tid_offset = 0x2d0;			/* glibc 2.36 */
	A.ctx_hash[ctx_hash_of(tp)] = (struct ctx_entry){ tp, ctx };
}

static int begin(void **state)
{
	(void)state;
	tree.check = (struct pmm_check){ .level = PMM_CHECK_LIGHT, .secret = 99, .quarantine_bytes = 1 << 20, .fail_after = UINT64_MAX };
	agent_host_init(64 << 20);
	A.tree = &tree;
	A.state = AGENT_ON;
	A.single_threaded = &alone;
	A.pid = getpid();
	A.ledger->pid = (uint32_t)A.pid;
	A.rules = calloc(1, sizeof(*A.rules));
	A.max_frames = 16;
	A.next = (struct next_functions){ .malloc = malloc, .calloc = calloc, .realloc = realloc, .free = counted_free,
					  .memalign = aligned_alloc };
	rules_put();
	A.alive = &alive;
	A.ctx_hash = calloc(AGENT_CTX_HASH, sizeof(*A.ctx_hash));
	ctx_put();
	K = (struct checker){ 0 };
	real_frees = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(A.rules);
	free(A.ctx_hash);
	A.state = AGENT_OFF;
	agent_host_fini();
	return 0;
}

static void *get(size_t size, uint32_t kind, unsigned who)
{
	struct caller from = caller(who);

	return check_alloc(ctx, size, 0, false, kind, &from);
}

static void give(void *p, uint32_t how, unsigned who)
{
	struct check_said said = { how, SIZE_MAX, 0 };
	struct caller from = caller(who);

	check_free(ctx, p, &said, &from);
}

static uint32_t nr_findings(void)
{
	return A.ledger->check.nr_findings;
}

static const struct pmm_finding *finding(uint32_t nr)
{
	assert_true(nr < nr_findings());
	return (struct pmm_finding *)arena_at(A.ledger->finding_dir[nr >> PMM_FINDING_SHIFT]) + (nr & ((1u << PMM_FINDING_SHIFT) - 1));
}

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
	assert_int_equal(ctx->pub.allocs, 4 * 429);
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

/* Found as well when the block has to leave, and the block goes back all the same: nothing around it is damaged. */
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
	give(p, PMM_RELEASE_FREE, 1);
	give(p, PMM_RELEASE_FREE, 2);
	give(p, PMM_RELEASE_FREE, 2);
	assert_int_equal(nr_findings(), 1);
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
	K.passed = 1;				/* a block may be one that nobody checked: it is the real allocator's to judge */
	p = malloc(100);
	give(p, PMM_RELEASE_FREE, 4);
	assert_int_equal(nr_findings(), 3);
	assert_int_equal(real_frees, 1);
}

/* Blocks of the real allocator itself look like its blocks. */
static void passed_block(void **state)
{
	(void)state;
	give(malloc(100), PMM_RELEASE_FREE, 1);
	assert_int_equal(nr_findings(), 0);
	assert_int_equal(real_frees, 1);
}

static void mismatches(void **state)
{
	static const struct { uint32_t kind, how; size_t size, align; bool wrong; uint64_t other; } cases[] = {
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
		{ PMM_KIND_NEW_ARRAY_ALIGNED, PMM_RELEASE_DELETE_ARRAY_ALIGNED, SIZE_MAX, 64, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		bool aligned = cases[i].kind == PMM_KIND_NEW_ALIGNED || cases[i].kind == PMM_KIND_NEW_ARRAY_ALIGNED;
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

static void requests_fail(void **state)
{
	unsigned failed = 0;

	(void)state;
	tree.check.fail_after = 3;
	for (unsigned i = 0; i < 10; i++)
		failed += !get(10, PMM_KIND_MALLOC, 0);
	assert_int_equal(failed, 7);
	assert_int_equal(A.ledger->check.failed_on_purpose, 7);
}

/* What operator new is refused, malloc refuses the C++ library as well, which asks it next; not once more. */
static void new_fails(void **state)
{
	struct caller from = caller(0), within = caller(1), deeper = caller(2);

	(void)state;
	within.sp -= 64;
	deeper.sp -= 128;
	tree.check.fail_after = 0;
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_NEW_ARRAY, &from));
	K.o.fail_after = UINT64_MAX;
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_NEW, &within));
	assert_null(check_alloc(ctx, 10, 0, false, PMM_KIND_MALLOC, &deeper));
	assert_int_equal(A.ledger->check.failed_on_purpose, 1);
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
		assert_in_range(A.ledger->check.failed_on_purpose, 900, 1100);
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
	assert_int_equal(A.ledger->check.failed_on_purpose, 1);
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
	K.o.flags |= PMM_CHECK_ZERO;
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

/* Large blocks are resized where the real allocator wants them, canary and all. */
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
		assert_int_equal(ctx->pub.frees, 0);
		p = check_realloc(ctx, p, 1500, PMM_KIND_REALLOC, &from);
		p = check_realloc(ctx, p, 1200, PMM_KIND_REALLOC, &from);
		assert_int_equal(A.ledger->check.guarded, k ? 3 : 0);
		assert_int_equal(A.ledger->peak_bytes, 1500);
		assert_int_equal(agent_host_at_peak(), 1500);
		assert_int_equal(agent_host_live(), 1200);
		give(p, PMM_RELEASE_FREE, 2);
		assert_int_equal(agent_host_live(), 0);
		assert_int_equal(agent_host_total(), 0);
		assert_int_equal(ctx->pub.frees, 3);
		assert_int_equal(ctx->pub.untracked_frees, 0);
		assert_int_equal(nr_findings(), 0);
	}
}

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
	assert_int_equal(A.ledger->peak_bytes > (3 << 20), false);	/* never both at once */
	p[3 << 20] = 1;
	give(p, PMM_RELEASE_FREE, 2);
	assert_int_equal(nr_findings(), 1);
	assert_int_equal(finding(0)->type, PMM_FINDING_OVERRUN);
	assert_int_equal(finding(0)->block_bytes, 3 << 20);
}

static void many_findings(void **state)
{
	struct pmm_finding f = { .type = PMM_FINDING_OVERLAP };

	(void)state;
	get(1, PMM_KIND_MALLOC, 0);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= PMM_MAX_FINDINGS + 10; i++) {
			f.site = i;
			assert_int_equal(finding_add(ctx, &f), i <= PMM_MAX_FINDINGS ? i - 1 : UINT32_MAX);
		}
	assert_int_equal(nr_findings(), PMM_MAX_FINDINGS);
	assert_int_equal(A.ledger->check.findings_lost, 20);
	for (uint32_t i = 0; i < PMM_MAX_FINDINGS; i++)
		assert_int_equal(finding(i)->count, 2);
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
	assert_int_equal(A.ledger->check.guarded, 2);
	assert_int_equal(agent_host_canaried(), 0);
	assert_int_equal(agent_host_live(), 400);
	assert_int_equal(agent_host_total(), 400);
	assert_int_equal(small->calls[PMM_KIND_NEW], 1);
	assert_int_equal(large->calls[PMM_KIND_MALLOC], 1);
	give(p, PMM_RELEASE_DELETE, 2);
	assert_int_equal(agent_host_live(), 300);
	assert_int_equal(A.ledger->peak_bytes, 400);
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
	assert_int_equal(A.ledger->check.unguarded_limit, 2);
	assert_int_equal(agent_host_canaried(), 2);
	assert_int_equal(A.ledger->check.guarded_now, 3);
	assert_non_null(get((1 << 20) + 1, PMM_KIND_MALLOC, 5));
	assert_int_equal(A.ledger->check.unguarded_large, 1);
	assert_int_equal(agent_host_live(), 50 + (1 << 20) + 1);
	assert_int_equal(real_frees, 0);
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
		T(nothing_wrong), T(overrun), T(underrun), T(written_after_free), T(written_before_leaving), T(released_twice),
		T(released_at_once), T(no_blocks),
		T(passed_block), T(mismatches), T(requests_fail), T(new_fails), T(requests_fail_at_random), T(heap_limit), T(sizes), T(garbage),
		T(large_realloc), T(many_findings), T(blocks_around), T(realloc_counts_one_block), T(guarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
