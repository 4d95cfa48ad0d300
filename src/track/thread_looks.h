/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process that is watched, as they were seen from time to time: what they were
 * called last, and which of them were there at the last look.
 *
 * A look goes through /proc/PID/task. After one that took pmm t of CPU time it rests for
 * THREAD_LOOKS_REST t, and where there are many processes as many times longer.
 */
#ifndef TRACK_THREAD_LOOKS_H
#define TRACK_THREAD_LOOKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/ledger/ledger_heap.h"

#define THREAD_LOOKS_FIRST_NS	20000000u	/* a process that ends before that has no look */
#define THREAD_LOOKS_NS		20000000u	/* between two looks, at least */
#define THREAD_LOOKS_REST	1000
/* of more threads none is looked at: the monitor's clock must not wait for longer than a tick */
#define THREAD_LOOKS_MOST	256
#define THREAD_LOOKS_MANY_NS	1000000000u	/* ... until there may be fewer */
/* of those that ended so many are remembered */
#define THREAD_LOOKS_ENDED	4096

struct proc_thread;

/* All zero is one that has not begun. */
struct thread_looks {
	struct ledger_seen *seen;	/* by tid */
	uint32_t nr;
	uint64_t look_ns;		/* the last one, 0 = none yet */
	uint64_t next_ns;
	pid_t first;			/* what its first thread calls itself, 0 = not asked yet */
	size_t share;			/* of how many processes is there as much to read? 0 = 1 */
};

void thread_looks_fini(struct thread_looks *l);

/* Look, where a look is due. */
void thread_looks_tick(struct thread_looks *l, pid_t pid, uint64_t now_ns);

/* What one look saw: all threads there are, in any order; they are sorted. 0 or -ENOMEM. */
int thread_looks_add(struct thread_looks *l, struct proc_thread *now, size_t nr, uint64_t now_ns);

#endif
