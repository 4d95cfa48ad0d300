/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and threads for a search: pages that are counted, and a function run by several threads at
 * once.
 */
#ifndef ANALYZE_REACH_REACH_SPACE_H
#define ANALYZE_REACH_REACH_SPACE_H

#include <stddef.h>
#include <stdint.h>

struct reach_space {
	uint64_t now, peak;	/* bytes; changed by all threads */
};

/*
 * Zeroed pages, huge ones where the kernel has them. NULL when out of memory. reach_give() with the
 * same size. From all threads.
 */
void *reach_take(struct reach_space *s, size_t bytes);
void reach_give(struct reach_space *s, void *p, size_t bytes);

/*
 * As reach_take(), but counted only as far as reach_count() says it is in use: for what may stay
 * mostly untouched.
 */
void *reach_reserve(size_t bytes);
void reach_unreserve(void *p, size_t bytes);
void reach_count(struct reach_space *s, int64_t bytes);

/* Size of a set of so many bits. */
static inline size_t reach_bits_bytes(uint64_t nr)
{
	return (nr + 63) / 64 * sizeof(uint64_t);
}

/*
 * Call work(arg, 0) to work(arg, nr - 1), each in a thread of its own (0 in the caller's), and wait
 * for all. Where threads cannot be had, the missing calls are not made: work must be shared out as
 * it is done.
 */
void reach_team(unsigned nr, void (*work)(void *arg, unsigned who), void *arg);

#endif
