/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf events of threads, and the rings of all processors read as one. */
#include "src/kernel/perf/perf_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/trace_arch.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST	(1u << 4)	/* Linux 6.0 */
#endif

#define LEAST_RING	(64u << 10)
#define SPARE_PART	4
#define NR_RINGS	2

static int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr a = *attr;
	long fd = syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* ---- rings ---- */

/* An event of our own that sees nothing: it holds the ring, whichever threads come and go. */
static int owner_open(int cpu, size_t bytes)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(bytes / 4),
	};

	return event_open(&attr, 0, cpu);
}

static void reader_fini(struct perf_reader *r)
{
	perf_ring_unmap(&r->ring);
	if (r->owner >= 0)
		close(r->owner);
	free(r->room);
	free(r->queue);
}

static void readers_fini(struct perf_set *s)
{
	vec_each(&s->readers, r)
		reader_fini(r);
	s->readers.nr = 0;
}

static int reader_add(struct perf_set *s, int cpu, bool spare, size_t bytes)
{
	size_t room = spare ? bytes / SPARE_PART : bytes;
	struct perf_reader r = { .cpu = cpu, .spare = spare, .owner = owner_open(cpu, room) };
	struct epoll_event event = { .events = EPOLLIN };
	int rc;

	if (r.owner < 0)
		return r.owner;
	r.room = malloc(PERF_MAX_RECORD);
	rc = r.room ? perf_ring_map(&r.ring, r.owner, room) : -ENOMEM;
	s->rings_refused = rc == -EPERM;
	if (!rc && epoll_ctl(s->filling, EPOLL_CTL_ADD, r.owner, &event))
		rc = -errno;
	if (!rc)
		rc = vec_push(&s->readers, r);
	if (rc)
		reader_fini(&r);
	return rc;
}

static bool is_used(const struct perf_set *s, bool spare)
{
	for (unsigned i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].spare == spare)
			return true;
	return false;
}

static int readers_add(struct perf_set *s, size_t bytes)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);
	int rc = 0;

	for (int cpu = 0; !rc && cpu < nr; cpu++) {
		rc = reader_add(s, cpu, false, bytes);
		if (!rc && is_used(s, true))
			rc = reader_add(s, cpu, true, bytes);
		if (rc == -ENODEV)		/* not online */
			rc = 0;
	}
	return rc;
}

int perf_set_init(struct perf_set *s, size_t bytes, size_t queue_bytes)
{
	size_t nr = 0;
	int rc;

	s->counts_lost = true;
	s->filling = epoll_create1(EPOLL_CLOEXEC);
	if (s->filling < 0)
		return -errno;
	do {
		s->ring_bytes = bytes;
		rc = readers_add(s, bytes);
		if (rc)
			readers_fini(s);
		bytes /= 2;
	} while (rc == -EPERM && bytes >= LEAST_RING);
	if (rc == -EPERM && s->rings_refused)
		rc = -ENOBUFS;
	vec_each(&s->readers, r)
		nr += !r->spare;
	s->queue_bytes = nr ? queue_bytes / nr : 0;
	return rc;
}

/* ---- events ---- */

static struct perf_event_attr attr_of(const struct perf_set *s, const struct perf_kind *k,
				      bool at_exec)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = k->type,
		.config = k->config,
		.sample_period = k->period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = at_exec,
		.enable_on_exec = at_exec,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = k->side,
		.mmap2 = k->side,
		.mmap_data = k->side,
		.comm = k->side,
		.comm_exec = k->side,
		.task = k->side,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.read_format = s->counts_lost ? PERF_FORMAT_LOST : 0,
	};

	if (k->kind)
		attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	if (k->stack_bytes) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = ARCH_TRACE_PERF_REGS;
		attr.sample_stack_user = k->stack_bytes;
	}
	return attr;
}

/* Kernels before 6.0 do not count by event what had no room. */
static int open_kind(struct perf_set *s, unsigned kind, pid_t tid, int cpu, bool at_exec)
{
	struct perf_event_attr attr = attr_of(s, &s->kinds[kind], at_exec);
	int fd = event_open(&attr, tid, cpu);

	if (fd != -EINVAL || !s->counts_lost)
		return fd;
	attr.read_format = 0;
	fd = event_open(&attr, tid, cpu);
	if (fd >= 0)
		s->counts_lost = false;
	return fd;
}

