/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own records of executable mappings: a perf event on each processor reports each
 * program that begins, and each mapping of code, in the order in which they happen. A process that
 * has ended before pmm could read its /proc/PID/maps is known by these.
 *
 *	map_events_open(&m, &e);
 *	map_events_drain(m);
 *	while ((event = map_events_next(m, until_ns)))
 *		...
 *	map_events_close(m);
 *
 * Mappings that are removed are not reported. Records are of all processes of the machine that
 * pmm's pid namespace has; it takes CAP_PERFMON or root.
 */
#ifndef KERNEL_MAP_EVENTS_H
#define KERNEL_MAP_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/kernel/perf/perf_ring.h"
#include "src/proc/proc.h"

#define MAP_EVENTS_RING_BYTES	(256u << 10)	/* of each processor; some 1700 records */

struct map_event {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	pid_t tgid;
	bool exec;			/* a program begins: what was mapped is gone */
	struct proc_map map;		/* else; path owned */
};

/* All zero is empty. */
struct map_queue {
	VEC(struct map_event) v;	/* by time, from `first` on */
	size_t first;
	uint64_t lost;			/* records for which a ring had no room */
	uint64_t damaged;		/* that are none */
	char room[PERF_MAX_RECORD];
};

/*
 * Take what is in a ring up to `head`. A record that cannot be one ends it: the rest up to `head`
 * is left out. 0 or -ENOMEM.
 */
int map_queue_take(struct map_queue *q, struct perf_ring *ring, uint64_t head);

/* By time, what was taken since and what is left. */
void map_queue_sort(struct map_queue *q);

/* The oldest, if it is not younger than that; valid until the next call with the queue. NULL. */
const struct map_event *map_queue_next(struct map_queue *q, uint64_t until_ns);

void map_queue_fini(struct map_queue *q);

struct map_events;

/* 0, or -errno with `e`: -EPERM, -EACCES: pmm may not; *out is NULL then. */
int map_events_open(struct map_events **out, struct err *e);

/* Take all that has happened until now. 0 or -ENOMEM. */
int map_events_drain(struct map_events *m);

/*
 * In a process that was forked, where the rings are not mapped: go on. What the other process takes
 * from now on is missing here. 0 or -errno.
 */
int map_events_forked(struct map_events *m);

/* As map_queue_next(). */
const struct map_event *map_events_next(struct map_events *m, uint64_t until_ns);

/* Records that were lost since it was opened. */
uint64_t map_events_lost(const struct map_events *m);

/* NULL is fine. */
void map_events_close(struct map_events *m);

#endif
