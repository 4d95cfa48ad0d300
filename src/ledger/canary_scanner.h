/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that canary scans one process at a time, so that a large heap delays no other process:
 * the monitor's loop starts it and looks in again.
 */
#ifndef LEDGER_CANARY_SCANNER_H
#define LEDGER_CANARY_SCANNER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/ledger/canary_scan.h"

/* All zero is one that rests. Its fields are the thread's own until canary_scanner_take(). */
struct canary_scanner {
	pthread_t thread;
	pid_t pid;			/* 0 = it rests */
	struct canary_scan scan;		/* of that process, lent to it */
	struct heap *heap;
	int found;
	struct err err;
	bool done;
};

/*
 * Begin to canary scan a process; the canary scan is moved in here until it is given back. 0 or
 * -errno: nothing began. Only when at rest.
 */
int canary_scanner_start(struct canary_scanner *w, pid_t pid, struct canary_scan *s);

/* Has it ended what it began? Then canary_scanner_take() does not wait. */
bool canary_scanner_done(const struct canary_scanner *w);

/*
 * What canary_scan_process() returned, waiting for it, its heap in *out; the canary scan comes
 * back. At rest then. Not when at rest.
 */
int canary_scanner_take(struct canary_scanner *w, struct canary_scan *s, struct heap **out,
			struct err *e);

#endif
