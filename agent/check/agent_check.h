/* SPDX-License-Identifier: MIT */
/*
 * The check form of the agent (libpmm_check.so): the same core, the same ways into and out of the
 * program, other hooks for the allocator's entries. What the hooks do instead of agent/hook.h is
 * here; each level's way of allocating is below it.
 *
 *     check_hooks.c, check_hooks_cxx.c  the allocator's entries
 *     agent/strings/                    string and memory functions
 *     agent_check.c                     this: which way for which block; refuse.c: requests that
 *                                       fail; resize.c: realloc
 *     release.c, pair.c                 pairing, damage, what becomes of a block
 *     quarantine_check.c                what becomes of it after quarantine
 *     check_plain.c                     the same without a context
 *     stray.c, place.c                  what is no block
 *     heads.c                           blocks from before a fork
 *     canary.c                          heads and tails in blocks of the real allocator
 *     quarantine.c                      released canaried blocks
 *     recycle.c                         those that have left it
 *     guard.c                           the pool of guarded blocks
 *     budget.c                          what guard pages may cost
 *     finding.c, alike.c                findings into the ledger; which accesses are one
 *     reported.c                        blocks that need no second finding
 *     ancestor.c                        what a forked process can still learn from the ledgers
 *                                       before its own
 *     fault.c                           accesses stopped by the pool, stack overflows
 *     crash.c, crash_place.c            the fault, or abort(), that ends the process
 *
 * All of the agent's rules hold (agent/agent.h). In addition: whatever is not known for sure is no
 * finding, and a block that is not checked passes as if pmm were not there. Memory handed out by
 * this form may be given back when the agent is off, when the thread has no context, and in a
 * forked child: what a pointer is must therefore be known from private memory, which fork copies
 * (guards), or from the head in front of it.
 *
 * Contexts are busy with RECORDING and belong to the calling thread.
 */
#ifndef AGENT_CHECK_AGENT_CHECK_H
#define AGENT_CHECK_AGENT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ctx.h"
#include "agent/unwind/unwind.h"

/*
 * The level and what goes with it, out of the tree; set up once the agent is on. False: it stays
 * off, blocks pass.
 */
bool check_start(void);

/* Is this process checked? */
bool check_on(void);

/*
 * From now on blocks are the real allocator's own, as the program may give them to functions that
 * we do not see. Those that are out stay as they are, and are looked at when they are released.
 */
void check_end(void);

/*
 * A block of `size` bytes aligned to `align` (a power of two, 0 = as malloc does), allocated and
 * recorded; NULL when there is no memory or a request fails on purpose (errno is the hook's to
 * set). kind: enum pmm_kind. zeroed: as calloc.
 */
void *check_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
		  const struct caller *from);

/*
 * The block that was allocated last on this context, if that is `p`, was so by another name:
 * operator new, on top of malloc.
 */
void check_rename(struct tctx *c, void *p, uint32_t kind);

/* What a release says of the block. */
struct check_said {
	uint32_t how;			/* enum pmm_release */
	size_t size;			/* sized forms; SIZE_MAX = nothing */
	size_t align;			/* aligned forms; 0 = nothing */
};

/*
 * Release `p`, not NULL: checked, kept in quarantine or given back. What is no block is a finding
 * and stays as it is.
 */
void check_free(struct tctx *c, void *p, const struct check_said *said, const struct caller *from);

/*
 * realloc of a block or NULL; `size` may be 0. NULL as realloc returns it: the old block is then as
 * it was, unless size is 0.
 */
void *check_realloc(struct tctx *c, void *old, size_t size, uint32_t kind,
		    const struct caller *from);

/*
 * The same without a context: nothing is recorded, a block of this form goes back to where it came
 * from.
 */
void check_free_plain(void *p);
void *check_realloc_plain(void *old, size_t size);

/*
 * malloc_usable_size: the bytes asked for of a block of this form, released or not, for the real
 * allocator must not be asked; false: none of ours.
 */
bool check_usable(const void *p, size_t *size);

/* A block of this form that is or was around an address. */
struct check_block {
	uint64_t address, size;
	uint32_t kind;			/* enum pmm_kind */
	bool freed, guarded;
	uint32_t alloc_site, alloc_tick, alloc_thread;
	uint32_t free_site, free_tick, free_thread;
	uint32_t parent_pid;		/* see struct pmm_finding */
	/* whose numbers these are: of the ledger of this generation, modulo 2^16, + 1; 0 = ours */
	uint32_t alloc_from, free_from;
};

/*
 * The block that `address` is in or, when that is none, that it most likely belongs to: canary
 * around a block, pages of a guarded one. `reach`: a canaried block may begin so many bytes before
 * (the search costs time in proportion); from CHECK_REACH_ALL on those in quarantine are looked at
 * as well, all of them. False: none known. Reads no memory that may be unmapped.
 */
#define CHECK_REACH_ALL (64u << 10)
bool check_find(uint64_t address, uint64_t reach, struct check_block *out);

/*
 * The nearest live block that begins at `address` or up to `reach` bytes below. False: there is
 * none.
 */
bool check_below(uint64_t address, uint64_t reach, struct check_block *out);

/*
 * A canaried block that covered `address` and went back to the real allocator not too many releases
 * ago.
 */
bool check_gone(uint64_t address, struct check_block *out);

/* What check_finish() looks at, where the process dies without it. `c`: as in finding_add(). */
void check_look_back(struct tctx *c);

/* The process is about to end: are all blocks in quarantine still poison? sp: the caller's. */
void check_finish(uint64_t sp);

#endif
