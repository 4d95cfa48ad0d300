/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own records of executable mappings. See perf_event_open(2): PERF_RECORD_MMAP2,
 * PERF_RECORD_COMM with PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_LOST.
 */
#include "src/kernel/map_events.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- records --------------------------------------------------------------------------------- */

/* Each record ends with what sample_type asks for: the time. */
#define TRAILER_BYTES	sizeof(uint64_t)

struct record_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char path[];			/* with its NUL, filled up to 8 bytes */
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

_Static_assert(sizeof(struct record_mmap) == 72, "PERF_RECORD_MMAP2");

/* Room for the largest that is asked for. */
union record {
	struct perf_event_header header;
	struct record_mmap mmap;
	struct record_comm comm;
	struct record_lost lost;
	char bytes[sizeof(struct record_mmap) + PATH_MAX + 64];
};

static int take_mapping(struct map_queue *q, const struct record_mmap *r, size_t bytes,
			uint64_t time_ns)
{
	size_t room = bytes - sizeof(*r) - TRAILER_BYTES;
	struct map_event e = {
		.time_ns = time_ns,
		.tgid = (pid_t)r->pid,
		.map = {
			.start = r->start,
			.end = r->start + r->bytes,
			.offset = r->offset,
			.ino = r->ino,
			.dev_major = r->dev_major,
			.dev_minor = r->dev_minor,
			.perms = PROC_MAP_EXEC,
		},
	};

	if (e.map.end <= e.map.start || !memchr(r->path, 0, room)) {
		q->damaged++;
		return 0;
	}
	e.map.path = strdup(r->path);
	if (!e.map.path)
		return -ENOMEM;
	if (!vec_push(&q->v, e))
		return 0;
	free(e.map.path);
	return -ENOMEM;
}

static int take_record(struct map_queue *q, const union record *r, size_t bytes)
{
	size_t body = bytes - TRAILER_BYTES;
	uint64_t time_ns;

	memcpy(&time_ns, r->bytes + body, sizeof(time_ns));
	switch (r->header.type) {
	case PERF_RECORD_MMAP2:
		if (body <= sizeof(r->mmap))
			break;
		/* 0: a process of another pid namespace */
		return (pid_t)r->mmap.pid > 0 ? take_mapping(q, &r->mmap, bytes, time_ns) : 0;
	case PERF_RECORD_COMM:
		if (body < sizeof(r->comm))
			break;
		if (!(r->header.misc & PERF_RECORD_MISC_COMM_EXEC) || (pid_t)r->comm.pid <= 0)
			return 0;
		return vec_push(&q->v, (struct map_event){ .time_ns = time_ns, .exec = true,
							   .tgid = (pid_t)r->comm.pid });
	case PERF_RECORD_LOST:
		if (body < sizeof(r->lost))
			break;
		q->lost += r->lost.lost;
		return 0;
	default:
		return 0;
	}
	q->damaged++;
	return 0;
}

/* Out of a ring, whose end a record may lie across. */
static void copy_out(void *to, const struct map_ring *ring, uint64_t from, size_t bytes)
{
	size_t at = from & (ring->bytes - 1);
	size_t first = bytes < ring->bytes - at ? bytes : ring->bytes - at;

	memcpy(to, (const char *)ring->data + at, first);
	memcpy((char *)to + first, ring->data, bytes - first);
}

int map_queue_take(struct map_queue *q, struct map_ring *ring, uint64_t head)
{
	union record r;

	while (ring->tail != head) {
		uint64_t left = head - ring->tail;
		size_t size;
		int rc = 0;

		if (left >= sizeof(r.header) && left <= ring->bytes)
			copy_out(&r.header, ring, ring->tail, sizeof(r.header));
		if (left < sizeof(r.header) || left > ring->bytes || r.header.size > left ||
		    r.header.size < sizeof(r.header) + TRAILER_BYTES) {
			q->damaged++;
			ring->tail = head;
			return 0;
		}
		size = r.header.size;
		if (size <= sizeof(r)) {
			copy_out(&r, ring, ring->tail, size);
			rc = take_record(q, &r, size);
		} else {
			q->damaged++;
		}
		ring->tail += size;
		if (rc)
			return rc;
	}
	return 0;
}

