/* SPDX-License-Identifier: MIT */
/*
 * The quick look at a pointer that a function is about to access, in the entry of its hook: no
 * calls, no frame, and no more memory than is accessed anyway. It lets pass what is surely right;
 * for all else there is agent/strings/bounds.h.
 *
 * All bytes of canary and of poison have their highest bit set, and behind each block there are
 * sixteen at least, aligned. So a range leaves no block, and is in no released one, unless some
 * sixteen aligned bytes that it touches are all like that, or its last byte and the next sixteen
 * are (canary fills up the block's last sixteen).
 */
#ifndef AGENT_CHECK_QUICK_H
#define AGENT_CHECK_QUICK_H

#include "agent/strings/bounds.h"
#include "arch/agent_lanes.h"

#define QUICK_BYTES	256u		/* more are not gone through */

/*
 * Is there no sign of canary or poison in [p, p + bytes), bytes > 0? Poison behind its beginning
 * belongs only to the block that it begins in.
 */
static inline __attribute__((always_inline)) bool quick_clean(const void *p, size_t bytes)
{
	const char *last = (const char *)p + bytes - 1,
		   *first = (const char *)((uint64_t)p & ~15ull), *at = first;

	do {
		if (unlikely(arch_lanes_high(at) == ARCH_LANES_ALL) &&
		    (at == first || !arch_lanes_are(at, PMM_POISON_BYTE)))
			return false;
		at += ARCH_LANES;
	} while (at <= last);
	if (*(const signed char *)last >= 0)
		return true;
	return (uint64_t)at % ARCH_PAGE &&
	       (last[ARCH_LANES] != *last || arch_lanes_high(at) != ARCH_LANES_ALL ||
		arch_lanes_are(at, PMM_POISON_BYTE));
}

/*
 * May [p, p + bytes), bytes > 0, be accessed where canaried blocks are? `start`: it is likely to be
 * a block's start and new, as destinations are; what is there is then of no use.
 */
static inline __attribute__((always_inline)) bool quick_look(const void *p, size_t bytes,
							     bool start)
{
	if ((start || bytes > QUICK_BYTES) && bounds_head_allows(p, bytes))
		return true;
	return likely(bytes <= QUICK_BYTES) && quick_clean(p, bytes);
}

/* May [p, p + bytes) be accessed? */
static inline __attribute__((always_inline)) bool quick_fits(const void *p, size_t bytes,
							     bool start)
{
	if (bounds_guarded(p))
		return false;
	if (!bounds_canaried(p) || !bytes)
		return true;
	return quick_look(p, bytes, start);
}

/* The same of two ranges, which costs less than one after the other. */
static inline __attribute__((always_inline)) bool quick_both_fit(const void *a, const void *b,
								 size_t bytes, bool start)
{
	bool in_a, in_b;

	if (bounds_guarded(a) || bounds_guarded(b))
		return false;
	in_a = bounds_canaried(a);
	in_b = bounds_canaried(b);
	if (!(in_a | in_b) || !bytes)
		return true;
	return (!in_a || quick_look(a, bytes, start)) && (!in_b || quick_look(b, bytes, false));
}

/* Are `bytes` bytes from p on on one page? */
static inline __attribute__((always_inline)) bool quick_whole(const void *p, size_t bytes)
{
	return likely((uint64_t)p % ARCH_PAGE <= ARCH_PAGE - bytes);
}

#define QUICK_LANES	4u

/*
 * The length of the string at s, which is in no guarded block, if it is short and there is no sign
 * of canary or poison.
 */
static inline __attribute__((always_inline)) bool quick_length(const char *s, size_t *length)
{
	const char *at = (const char *)((uint64_t)s & ~15ull);
	uint32_t high, zero = arch_lanes_zero(at, &high) >> (s - at);

	if (likely(zero)) {
		*length = (unsigned)__builtin_ctz(zero);
		return true;
	}
	for (unsigned i = 1; i < QUICK_LANES && high != ARCH_LANES_ALL; i++) {
		at += ARCH_LANES;
		zero = arch_lanes_zero(at, &high);
		if (zero) {
			*length = (size_t)(at - s) + (unsigned)__builtin_ctz(zero);
			return true;
		}
	}
	return false;
}

/*
 * May a comparison of strings be made that looks at n bytes of each at most? Of text up to the
 * first difference or the end.
 */
static inline __attribute__((always_inline)) bool quick_compares(const char *a, const char *b,
								 size_t n)
{
	uint32_t end, high;

	if (bounds_guarded(a) || bounds_guarded(b))
		return false;
	if (!bounds_canaried(a) && !bounds_canaried(b))
		return true;
	if (!n)
		return true;
	for (unsigned i = 0;
	     i < QUICK_LANES && quick_whole(a, ARCH_LANES) && quick_whole(b, ARCH_LANES); i++) {
		end = arch_lanes_end(a, b, &high) | (n <= ARCH_LANES ? 1u << (n - 1) : 0);
		if (end)
			return likely(!(high & (end ^ (end - 1))));
		if (unlikely(high))
			break;
		a += ARCH_LANES;
		b += ARCH_LANES;
		n -= ARCH_LANES;
	}
	return false;
}

#endif
