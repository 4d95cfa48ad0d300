/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the ledger of a running process is: its memfd, reached through the process, its monitor, or
 * its memory.
 */
#ifndef LEDGER_LEDGER_FIND_H
#define LEDGER_LEDGER_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/ledger.h"
#include "src/base/err.h"
#include "src/proc/proc.h"

struct ledger_place {
	int fd;				/* the caller's from now on */
	bool is_memory; /* fd is /proc/PID/mem; the file begins at address `delta` */
	bool writable;
	uint64_t delta;
	struct proc_maps maps;		/* of the process, for ledger_find_slot() */
	uint64_t ino;			/* of the memfd */
	/* where the monitor's board can be read; -1 = nowhere. The caller's from now on */
	int clock_fd;
	uint64_t clock_off;
};

/*
 * Find the memfd a process has mapped and open it: /proc/PID/map_files (needs CAP_SYS_ADMIN or
 * CAP_CHECKPOINT_RESTORE), else a descriptor of its monitor, else the process's memory. 0, -ESRCH,
 * -ENOENT not tracked, or not yet: forked and without an event of its own, -EPERM, or -errno when
 * it cannot be known, with `e`.
 */
int ledger_find(pid_t pid, struct ledger_place *place, struct err *e);

/* Has it no ledger yet: launched under a pmm, forked and without an event of its own? */
bool ledger_awaited(pid_t pid);

/* Fill in that a process which had a ledger has none any more. */
void ledger_let_go(pid_t pid, struct err *e);

/* The slot of `pid` in its tree. 0, or -ENOENT with `e` when it has none (no longer tracked). */
int ledger_find_slot(const struct ledger_place *place, const struct pmm_tree *tree, pid_t pid,
		     unsigned *slot, struct err *e);

/* Release what finding took; the fd stays. */
void ledger_find_fini(struct ledger_place *place);

#endif
