/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perf events of threads and of what they start, on every processor, and the rings that they write
 * to: two for each processor, of which the second one is for what may be left out.
 *
 * Events that children inherit can only write to a ring of one processor: there is an event for
 * each thread that is given, each processor and each kind. Children have copies of them, which the
 * kernel makes; a record says by its event's number which given thread they came from.
 */
#ifndef KERNEL_PERF_PERF_SET_H
#define KERNEL_PERF_PERF_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/perf/perf_ring.h"

#define PERF_MAX_KINDS	12

/* One kind of event. Samples have id, ip, tid, time, address; others tid, time, id. */
struct perf_kind {
	uint32_t type;
	uint64_t config, period;
	uint32_t stack_bytes;		/* copied; 0: no stack and no registers */
	uint32_t kind;			/* enum trace_kind of its samples; TRACE_NONE: none */
	bool side;			/* records of processes and mappings */
	bool spare;			/* into the second ring: what has no room is not lost */
};

struct perf_event {
	int fd;				/* -1: closed again */
	unsigned kind;			/* index into kinds */
	pid_t tid;			/* the thread that it was opened for */
};

/*
 * A ring, and the next record of it. Users may lock little memory, and the kernel reserves room for
 * the largest stack in each record: records wait in memory of our own, without that room.
 */
struct perf_reader {
	struct perf_ring ring;
	int owner;			/* the event that it was made with */
	int cpu;
	bool spare;			/* what waits there stays there */
	char *queue;			/* records from `from` to `to` */
	size_t from, to, queue_room;
	const struct perf_event_header *next; /* NULL: none */
	uint64_t time_ns;		/* of `next` */
	char *room;
};

struct perf_set {
	struct perf_kind kinds[PERF_MAX_KINDS];
	unsigned nr_kinds;
	VEC(struct perf_reader) readers;
	bool rings_refused;		/* too much locked memory */
	int filling;			/* readable when a ring is a quarter full */
	VEC(struct perf_event) events;
	struct hash_map by_id;		/* -> index into events */
	bool counts_lost;		/* the kernel counts by event what had no room (6.0) */
	size_t ring_bytes;		/* of a first ring; a second one has a quarter */
	size_t queue_bytes;		/* may wait in memory of our own, of each processor */
	unsigned passed;		/* records since the rings were emptied into it */
};

/*
 * Make the rings: of `bytes` for each processor, or the largest power of two below that for which
 * there is room in what a user may lock (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK); so many bytes
 * more wait for us, of all processors. s->kinds are set. 0, -ENOBUFS: not even a small ring may be
 * locked, or -errno; perf_set_fini() follows in any case.
 */
int perf_set_init(struct perf_set *s, size_t bytes, size_t queue_bytes);

/*
 * Open all kinds for a thread; `at_exec`: they begin when it executes a program. -errno: the kinds
 * for which failed[] is not set then have no event of it; a kind that the kernel does not have is
 * set in failed[] and is no error. -ESRCH: the thread has ended.
 */
int perf_set_attach(struct perf_set *s, pid_t tid, bool at_exec, int failed[PERF_MAX_KINDS]);

/* Close what was opened for a thread, and the copies that others have of it. */
void perf_set_detach(struct perf_set *s, pid_t tid);

/* The event with that number; NULL: none. */
const struct perf_event *perf_set_event(const struct perf_set *s, uint64_t id);

/* Take what is there by now: perf_set_next() gives it. perf_set_pass() does so, too. */
void perf_set_step(struct perf_set *s);

/*
 * The oldest record that is no younger than `until_ns`, of all rings; perf_set_pass() follows.
 * NULL: there is none.
 */
struct perf_reader *perf_set_next(struct perf_set *s, uint64_t until_ns);
void perf_set_pass(struct perf_set *s, struct perf_reader *r);

/* A number in a record: what all but samples have at their ends, samples at their beginning. */
uint64_t perf_record_id(const struct perf_event_header *h);
uint64_t perf_record_time(const struct perf_event_header *h);

#define PERF_TRAILER_BYTES	24	/* pid and tid, time, id */

/* How large a sample of a kind is, with all the room for its stack. */
size_t perf_sample_bytes(const struct perf_kind *k);

/* How many events of a kind had no room, as the kernel has counted; 0 if it does not. */
uint64_t perf_set_lost(const struct perf_set *s, unsigned kind);

void perf_set_fini(struct perf_set *s);

#endif
