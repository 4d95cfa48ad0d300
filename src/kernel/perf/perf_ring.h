/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring into which the kernel writes records of perf events (perf_event_open(2)), read one record
 * after the other. What is in it is outside data: sizes are checked, nothing outside is read.
 *
 *	perf_ring_map(&ring, fd, bytes);
 *	head = perf_ring_head(&ring);
 *	while ((h = perf_ring_next(&ring, head, least, room))) {
 *		...
 *		perf_ring_pass(&ring, h);
 *	}
 *	perf_ring_unmap(&ring);
 */
#ifndef KERNEL_PERF_PERF_RING_H
#define KERNEL_PERF_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/proc/proc.h"

#define PERF_MAX_RECORD	65536u	/* its size has 16 bits */

struct perf_ring {
	const void *data;		/* `bytes` of them, a power of two */
	size_t bytes;
	uint64_t tail;			/* read so far */
	uint64_t damaged;		/* records that are none; what followed them was left out */
	struct perf_event_mmap_page *page; /* NULL: memory of the caller's */
};

/* The ring of an event: so many bytes and a page. 0 or -errno; -EPERM: too much locked memory. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t bytes);
void perf_ring_unmap(struct perf_ring *ring);

/* How far the kernel has written. */
uint64_t perf_ring_head(const struct perf_ring *ring);

/*
 * The next record up to `head`, of at least `least` bytes: in the ring, or, where it lies across
 * the end, in `room`, which has PERF_MAX_RECORD. Valid until perf_ring_pass(). NULL: there is none.
 * A size that cannot be ends it: the rest up to `head` is left out.
 */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring, uint64_t head, size_t least,
					       void *room);

/* It was read; its room is the kernel's again. */
void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *h);

/* PERF_RECORD_MMAP2 */
struct perf_mapping {
	uint32_t pid, tid;
	struct proc_map map;		/* path: in the record, "//anon" = anonymous */
	uint32_t prot, flags;		/* as mmap() has them, as far as the kernel says */
};

/* `bytes`: of the record without what sample_type adds to its end. False: it is none. */
bool perf_mapping_read(const struct perf_event_header *h, size_t bytes, struct perf_mapping *out);

#endif
