/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check form's engine outside a traced process: a context of this thread's, stacks of one
 * frame, the real allocator counted.
 */
#include "tests/unit/agent_check_host.h"

#include "tests/unit/unit.h"

#include <unistd.h>

#include "agent/strings/bounds.h"
#include "agent/fault/fault.h"
#include "agent/unwind/rule.h"

#define MODULE	7ull
#define SITES	8

/* Stacks of one frame each: of callers 0, 1, ... */
uint64_t stack[64] __attribute__((aligned(4096)));
struct tctx *ctx;
struct pmm_tree tree;
static uint8_t alone = 1;
static uint32_t alive = 1;
unsigned real_frees;

void fault_start(void)
{
}

void bounds_forked(void)
{
}

static void counted_free(void *p)
{
	real_frees++;
	free(p);
}

struct caller caller(unsigned i)
{
	return (struct caller){ .ra = 0x401001 + i * 0x40, .sp = (uint64_t)&stack[32], .fp = 0 };
}

static void rules_put(void)
{
	uint64_t packed = CFI_END;

	for (unsigned i = 0; i < SITES; i++) {
		uint64_t pc = 0x401000 + i * 0x40ull;

		agent.rules->far[pc * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
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
	agent.tid_offset = 0x2d0;			/* glibc 2.36 */
	agent.ctx_hash[ctx_hash_of(tp)] = (struct ctx_entry){ tp, ctx };
}

int begin(void **state)
{
	(void)state;
	tree.check = (struct pmm_check){ .level = PMM_CHECK_LIGHT,
					 .secret = 99,
					 .quarantine_bytes = 1 << 20,
					 .fail_after = UINT64_MAX };
	agent_host_init(64 << 20);
	agent.tree = &tree;
	agent.state = AGENT_ON;
	agent.single_threaded = &alone;
	agent.pid = getpid();
	agent.ledger->pid = (uint32_t)agent.pid;
	agent.rules = calloc(1, sizeof(*agent.rules));
	agent.max_frames = 16;
	agent.next = (struct next_functions){ .malloc = malloc,
					  .calloc = calloc,
					  .realloc = realloc,
					  .free = counted_free,
					  .memalign = aligned_alloc };
	rules_put();
	agent.alive = &alive;
	agent.ctx_hash = calloc(AGENT_CTX_HASH, sizeof(*agent.ctx_hash));
	ctx_put();
	checker = (struct checker){ 0 };
	real_frees = 0;
	return 0;
}

int end(void **state)
{
	(void)state;
	free(agent.rules);
	free(agent.ctx_hash);
	agent.state = AGENT_OFF;
	agent_host_fini();
	return 0;
}

void *get(size_t size, uint32_t kind, unsigned who)
{
	struct caller from = caller(who);

	return check_alloc(ctx, size, 0, false, kind, &from);
}

void give(void *p, uint32_t how, unsigned who)
{
	struct check_said said = { how, SIZE_MAX, 0 };
	struct caller from = caller(who);

	check_free(ctx, p, &said, &from);
}

uint32_t nr_findings(void)
{
	return agent.ledger->check.nr_findings;
}

const struct pmm_finding *finding(uint32_t nr)
{
	assert_true(nr < nr_findings());
	return (struct pmm_finding *)arena_at(agent.ledger->finding_dir[nr >> PMM_FINDING_SHIFT]) +
	       (nr & ((1u << PMM_FINDING_SHIFT) - 1));
}
