/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own records of executable mappings. See perf_event_open(2): PERF_RECORD_MMAP2,
 * PERF_RECORD_COMM with PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_LOST.
 */
#include "src/kernel/map_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- records --------------------------------------------------------------------------------- */

/* Each record ends with what sample_type asks for: the time. */
#define TRAILER_BYTES	sizeof(uint64_t)

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int take_mapping(struct map_queue *q, const struct perf_event_header *h, size_t body,
			uint64_t time_ns)
{
	struct map_event e = { .time_ns = time_ns };
	struct perf_mapping m;

	if (!perf_mapping_read(h, body, &m)) {
		q->damaged++;
		return 0;
	}
	/* 0: a process of another pid namespace */
	if ((pid_t)m.pid <= 0)
		return 0;
	e.tgid = (pid_t)m.pid;
	e.map = m.map;
	e.map.perms = PROC_MAP_EXEC;
	e.map.path = strdup(m.map.path);
	if (!e.map.path)
		return -ENOMEM;
	if (!vec_push(&q->v, e))
		return 0;
	free(e.map.path);
	return -ENOMEM;
}

static int take_comm(struct map_queue *q, const struct record_comm *r, uint64_t time_ns)
{
	if (!(r->header.misc & PERF_RECORD_MISC_COMM_EXEC) || (pid_t)r->pid <= 0)
		return 0;
	return vec_push(&q->v, (struct map_event){ .time_ns = time_ns, .exec = true,
						   .tgid = (pid_t)r->pid });
}

static int take_record(struct map_queue *q, const struct perf_event_header *h)
{
	size_t body = h->size - TRAILER_BYTES;
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)h + body, sizeof(time_ns));
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return take_mapping(q, h, body, time_ns);
	case PERF_RECORD_COMM:
		if (body < sizeof(struct record_comm))
			break;
		return take_comm(q, (const void *)h, time_ns);
	case PERF_RECORD_LOST:
		if (body < sizeof(struct record_lost))
			break;
		q->lost += ((const struct record_lost *)h)->lost;
		return 0;
	default:
		return 0;
	}
	q->damaged++;
	return 0;
}

int map_queue_take(struct map_queue *q, struct perf_ring *ring, uint64_t head)
{
	const struct perf_event_header *h;
	int rc = 0;

	ring->damaged = 0;
	while (!rc && (h = perf_ring_next(ring, head, sizeof(*h) + TRAILER_BYTES, q->room))) {
		rc = take_record(q, h);
		perf_ring_pass(ring, h);
	}
	q->damaged += ring->damaged;
	return rc;
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

struct map_processor {
	int fd;
	struct perf_ring ring;
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
	struct map_processor p = { 0 };
	int rc;

	p.fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (p.fd < 0)
		return errno == ENODEV ? 0 : -errno;		/* not online */
	rc = perf_ring_map(&p.ring, p.fd, MAP_EVENTS_RING_BYTES);
	if (!rc)
		rc = vec_push(&m->processors, p);
	if (!rc)
		return 0;
	perf_ring_unmap(&p.ring);
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

/* The kernel does not let a fork inherit what is mapped of a perf event. */
int map_events_forked(struct map_events *m)
{
	int rc = 0;

	vec_each(&m->processors, p) {
		uint64_t tail = p->ring.tail;

		p->ring.page = NULL;
		rc = perf_ring_map(&p->ring, p->fd, MAP_EVENTS_RING_BYTES);
		if (rc)
			return rc;
		p->ring.tail = p->ring.page->data_tail;
		/* of an old ring that nobody had mapped any more nothing is left */
		m->queue.lost += p->ring.tail != tail;
	}
	return 0;
}

int map_events_drain(struct map_events *m)
{
	size_t before = m->queue.v.nr;
	int rc = 0;

	vec_each(&m->processors, p) {
		uint64_t head = perf_ring_head(&p->ring);

		if (head != p->ring.tail)
			rc |= map_queue_take(&m->queue, &p->ring, head);
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
		perf_ring_unmap(&p->ring);
		close(p->fd);
	}
	vec_fini(&m->processors);
	map_queue_fini(&m->queue);
	free(m);
}
