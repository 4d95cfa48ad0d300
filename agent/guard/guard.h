/* SPDX-License-Identifier: MIT */
/*
 * The pool of guarded blocks (include/pmm/check.h): each alone on pages between inaccessible ones,
 * inaccessible itself once released, and used again as late as possible.
 *
 * Knows nothing of contexts, stacks and the heap: addresses and runs. No locks; what cannot be had
 * at once is refused. What it knows is in private memory, which fork copies, and again in the
 * ledger for the monitor (guard_dir), where there is room.
 */
#ifndef AGENT_GUARD_GUARD_H
#define AGENT_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/ledger.h"

/* Where it is; no bytes where there is none. */
struct guard_pool {
	uint64_t start, bytes;
};

extern struct guard_pool guard_pool __attribute__((visibility("hidden")));

enum guard_refusal { GUARD_OK, GUARD_LIMIT, GUARD_LARGE, GUARD_KERNEL };

/*
 * Reserve the pool, find out how pages are closed, and fill the budget. False: there is none,
 * guard_alloc() refuses.
 */
bool guard_start(const struct pmm_check *options);

/*
 * Zeroed memory for a block: number of its run, or UINT32_MAX with *why. align: a power of two, 0 =
 * none was asked for. It has malloc's at least (agent/check/where.h). bias: which end of its pages
 * it is at, if the user leaves that open. pmm_guard.address, size_bytes, pages are set, free_*
 * are 0, and the rest of its pages is canary; state is LIVE once guard_publish() was called, until
 * then only the caller knows it. A block of 0 bytes has a page all the same, and an address at its
 * end, or start.
 *
 * What allocating, looking for damage and closing cost is taken from the budget here
 * (agent/guard/budget.h); whether it allows a block is the caller's question.
 */
uint32_t guard_alloc(size_t size, size_t align, enum pmm_guard_bias bias, enum guard_refusal *why);

/*
 * The caller has set kind, site, tick, thread and pid: show it to the monitor, and count it there.
 * Again when one of them changed.
 */
void guard_publish(uint32_t run);

/* A run's record; private, the caller may change what it owns. */
struct pmm_guard *guard_at(uint32_t run);

/*
 * agent.no_guards was set: open all pages for good, so that nothing stops any more. Nothing is
 * guarded from then on; damage to blocks that are is found when they are released.
 */
void guard_open_all(void);

/*
 * Called before pages are opened for a block, with the cycle counter: the handler of accesses makes
 * sure that it is still in place. NULL: no thread.
 */
extern void (*guard_at_work)(uint64_t now) __attribute__((visibility("hidden")));

/* Is there a pool? */
bool guard_has_pool(void);

/* Which end of its pages the nth block (from 0) of a call site is to be at. */
enum pmm_guard_bias guard_bias(uint32_t site, uint64_t nth);

/*
 * Is `address` in the pool? Its run then, or, in a guard page, the run behind which it is, or
 * else before which it is; a run that was never used does not count. UINT32_MAX for none.
 */
static inline bool guard_in_pool(uint64_t address)
{
	return address - guard_pool.start < guard_pool.bytes;
}

uint32_t guard_find(uint64_t address);

/*
 * The run whose block an access of `bytes` bytes (0 = not known) at `at` concerns: the one it
 * begins in, else one next to it, by where_is_next(). UINT32_MAX: there never was one near.
 */
uint32_t guard_owner(uint64_t at, uint64_t bytes);

/* The run of a live block that begins exactly at `address`, else UINT32_MAX. */
uint32_t guard_block(uint64_t address);

/* Lowest byte of the canary around a live block that is not as it was; false: all is well. */
bool guard_damage(uint32_t run, uint64_t *at);

/*
 * Take a live block out: one caller gets true, others (a double free) false. free_* are then the
 * caller's to set, and guard_close() to call: its pages become inaccessible, their contents are
 * gone.
 */
bool guard_release(uint32_t run);
void guard_close(uint32_t run);

/*
 * Let one access to a page of the pool through: open it, close it again. What a page of a released
 * block or between blocks held is lost, opened ones are zero. Safe in signal handlers; each open
 * has its close. While it is open no block is put there. False: the kernel refused, or no block was
 * ever near.
 */
bool guard_page_open(uint64_t page);
void guard_page_close(uint64_t page);

/*
 * The program may protect pages of its blocks itself: write barriers, guard pages of stacks. Is
 * that why it was stopped at `page`? It is when it is stopped twice at a page of the same live
 * block, which is open from before the block is live until after. What was seen last is kept by the
 * caller, for each thread, zeroed at first. False: ours, or to be made again.
 */
struct guard_stop;
bool guard_page_protected(uint64_t page, struct guard_stop *last);

/*
 * The program protects pages of the pool, or may do so unseen: those of released blocks are given
 * back what they had.
 */
void guard_protects(void);

/*
 * Where accesses are not let through one by one: open a page of the pool for good. What is on it
 * or next to it is not used again. False: the kernel refused.
 */
bool guard_page_give(uint64_t page);

/*
 * No more blocks from now on, and all pages beside and of blocks open for good, so that no access
 * is stopped any more. quiet: no thread is in the middle of opening or closing any. Releases
 * continue, but memory stays.
 */
void guard_disarm(bool quiet);

/* Blocks that were not released, ever. */
uint64_t guard_live(void);

/*
 * In a forked child before its first event: what other threads of the parent were in the middle of
 * is given up.
 */
void guard_forked(void);

#endif