/* Of one time: as they came. Of two rings no two records of one process have the same time. */
static int by_time(const void *a, const void *b)
{
	const struct map_event *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* What was handed out last is done with. */
static void release_last(struct map_queue *q)
{
	if (!q->first)
		return;
	free(q->v.v[q->first - 1].map.path);
	q->v.v[q->first - 1].map.path = NULL;
}

void map_queue_sort(struct map_queue *q)
{
	release_last(q);
	q->v.nr -= q->first;
	if (q->first)
		memmove(q->v.v, q->v.v + q->first, q->v.nr * sizeof(*q->v.v));
	q->first = 0;
	vec_sort(&q->v, by_time);
}

const struct map_event *map_queue_next(struct map_queue *q, uint64_t until_ns)
{
	release_last(q);
	if (q->first == q->v.nr || q->v.v[q->first].time_ns > until_ns)
		return NULL;
	return &q->v.v[q->first++];
}

void map_queue_fini(struct map_queue *q)
{
	while (map_queue_next(q, UINT64_MAX))
		;
	vec_fini(&q->v);
	*q = (struct map_queue){ 0 };
}

/* ---- rings ----------------------------------------------------------------------------------- */

#define PAGE_BYTES	((size_t)sysconf(_SC_PAGESIZE))

struct map_processor {
	int fd;
	struct perf_event_mmap_page *page;	/* the ring's data follow */
	struct map_ring ring;
};

struct map_events {
	VEC(struct map_processor) processors;
	struct map_queue queue;
};

static int ring_open(struct map_events *m, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct map_processor p = { .ring.bytes = MAP_EVENTS_RING_BYTES };
	int rc;

	p.fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (p.fd < 0)
		return errno == ENODEV ? 0 : -errno;		/* not online */
	p.page = mmap(NULL, PAGE_BYTES + MAP_EVENTS_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      p.fd, 0);
	rc = p.page == MAP_FAILED ? -errno : 0;
	p.ring.data = (char *)p.page + PAGE_BYTES;
	if (!rc)
		rc = vec_push(&m->processors, p);
	if (!rc)
		return 0;
	if (p.page != MAP_FAILED)
		munmap(p.page, PAGE_BYTES + MAP_EVENTS_RING_BYTES);
	close(p.fd);
	return rc;
}

int map_events_open(struct map_events **out, struct err *e)
{
	struct map_events *m = calloc(1, sizeof(*m));
	long nr = sysconf(_SC_NPROCESSORS_CONF);
	int rc = m ? 0 : -ENOMEM;

	*out = NULL;
	for (long cpu = 0; !rc && cpu < nr; cpu++)
		rc = ring_open(m, (int)cpu);
	if (!rc) {
		*out = m;
		return 0;
	}
	map_events_close(m);
	return err_set(e, rc, "perf events cannot be opened: %s", strerror(-rc));
}

int map_events_drain(struct map_events *m)
{
	size_t before = m->queue.v.nr;
	int rc = 0;

	vec_each(&m->processors, p) {
		uint64_t head = __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);

		if (head == p->ring.tail)
			continue;
		rc |= map_queue_take(&m->queue, &p->ring, head);
		__atomic_store_n(&p->page->data_tail, p->ring.tail, __ATOMIC_RELEASE);
	}
	if (m->queue.v.nr != before)
		map_queue_sort(&m->queue);
	return rc ? -ENOMEM : 0;
}

const struct map_event *map_events_next(struct map_events *m, uint64_t until_ns)
{
	return map_queue_next(&m->queue, until_ns);
}

uint64_t map_events_lost(const struct map_events *m)
{
	return m->queue.lost + m->queue.damaged;
}

void map_events_close(struct map_events *m)
{
	if (!m)
		return;
	vec_each(&m->processors, p) {
		munmap(p->page, PAGE_BYTES + MAP_EVENTS_RING_BYTES);
		close(p->fd);
	}
	vec_fini(&m->processors);
	map_queue_fini(&m->queue);
	free(m);
}
