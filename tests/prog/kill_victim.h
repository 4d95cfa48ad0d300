/* SPDX-License-Identifier: GPL-2.0-or-later
 * What kill_victim.c, which allocates, and kill_turns.c, which interrupts it, know of each other.
 */
#ifndef TESTS_PROG_KILL_VICTIM_H
#define TESTS_PROG_KILL_VICTIM_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/prog/kill_truth.h"
#include "tests/prog/truth_victim.h"

#define PATHS		512
#define MAX_DEPTH	24
#define NR_HEIRS	4

struct path {
	unsigned char link[MAX_DEPTH];
	unsigned depth;
};

/* A thread's own code, or one of its handlers. */
struct worker {
	struct kill_thread *truth;
	struct crew *crew;
	uint64_t random;
	const struct path *path;
	unsigned leaf;
	void *old;			/* the leaf's arguments ... */
	size_t size;
	void *result;			/* ... and what it got */
	uint64_t last_address;		/* of the last event, if it was an allocation */
	unsigned last_interrupts;	/* when that began */
	volatile bool active;		/* of a handler */
};

/* A thread with its handlers; the first worker is the thread's own code. */
struct crew {
	struct worker worker[1 + KILL_HANDLERS];
	volatile unsigned interrupts;	/* handlers that came */
	/* By a jump out of a handler, and it has released nothing since: it is not known yet to be out of what it was at. */
	volatile bool jumped;
	sigjmp_buf back;
	timer_t timer[KILL_HANDLERS];
	pid_t child;
	uint64_t heirs[NR_HEIRS];	/* blocks from before the fork; 0: none */
};

/* What was asked for. */
struct turns {
	bool signals, jumps, forks, execs;
};

extern struct kill_truth *truth;
extern struct turns turns;
extern atomic_flag taken[KILL_SLOTS];

/* One or two operations of a worker. */
void turn(struct worker *w);

/* The truth of another image from now on: number `n` of the file. Its first thread is the caller, and does not come back. */
void image_begin(unsigned n, unsigned threads, const uint64_t heirs[NR_HEIRS]) __attribute__((noreturn));

/* The same as another program. */
void image_execute(unsigned n, unsigned threads);

/* A number for the next image; false: there is none left. */
bool image_get(unsigned *n);

/* Once a process; once a thread; now and then. */
void turns_begin(void);
void turns_thread(struct crew *crew);
void turns_take(struct crew *crew);

#endif
