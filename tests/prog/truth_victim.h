/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the victims share that keep a truth of their blocks while they allocate at random:
 * kill_victim, readers_victim, precopy_victim.
 */
#ifndef TESTS_PROG_TRUTH_VICTIM_H
#define TESTS_PROG_TRUTH_VICTIM_H

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing is moved across this: a thread that is stopped or dies anywhere is seen as the code says. */
#define ORDER() atomic_signal_fence(memory_order_seq_cst)

/* Says what does not work, and aborts. */
static inline __attribute__((noreturn)) void fails(const char *what)
{
	dprintf(2, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	abort();
}

/* A random number of 56 bits. Its state is never 0. */
static inline uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 8;
}

/* A call of posix_memalign() for a function that is a call site: it has no name of its own. */
static inline __attribute__((always_inline)) void *posix(size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, 128, size) ? NULL : p;
}

#endif
