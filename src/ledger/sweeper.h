/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that sweeps one process at a time, so that a large heap delays nobody: the monitor's loop starts it and looks in again.
 */
#ifndef LEDGER_SWEEPER_H
#define LEDGER_SWEEPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/ledger/sweep.h"

/* All zero is one that rests. Its fields are the thread's own until sweeper_take(). */
struct sweeper {
	pthread_t thread;
	pid_t pid;			/* 0 = it rests */
	struct sweep sweep;		/* of that process, lent to it */
	struct heap *heap;
	int found;
	struct err err;
	bool done;
};

/* Begin to sweep a process; the sweep is moved in here until it is taken back. 0 or -errno: nothing began. Only when at rest. */
int sweeper_start(struct sweeper *w, pid_t pid, struct sweep *s);

/* Has it ended what it began? Then sweeper_take() does not wait. */
bool sweeper_done(const struct sweeper *w);

/* What sweep_process() returned, waiting for it, its heap in *out; the sweep comes back. At rest then. Not when at rest. */
int sweeper_take(struct sweeper *w, struct sweep *s, struct heap **out, struct err *e);

#endif
