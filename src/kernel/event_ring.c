/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map's pages: how far it was read, how far it was written, the data (Linux,
 * Documentation/bpf/ringbuf.rst). A record is preceded by a word with its size, and flags: it is
 * not complete yet, it is void. Sizes are rounded up to 8, so that word is in one piece.
 */
#include "src/kernel/event_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int event_ring_open(struct event_ring *r, int map, size_t bytes, size_t max_record)
{
	void *at;

	*r = (struct event_ring){ .bytes = bytes, .page = sysconf(_SC_PAGESIZE),
			    .max_record = max_record };
	r->whole = malloc(max_record);
	if (!r->whole)
		return -ENOMEM;
	at = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (at != MAP_FAILED) {
		r->consumer = at;
		at = mmap(NULL, r->page + bytes, PROT_READ, MAP_SHARED, map, (off_t)r->page);
	}
	if (at == MAP_FAILED) {
		int rc = -errno;

		event_ring_close(r);
		return rc;
	}
	r->producer = at;
	r->data = (const unsigned char *)at + r->page;
	return 0;
}

void event_ring_close(struct event_ring *r)
{
	if (r->producer)
		munmap((void *)r->producer, r->page + r->bytes);
	if (r->consumer)
		munmap(r->consumer, r->page);
	free(r->whole);
	*r = (struct event_ring){ 0 };
}

/* The record of n bytes at `at`, in one piece. */
static const void *whole_record(const struct event_ring *r, unsigned long at, size_t n)
{
	size_t start = at & (r->bytes - 1), first = r->bytes - start;

	if (n <= first)
		return r->data + start;
	memcpy(r->whole, r->data + start, first);
	memcpy((char *)r->whole + first, r->data, n - first);
	return r->whole;
}

/* The record at `at`. False: it is not complete, nor may others behind it be read. */
static bool read_one(const struct event_ring *r, unsigned long *at, event_ring_take *take,
		     void *arg, int *rc)
{
	const uint32_t *head = (const uint32_t *)(r->data + (*at & (r->bytes - 1)));
	uint32_t word = __atomic_load_n(head, __ATOMIC_ACQUIRE);
	size_t n = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	if (word & BPF_RINGBUF_BUSY_BIT)
		return false;
	if (!(word & BPF_RINGBUF_DISCARD_BIT) && n <= r->max_record)
		*rc = take(arg, whole_record(r, *at + BPF_RINGBUF_HDR_SZ, n), n);
	*at += (n + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	return true;
}

int event_ring_read(struct event_ring *r, event_ring_take *take, void *arg)
{
	unsigned long at = *r->consumer, end;
	bool on = true;
	int rc = 0;

	while (on && !rc) {
		end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
		if (at >= end)
			break;
		while (at < end && !rc && (on = read_one(r, &at, take, arg, &rc)))
			__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	}
	return rc;
}
