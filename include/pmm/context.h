/* SPDX-License-Identifier: MIT */
/*
 * What one thread at a time writes in a ledger (include/pmm/ledger.h, which includes this), besides
 * its records of call sites.
 */
#ifndef PMM_CONTEXT_H
#define PMM_CONTEXT_H

#include <stdint.h>

#include "include/pmm/board.h"

#define PMM_NR_CLASSES		7	/* <=16 <=256 <=1024 <=4096 <=16384 <=65536 larger */

/* the function that allocated a block */
enum pmm_kind {
	PMM_KIND_NONE,
	PMM_KIND_MALLOC,
	PMM_KIND_CALLOC,
	PMM_KIND_REALLOC,
	PMM_KIND_REALLOCARRAY,
	PMM_KIND_POSIX_MEMALIGN,
	PMM_KIND_ALIGNED_ALLOC,
	PMM_KIND_MEMALIGN,
	PMM_KIND_VALLOC,
	PMM_KIND_PVALLOC,
	PMM_KIND_NEW,
	PMM_KIND_NEW_ARRAY,
	PMM_KIND_NEW_ALIGNED,
	PMM_KIND_NEW_ARRAY_ALIGNED,
	PMM_KIND_MMAP,
	PMM_KIND_OTHER,
	PMM_NR_KINDS,
};

/*
 * Table of sizes; class of a block by its requested size. frees and bytes_out: tracked blocks only.
 */
struct pmm_class {
	uint64_t frees;
	uint64_t bytes_in, bytes_out;
	uint64_t failed;
	/* successful, by enum pmm_kind; the common ones share a cache line with the above */
	uint64_t calls[PMM_NR_KINDS];
	/* frees that were not seen: another block was allocated at the same address */
	uint64_t displaced;
	uint64_t reserved[3];
};

/* Tracked events, of whatever is said. */
struct pmm_sums {
	uint64_t allocs, frees, bytes_in, bytes_out;
};

/* A thread, in order of appearance; blocks refer to it by number. */
struct pmm_thread {
	uint32_t tid;			/* as in the process's pid namespace */
	uint32_t start_tick;		/* first event seen */
	char name[16];			/* at that time */
	/* complete only when !current; else add pmm_ctx_sums(ctx) - ctx.base */
	struct pmm_sums sums;
	uint32_t ctx;			/* number of its context */
	uint32_t current;		/* 1 = still the owner of that context */
	uint64_t reserved;
};

/*
 * A block that is being resized: realloc takes the old one out of its table, then calls the real
 * function, then enters the new one. In between no table holds the block although the program's
 * data is in it, so a search for pointers must know of it.
 */
struct pmm_move {
	/*
	 * its old address, 0 = none is on its way; set before the block is taken out, cleared once
	 * it is entered again
	 */
	uint64_t address;
	uint64_t old_bytes;		/* 0 = not known, or not yet */
	uint64_t new_bytes;
};

enum pmm_move_of {
	PMM_MOVE_HEAP,			/* valid while busy_sp is set: the hook's frame is below */
	PMM_MOVE_POOL,			/* the same with pool_sp */
	PMM_NR_MOVES,
};

/*
 * A context: what one thread at a time writes. When a thread ends another one takes its context, so
 * sums over all contexts are sums over all threads of the process's life. Agent-private state
 * follows the context in memory.
 */
struct pmm_ctx {
	/* see agent/total.c; bit 63: valid, low bits: bytes that may still be taken */
	uint64_t credit;
	uint64_t seq;			/* odd while an event is being recorded */
	uint64_t temporary;
	uint64_t untracked_frees;	/* free of a block that is not in the ledger */
	/* stack pointer of the caller of the running hook, 0 = none runs */
	uint64_t busy_sp;
	/* ... of the outermost custom allocator that runs (agent/inject/hooks_custom.c) */
	uint64_t pool_sp;
	struct pmm_sums base;		/* at the moment its thread took the context */
	uint64_t skipped_allocs, skipped_bytes;		/* below min_size_bytes */
	/* check form: blocks that got a canary; ... of which because the budget was used up */
	uint64_t canaried, unguarded_budget;
	pmm_ref records;		/* newest pmm_record */
	uint32_t thread;		/* number of the owning thread */
	/* 0: thread, 1..: signal handlers that interrupted the agent in this thread */
	uint32_t level;
	uint32_t number;
	struct pmm_class class[PMM_NR_CLASSES];
	struct pmm_move move[PMM_NR_MOVES];
};

/* All tracked events of a context: what its classes say. */
static inline struct pmm_sums pmm_ctx_sums(const struct pmm_ctx *c)
{
	struct pmm_sums sums = { 0 };

	for (unsigned i = 0; i < PMM_NR_CLASSES; i++) {
		for (unsigned kind = 0; kind < PMM_NR_KINDS; kind++)
			sums.allocs += c->class[i].calls[kind];
		sums.frees += c->class[i].frees;
		sums.bytes_in += c->class[i].bytes_in;
		sums.bytes_out += c->class[i].bytes_out;
	}
	return sums;
}

#endif
