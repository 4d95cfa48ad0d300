/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records out of a ring of perf events. */
#include "src/kernel/perf/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES	((size_t)sysconf(_SC_PAGESIZE))

int perf_ring_map(struct perf_ring *ring, int fd, size_t bytes)
{
	void *page = mmap(NULL, PAGE_BYTES + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct perf_ring){ 0 };
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	ring->data = (char *)page + PAGE_BYTES;
	ring->bytes = bytes;
	return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, PAGE_BYTES + ring->bytes);
	*ring = (struct perf_ring){ 0 };
}

uint64_t perf_ring_head(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Out of a ring, whose end they may lie across. */
static void copy_out(void *to, const struct perf_ring *ring, uint64_t from, size_t bytes)
{
	size_t at = from & (ring->bytes - 1);
	size_t first = bytes < ring->bytes - at ? bytes : ring->bytes - at;

	memcpy(to, (const char *)ring->data + at, first);
	memcpy((char *)to + first, ring->data, bytes - first);
}

static void tell_tail(struct perf_ring *ring)
{
	if (ring->page)
		__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

const struct perf_event_header *perf_ring_next(struct perf_ring *ring, uint64_t head, size_t least,
					       void *room)
{
	struct perf_event_header h = { 0 };
	uint64_t left = head - ring->tail;
	size_t at = ring->tail & (ring->bytes - 1);

	if (!left)
		return NULL;
	if (left >= sizeof(h) && left <= ring->bytes)
		copy_out(&h, ring, ring->tail, sizeof(h));
	if (h.size < sizeof(h) || h.size > left || h.size < least || h.size % 8) {
		ring->damaged++;
		ring->tail = head;
		tell_tail(ring);
		return NULL;
	}
	if (h.size <= ring->bytes - at)
		return (const void *)((const char *)ring->data + at);
	copy_out(room, ring, ring->tail, h.size);
	return room;
}

void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *h)
{
	ring->tail += h->size;
	tell_tail(ring);
}

struct record_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char path[];			/* with its NUL, filled up to 8 bytes */
};

_Static_assert(sizeof(struct record_mmap) == 72, "PERF_RECORD_MMAP2");

static uint32_t perms_of(const struct record_mmap *r)
{
	return (r->prot & PROT_READ ? PROC_MAP_READ : 0u) |
	       (r->prot & PROT_WRITE ? PROC_MAP_WRITE : 0u) |
	       (r->prot & PROT_EXEC ? PROC_MAP_EXEC : 0u) |
	       ((r->flags & MAP_TYPE) == MAP_SHARED ? PROC_MAP_SHARED : 0u);
}

bool perf_mapping_read(const struct perf_event_header *h, size_t bytes, struct perf_mapping *out)
{
	const struct record_mmap *r = (const void *)h;

	if (bytes <= sizeof(*r) || bytes > h->size || r->start + r->bytes <= r->start ||
	    !memchr(r->path, 0, bytes - sizeof(*r)))
		return false;
	*out = (struct perf_mapping){
		.pid = r->pid,
		.tid = r->tid,
		.map = {
			.start = r->start,
			.end = r->start + r->bytes,
			.offset = r->offset,
			.ino = r->ino,
			.dev_major = r->dev_major,
			.dev_minor = r->dev_minor,
			.perms = perms_of(r),
			.path = (char *)r->path,
		},
		.prot = r->prot,
		.flags = r->flags,
	};
	return true;
}