static int attach_kind(struct perf_set *s, unsigned kind, pid_t tid, const struct perf_reader *r,
		       bool at_exec)
{
	struct perf_event e = { .kind = kind, .tid = tid };
	uint64_t id;
	int rc;

	e.fd = open_kind(s, kind, tid, r->cpu, at_exec);
	if (e.fd < 0)
		return e.fd;
	rc = ioctl(e.fd, PERF_EVENT_IOC_SET_OUTPUT, r->owner) ||
	     ioctl(e.fd, PERF_EVENT_IOC_ID, &id) ? -errno : 0;
	if (!rc)
		rc = hash_put(&s->by_id, id, s->events.nr);
	if (!rc)
		rc = vec_push(&s->events, e);
	if (rc)
		close(e.fd);
	return rc;
}

/* The hardware's counters need not be there; the kernel's own are. */
static bool may_be_missing(const struct perf_kind *k)
{
	return k->type != PERF_TYPE_SOFTWARE;
}

int perf_set_attach(struct perf_set *s, pid_t tid, bool at_exec, int failed[PERF_MAX_KINDS])
{
	int rc = 0;

	for (unsigned kind = 0; kind < s->nr_kinds; kind++) {
		const struct perf_kind *k = &s->kinds[kind];

		for (size_t i = 0; i < s->readers.nr && !failed[kind]; i++) {
			if (s->readers.v[i].spare != k->spare)
				continue;
			rc = attach_kind(s, kind, tid, &s->readers.v[i], at_exec);
			if (rc && (!may_be_missing(k) || rc == -ESRCH || rc == -EMFILE))
				return rc;
			failed[kind] = rc;
		}
	}
	return 0;
}

void perf_set_detach(struct perf_set *s, pid_t tid)
{
	vec_each(&s->events, e) {
		if (e->tid != tid || e->fd < 0)
			continue;
		close(e->fd);
		e->fd = -1;
	}
}

const struct perf_event *perf_set_event(const struct perf_set *s, uint64_t id)
{
	const uint32_t *at = hash_find(&s->by_id, id);

	return at ? &s->events.v[*at] : NULL;
}

uint64_t perf_set_lost(const struct perf_set *s, unsigned kind)
{
	uint64_t values[2], sum = 0;		/* the event's value, what had no room */

	vec_each(&s->events, e)
		if (s->counts_lost && e->kind == kind && e->fd >= 0 &&
		    read(e->fd, values, sizeof(values)) == (ssize_t)sizeof(values))
			sum += values[1];
	return sum;
}

/* ---- records ---- */

