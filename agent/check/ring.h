/* SPDX-License-Identifier: MIT */
/*
 * A first-in-first-out queue of numbers in an array, for any number of threads, without locks.
 *
 * A thread that stops for ever in the middle of an operation, or that a fork leaves behind, holds
 * up no other thread: a number that it put in too late is met one round later, and one that it had
 * taken out is lost.
 */
#ifndef AGENT_CHECK_RING_H
#define AGENT_CHECK_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

#define RING_NONE UINT32_MAX

/* Zeroed but for cell, an array of mask + 1, a power of two. */
struct ring {
	uint64_t head __attribute__((aligned(64)));	/* position of the next one out */
	uint64_t tail __attribute__((aligned(64)));	/* ... of the next one in */
	uint32_t *cell __attribute__((aligned(64)));	/* number + 1; 0 = empty */
	uint64_t mask;
};

/* Numbers in the queue, about. */
static inline uint64_t ring_length(const struct ring *r)
{
	uint64_t head = LOAD_ACQUIRE(r->head), tail = LOAD(r->tail);

	return tail > head ? tail - head : 0;
}

/* False: it is full. */
static inline bool ring_push(struct ring *r, uint32_t nr)
{
	for (uint64_t tries = 0; tries <= r->mask; tries++) {
		uint32_t *cell = &r->cell[ADD(r->tail, 1) & r->mask];
		uint32_t empty = 0;

		/* taken when what was put in too late a round ago is still in it */
		if (CAS(*cell, empty, nr + 1))
			return true;
	}
	return false;
}

/* The oldest, or RING_NONE. */
static inline uint32_t ring_pop(struct ring *r)
{
	uint64_t head = LOAD_ACQUIRE(r->head);

	while (head < LOAD_ACQUIRE(r->tail)) {
		uint32_t found;

		if (!CAS(r->head, head, head + 1))
			continue;
		found = __atomic_exchange_n(&r->cell[head & r->mask], 0, __ATOMIC_ACQ_REL);
		if (found)
			return found - 1;
		head = LOAD_ACQUIRE(r->head);	/* its owner is not ready yet: passed over */
	}
	return RING_NONE;
}

#endif
