/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue of records for a journal whose disk does not keep up: what grows, steadily, and is not
 * lost.
 */
#ifndef PMMD_QUEUE_H
#define PMMD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

enum { QUEUE_TICKS = 10 };	/* a second: so often a record comes while it grows */

struct record;

/* Zero it. */
struct queue {
	struct record *first, *last;
	size_t nr;
	size_t bytes;
	uint64_t rate;		/* bytes a second */
	uint64_t tick;		/* records that came since it began to grow */
	uint64_t ticks;		/* that will have come at its end; the same: it does not grow */
};

/* From now on it grows, by rate * seconds bytes in all, whatever it did before. */
void queue_grow(struct queue *queue, uint64_t rate, uint64_t seconds);
/* So many ticks have passed. 0, or -ENOMEM: what could not be had is left out. */
int queue_tick(struct queue *queue, uint64_t nr);
/* Writes all records: they are gone. It does not grow any more. Returns how many there were. */
size_t queue_drain(struct queue *queue);

#endif