static uint64_t word(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

uint64_t perf_record_id(const struct perf_event_header *h)
{
	return word(h->type == PERF_RECORD_SAMPLE ? (const char *)(h + 1)
						  : (const char *)h + h->size - 8);
}

/* Of a sample behind its id, its program counter, its thread. */
uint64_t perf_record_time(const struct perf_event_header *h)
{
	return word(h->type == PERF_RECORD_SAMPLE ? (const char *)(h + 1) + 24
						  : (const char *)h + h->size - 16);
}

/* All records have as much: a sample id, ip, thread, time, address; others what they end with. */
#define LEAST_RECORD	(sizeof(struct perf_event_header) + PERF_TRAILER_BYTES)
#define LEAST_SAMPLE	(sizeof(struct perf_event_header) + 40)

#define SAMPLE_HEAD	(sizeof(struct perf_event_header) + 40)	/* before its registers */
#define REGS_BYTES	(8 + 8 * ARCH_TRACE_PERF_NR)
#define PULL_EACH	16u		/* rings are emptied after so many records */

size_t perf_sample_bytes(const struct perf_kind *k)
{
	return SAMPLE_HEAD + (k->stack_bytes ? REGS_BYTES + 8 + k->stack_bytes + 8 : 0);
}

/* How many bytes of the room for its stack a record does not use. */
static size_t unused(const struct perf_set *s, const struct perf_event_header *h)
{
	const struct perf_event *e;
	size_t room;
	uint64_t used;

	if (h->type != PERF_RECORD_SAMPLE || h->size < SAMPLE_HEAD)
		return 0;
	e = perf_set_event(s, perf_record_id(h));
	room = e ? s->kinds[e->kind].stack_bytes : 0;
	if (!room || h->size != perf_sample_bytes(&s->kinds[e->kind]))
		return 0;
	used = word((const char *)h + h->size - 8);
	/* a byte more than there was stays: it was not cut */
	return used < room ? (room - used - 1) / 8 * 8 : 0;
}

/* A record with so many bytes less before its last word; the stack's room says so. */
static void shorten(char *to, const struct perf_event_header *h, size_t less)
{
	struct perf_event_header *copy = (void *)to;
	uint64_t room = h->size - SAMPLE_HEAD - REGS_BYTES - 8 - 8;

	memcpy(to, h, h->size - 8 - less);
	memcpy(to + h->size - 8 - less, (const char *)h + h->size - 8, 8);
	if (!less)
		return;
	copy->size -= less;
	room -= less;
	memcpy(to + SAMPLE_HEAD + REGS_BYTES, &room, sizeof(room));
}

/* Room for another record behind the last one. False: there is none. */
static bool queue_reserve(struct perf_reader *r, size_t bytes, size_t most)
{
	size_t room;
	char *queue;

	/* seldom enough: what is moved is at most three times what was read meanwhile */
	if (r->from && r->from >= r->queue_room / 4 && r->to + bytes > r->queue_room) {
		memmove(r->queue, r->queue + r->from, r->to - r->from);
		r->to -= r->from;
		r->from = 0;
	}
	if (r->to + bytes <= r->queue_room)
		return true;
	room = r->queue_room ? 2 * r->queue_room : 2 * PERF_MAX_RECORD;
	if (room > most)
		room = most;
	queue = r->to + bytes <= room ? realloc(r->queue, room) : NULL;
	if (!queue)
		return false;
	r->queue = queue;
	r->queue_room = room;
	return true;
}

static const struct perf_event_header *ring_next(struct perf_reader *r)
{
	return perf_ring_next(&r->ring, perf_ring_head(&r->ring), LEAST_RECORD, r->room);
}

/* From the ring into the queue, as far as there is room. */
static void pull(const struct perf_set *s, struct perf_reader *r)
{
	const struct perf_event_header *h;

	while (!r->spare && (h = ring_next(r))) {
		size_t less = unused(s, h);

		if (!queue_reserve(r, h->size - less, s->queue_bytes))
			return;
		shorten(r->queue + r->to, h, less);
		r->to += h->size - less;
		perf_ring_pass(&r->ring, h);
	}
}

/* What is in neither comes from the ring itself: there was no memory. */
static const struct perf_event_header *first(struct perf_reader *r)
{
	return r->from < r->to ? (const void *)(r->queue + r->from) : ring_next(r);
}

static void drop(struct perf_reader *r, const struct perf_event_header *h)
{
	if (r->from == r->to) {
		perf_ring_pass(&r->ring, h);
		return;
	}
	r->from += h->size;
	if (r->from == r->to)
		r->from = r->to = 0;
}

static void peek(struct perf_reader *r)
{
	r->next = first(r);
	while (r->next && r->next->type == PERF_RECORD_SAMPLE && r->next->size < LEAST_SAMPLE) {
		r->ring.damaged++;
		drop(r, r->next);
		r->next = first(r);
	}
	if (r->next)
		r->time_ns = perf_record_time(r->next);
}

void perf_set_step(struct perf_set *s)
{
	struct epoll_event event;

	s->passed = 0;
	epoll_wait(s->filling, &event, 1, 0);	/* it is known now */
	vec_each(&s->readers, r) {
		pull(s, r);
		peek(r);
	}
}

struct perf_reader *perf_set_next(struct perf_set *s, uint64_t until_ns)
{
	struct perf_reader *oldest = NULL;

	vec_each(&s->readers, r)
		if (r->next && r->time_ns <= until_ns && (!oldest || r->time_ns < oldest->time_ns))
			oldest = r;
	return oldest;
}

void perf_set_pass(struct perf_set *s, struct perf_reader *r)
{
	drop(r, r->next);
	peek(r);
	if (++s->passed < PULL_EACH)
		return;
	s->passed = 0;
	vec_each(&s->readers, q) {
		if (q->spare)
			continue;
		pull(s, q);
		peek(q);
	}
}

void perf_set_fini(struct perf_set *s)
{
	vec_each(&s->events, e)
		if (e->fd >= 0)
			close(e->fd);
	vec_fini(&s->events);
	readers_fini(s);
	vec_fini(&s->readers);
	if (s->filling > 0)
		close(s->filling);
	hash_fini(&s->by_id);
	*s = (struct perf_set){ 0 };
}
