/* SPDX-License-Identifier: MIT */
/*
 * Accesses of string and memory functions against the bounds of blocks, before they are made.
 *
 * Guarded blocks are known exactly. Of canaried ones only those whose start is within a certain
 * reach before the address (doc/check.md), and of released ones the start, or poison. What is not
 * known is allowed.
 *
 * Safe in signal handlers; errno is not touched.
 */
#ifndef AGENT_STRINGS_BOUNDS_H
#define AGENT_STRINGS_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/block.h"
#include "agent/sys.h"
#include "agent/unwind/unwind.h"
#include "include/pmm/check.h"

/* Are string functions checked? */
extern bool bounds_on __attribute__((visibility("hidden")));

/* log2 of the bytes that an entry of the top of the heap's table covers */
#define BOUNDS_TOP_SHIFT	(BLOCK_HEAP_SHIFT + PMM_LEAF_BITS + BLOCK_HEAP_MID_BITS)

/*
 * Where blocks may be whose accesses are checked; all zero: nowhere. Constant once the program
 * runs, but for what is said.
 */
struct bounds_where {
	uint64_t pool, pool_bytes;	/* guarded ones */
	/*
	 * canaried ones: so many entries of the block tables' top are looked at; 0 when checking
	 * has ended
	 */
	uint64_t tops;
};

extern struct bounds_where bounds_where __attribute__((visibility("hidden")));

/* What heads are made of. */
extern uint64_t bounds_secret __attribute__((visibility("hidden")));

/*
 * In the guard pool? Then bounds are known before anything is touched, and what must not be touched
 * cannot be.
 */
static inline bool bounds_guarded(const void *p)
{
	return unlikely((uint64_t)p - bounds_where.pool < bounds_where.pool_bytes);
}

/* Have blocks begun in this part of the heap, of 1 << BOUNDS_TOP_SHIFT bytes? */
static inline bool bounds_part(uint64_t top)
{
	return ((const pmm_ref *)(agent.base + PMM_TOP_OFF(PMM_TABLE_HEAP)))[top];
}

/*
 * Could there be a canaried block around p that is to be looked at? A few instructions, which rule
 * out most of what is no block. A block may begin in one part of the heap and end in the next,
 * where no other begins. A child that has no ledger yet cannot tell.
 */
static inline bool bounds_canaried(const void *p)
{
	uint64_t top = (uint64_t)p >> BOUNDS_TOP_SHIFT;

	return top < bounds_where.tops &&
	       (!LOAD(*agent.alive) ||
		bounds_part(top) || bounds_part(top - !!top));
}

/* Could there be a block at p? */
static inline bool bounds_suspect(const void *p)
{
	return bounds_guarded(p) || bounds_canaried(p);
}

/*
 * Bytes from `at` to the end of the block it is in; SIZE_MAX: none known, 0: released, or beside
 * a block. `bytes`: of which so many are accessed in any case; with more of them more is done to
 * find the block.
 */
size_t bounds_left_slow(const void *at, size_t bytes);

#define BOUNDS_SIZES	(1ull << PMM_HEAD_ALIGN_SHIFT)

/*
 * Does what is before p look like the head of a live block of at least `bytes` bytes? What it
 * says is trusted in what it allows only: it may be left over from before. Most accesses are to a
 * block's start, and there it is beside what is accessed. Not looked at where it is on another
 * page, nor where an alignment was asked for.
 */
static inline bool bounds_head_allows(const void *p, size_t bytes)
{
	const struct pmm_head *h = (const struct pmm_head *)p - 1;
	uint64_t what;

	if ((uint64_t)p % 16 || (uint64_t)p % ARCH_PAGE == 0)
		return false;
	what = LOAD(h->what);
	return what >= bytes && what < BOUNDS_SIZES &&
	       (LOAD(h->seal) & PMM_CANARY_HIGH) == PMM_CANARY_HIGH;
}

/* Is it the head of the block at `at` for sure? */
static inline bool bounds_sealed(const struct pmm_head *h, uint64_t at)
{
	return !((LOAD(h->seal) ^ pmm_seal(bounds_secret, at, LOAD(h->what))) & PMM_SEAL_SURE);
}

static inline size_t bounds_left(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p;
	const struct pmm_head *h = (const struct pmm_head *)at - 1;

	if (!bounds_suspect(p))
		return SIZE_MAX;
	if (bytes && !bounds_guarded(p) && bounds_head_allows(p, bytes) &&
	    likely(bounds_sealed(h, at)))
		return LOAD(h->what);
	return bounds_left_slow(p, bytes);
}

/*
 * Does [at, at + bytes) stay in its block? For what is not in the pool found out from the memory
 * itself, which is accessed anyway and so costs no more misses of the cache: an access that leaves
 * a block meets its canary, which identifies the block. The range may be what was accessed just
 * now.
 */
bool bounds_fits(const void *at, size_t bytes);

/*
 * `function` is about to read or write [at, at + bytes). A finding when that begins in a live block
 * and leaves it, or begins beside one or in a released one; pointers into no known block are
 * nothing. Returns how many bytes may be accessed without harm: all, unless a finding was made.
 */
size_t bounds_check(const void *at, size_t bytes, enum pmm_access access, const char *function,
		    const struct caller *from);

/* The same where bounds_left() said already that it leaves its block. */
size_t bounds_over(const void *at, size_t bytes, enum pmm_access access, const char *function,
		   const struct caller *from);

/*
 * Bytes of [at, at + bytes), which begins before a live guarded block and reaches into it, up to
 * that block. 0: it does not; else less than `bytes`.
 */
size_t bounds_before(const void *at, size_t bytes);

/*
 * The block that an access of `bytes` bytes (SIZE_MAX: not known) at `at` concerns, if it is known
 * for sure.
 */
struct check_block;
bool bounds_block(uint64_t at, size_t bytes, struct check_block *out);

/* A finding: `function` copies between ranges that overlap. */
void bounds_overlap(const void *to, const void *source, size_t bytes, const char *function,
		    const struct caller *from);

/* Checking has ended: only guarded blocks are looked at. */
void bounds_end(void);

/* In a forked child, which has tables of its own: what was found in its parent's is forgotten. */
void bounds_forked(void);

#endif
