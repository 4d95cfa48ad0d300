/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process whose threads are made up. */
#include "tests/unit/ctx_host.h"

#include <sys/mman.h>
#include <unistd.h>

#include "agent/unwind/module.h"
#include "agent/unwind/rule.h"

uint64_t *blocks;
static uint32_t *alive;

struct pmm_tree *tree(void)
{
	return (struct pmm_tree *)agent.tree;
}

static void *memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

int begin(void **state)
{
	(void)state;
	agent_host_init(32 << 20);
	/* nobody is late */
	*tree() = (struct pmm_tree){ .tick = 50, .start_monotonic_ns = UINT64_MAX };
	agent.state = AGENT_ON;
	agent.pid = getpid();
	agent.alive = alive = memory(4096);
	assert_int_equal(madvise(alive, 4096, MADV_WIPEONFORK), 0);
	*agent.alive = 1;
	agent.ctx_hash = memory(AGENT_CTX_HASH * sizeof(*agent.ctx_hash));
	agent.rules = memory(sizeof(*agent.rules));
	agent.modules = memory(AGENT_MAX_MODULES * sizeof(*agent.modules));
	agent.scratch = memory(1 << 20);
	agent.paths = memory(AGENT_PATHS_BYTES);
	agent.tid_offset = TID_OFFSET;
	blocks = memory(BLOCKS * sizeof(*blocks));
	return 0;
}

int end(void **state)
{
	(void)state;
	munmap(blocks, BLOCKS * sizeof(*blocks));
	munmap(agent.ctx_hash, AGENT_CTX_HASH * sizeof(*agent.ctx_hash));
	munmap(agent.rules, sizeof(*agent.rules));
	munmap(agent.modules, AGENT_MAX_MODULES * sizeof(*agent.modules));
	munmap(agent.scratch, 1 << 20);
	munmap(agent.paths, AGENT_PATHS_BYTES);
	munmap(alive, 4096);
	agent_host_fini();
	return 0;
}

uint64_t thread(uint32_t nr, uint32_t tid)
{
	uint64_t tp = (uint64_t)&blocks[nr * 64];

	*(uint32_t *)(tp + TID_OFFSET) = tid;
	return tp;
}

struct tctx *ctx_of(uint32_t nr, uint32_t tid)
{
	struct tctx *c = ctx_find_slow(thread(nr, tid));

	assert_non_null(c);
	assert_int_equal(c->tp, thread(nr, tid));
	assert_int_equal(c->tid, tid);
	return c;
}

struct pmm_thread *record_of(uint32_t nr)
{
	return arena_chunk(agent.ledger->thread_dir, nr, PMM_THREAD_SHIFT,
			   sizeof(struct pmm_thread));
}

uint32_t own_tid(void)
{
	return (uint32_t)sys0(gettid);
}
