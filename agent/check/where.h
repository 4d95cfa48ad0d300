/* SPDX-License-Identifier: MIT */
/*
 * Where a guarded block is in its pages, and whose an access beside guarded blocks is: arithmetic
 * alone, tested over all sizes and distances.
 */
#ifndef AGENT_CHECK_WHERE_H
#define AGENT_CHECK_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/check.h"

/*
 * What malloc gives each block at least: glibc's and musl's do; jemalloc, mimalloc and tcmalloc do
 * from 16 bytes on.
 */
#define WHERE_NATURAL	16u

/* One of so many blocks of a call site is at the start of its pages. */
#define WHERE_TURN	8u

/*
 * No object in a block needs more alignment than divides the block's size, unless a header of
 * another size is before it.
 */
static inline size_t where_divides(size_t size)
{
	size_t low = size & -size;

	return low && low < WHERE_NATURAL ? low : WHERE_NATURAL;
}

/*
 * The alignment of a block for which `asked` was asked, a power of two or 0. flags: enum
 * pmm_check_flags.
 */
static inline size_t where_align(size_t size, size_t asked, uint32_t flags)
{
	size_t least = flags & PMM_CHECK_EXACT ? where_divides(size) : WHERE_NATURAL;

	return asked > least ? asked : least;
}

/* The block's address in its pages [pages, pages + bytes). */
static inline uint64_t where_block(uint64_t pages, uint64_t bytes, size_t size, size_t align,
				   enum pmm_guard_bias bias)
{
	return bias == PMM_GUARD_LEFT ? pages : (pages + bytes - size) & ~(uint64_t)(align - 1);
}

/*
 * Which end of its pages the nth block (from 0) of a call site is at, unless the user said: of
 * each WHERE_TURN in a row one at the start, never the first of all. Which one follows no pattern
 * that a program may have, and is the same in each run that makes its calls in the same order.
 */
static inline enum pmm_guard_bias where_bias(uint32_t site, uint64_t nth, uint32_t flags)
{
	uint64_t turn = nth / WHERE_TURN, h = (site + (turn << 32)) * 0x9e3779b97f4a7c15ull;
	uint32_t left = (uint32_t)(h >> 40) % (turn ? WHERE_TURN : WHERE_TURN - 1) + !turn;

	if (flags & (PMM_CHECK_LEFT | PMM_CHECK_RIGHT | PMM_CHECK_EXACT))
		return flags & PMM_CHECK_LEFT ? PMM_GUARD_LEFT : PMM_GUARD_RIGHT;
	return nth % WHERE_TURN == left ? PMM_GUARD_LEFT : PMM_GUARD_RIGHT;
}

/*
 * An access of `bytes` bytes (0 = not known) at `at` begins between two blocks, one that ends at
 * `end` and one that begins at `next`: end <= at < next. Is it the latter's? What reaches into that
 * one is, but for what begins right behind the former: a pointer to there is one that C lets
 * programs have. Else the nearer one has it, the former when both are as near.
 */
static inline bool where_is_next(uint64_t end, uint64_t next, uint64_t at, uint64_t bytes)
{
	return at != end && (bytes > next - at || next - at <= at - end);
}

#endif
