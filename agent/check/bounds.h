/*
 * Accesses of string and memory functions against the bounds of blocks, before they are made.
 *
 * Guarded blocks are known exactly. Of canaried ones only those whose start lies within a certain reach before the address
 * (doc/check.md), and of released ones only the start. What is not known is allowed.
 *
 * Safe in signal handlers; errno is not touched.
 */
#ifndef AGENT_CHECK_BOUNDS_H
#define AGENT_CHECK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/check/area.h"
#include "agent/sys.h"
#include "agent/unwind.h"
#include "include/pmm/check.h"

/* Are string functions checked? Set once the agent is on. */
extern bool bounds_on __attribute__((visibility("hidden")));

/* ... and blocks with canaries as well? */
extern bool bounds_canaried __attribute__((visibility("hidden")));

/* What heads are made of. */
extern uint64_t bounds_secret __attribute__((visibility("hidden")));

/* Could there be a block at p? A few instructions; most of what is no block is told apart by it, and all when functions are not checked. */
static inline bool bounds_suspect(const void *p)
{
	uint64_t at = (uint64_t)p;

	if (unlikely(at - areas.start < areas.end - areas.start))
		return true;
	return bounds_canaried && at >> PMM_ADDRESS_BITS == 0 && ((const pmm_ref *)(A.base + PMM_TOP_OFF(PMM_TABLE_HEAP)))[at >> 26];
}

/*
 * Bytes from `at` to the end of the block it lies in; SIZE_MAX: none known, 0: released, or beside a block. `bytes`: of which so many are
 * accessed in any case; with more of them more is done to find the block.
 */
size_t bounds_left_slow(const void *at, size_t bytes);

/*
 * Most pointers are to a block's start, and what the head says there lies beside what is accessed. It is trusted in what it allows only: it
 * may be left over from before. Not looked at where it is on another page.
 */
static inline size_t bounds_left(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p;
	const struct pmm_head *h = (const struct pmm_head *)at - 1;

	if (!bounds_suspect(p))
		return SIZE_MAX;
	if (!(at & 15) && at & (ARCH_PAGE - 1) && bytes && likely(at - areas.start >= areas.end - areas.start)) {
		uint64_t what = LOAD(h->what);

		if (likely(!((LOAD(h->seal) ^ pmm_seal(bounds_secret, at, what)) & PMM_SEAL_SURE)) && likely(what < PMM_HEAD_FREED)) {
			size_t size = what & ((1ull << PMM_HEAD_ALIGN_SHIFT) - 1);

			if (likely(bytes <= size))
				return size;
		}
	}
	return bounds_left_slow(p, bytes);
}

/* In the guard pool? Then bounds are known before anything is touched, and what must not be touched cannot be. */
static inline bool bounds_guarded(const void *p)
{
	return unlikely((uint64_t)p - areas.start < areas.end - areas.start);
}

/*
 * Does [at, at + bytes) stay in its block? For what is not in the pool found out from the memory itself, which is accessed anyway and so
 * costs no more misses of the cache: whoever leaves a block comes upon its canary, which tells whose it is. The range may be what was
 * accessed just now.
 */
bool bounds_fits(const void *at, size_t bytes);

/*
 * `function` is about to read or write [at, at + bytes). A finding when that begins in a live block and leaves it, or begins beside one or
 * in a released one; pointers into no known block are nothing. Returns how many bytes may be accessed without harm: all, unless
 * a finding was made.
 */
size_t bounds_check(const void *at, size_t bytes, enum pmm_access access, const char *function, const struct caller *from);

/* The same where bounds_left() said already that it leaves its block. */
size_t bounds_over(const void *at, size_t bytes, enum pmm_access access, const char *function, const struct caller *from);

/* A finding: `function` copies between ranges that overlap. */
void bounds_overlap(const void *to, const void *source, size_t bytes, const char *function, const struct caller *from);

/* In a forked child, which has tables of its own: what was found in its parent's is forgotten. */
void bounds_forked(void);

/* Has a finding told that this block's canary, or poison, is being overwritten? Once. */
bool bounds_told(uint64_t block);

#endif
