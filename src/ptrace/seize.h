/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread seized and stopped, as part of stopping several (stop.c). All on the tracing thread.
 */
#ifndef PTRACE_SEIZE_H
#define PTRACE_SEIZE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/ptrace/stop.h"

/* of sys/ptrace.h */
#define SEIZE_OPTIONS	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

struct seizing {
	struct stopped *s;		/* threads seized are added to it */
	struct err *e;
	size_t room;			/* of s->v */
	size_t nr_looked_at;		/* of s->v: stopped, registers read */
	/*
	 * CLOCK_MONOTONIC: past the deadline, until when a thread may wait for a processor; 0 = not
	 * at all
	 */
	uint64_t latest_ns;
};

/* Seize a thread and ask it to stop. 1, 0 when it has ended, -errno with `e`. */
int seize(struct seizing *sz, pid_t tid);

/*
 * Wait until it has stopped, and read its registers. 0, also when it has ended; -EAGAIN it has
 * called exec, -ETIMEDOUT, with `e`.
 */
int seize_wait(struct seizing *sz, struct stop_thread *thread);

/*
 * After a failure: let go of all, of those that have not been looked at with the signal that each
 * was about to get. What cannot stop now goes free with the tracing thread.
 */
void seize_let_go(struct seizing *sz);

/* -EAGAIN with `e`: another program has begun. */
int seize_began_another(struct seizing *sz);

#endif
