/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of a ring of BPF programs (BPF_MAP_TYPE_RINGBUF).
 *
 * libbpf's own maps the data twice, one behind the other, so that each record is in one piece; the
 * kernel counts both as resident memory. This one maps them once and puts the pieces of a record
 * that is at the end of the ring together.
 *
 *	event_ring_open(&ring, map, map_bytes, MAX_RECORD);
 *	nr = event_ring_read(&ring, take, arg);
 *	event_ring_close(&ring);
 */
#ifndef KERNEL_EVENT_RING_H
#define KERNEL_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

struct event_ring {
	unsigned long *consumer;		/* how far it was read; the kernel looks at it */
	const unsigned long *producer;		/* how far it was written */
	const unsigned char *data;
	size_t bytes, page, max_record;
	void *whole;				/* max_record bytes */
};

/* A record; it goes with the call. Not 0: reading ends with that. */
typedef int event_ring_take(void *arg, const void *record, size_t bytes);

/*
 * `map`: the descriptor of a map of `bytes`. Records of more than max_record are left out. 0 or
 * -errno.
 */
int event_ring_open(struct event_ring *r, int map, size_t bytes, size_t max_record);

/* Of one that is zeros too. */
void event_ring_close(struct event_ring *r);

/* All records that are there. 0, or what `take` has returned. */
int event_ring_read(struct event_ring *r, event_ring_take *take, void *arg);

#endif
