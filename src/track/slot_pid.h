/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a tree among all others: by descent, environment and the board that they have
 * mapped; and how they ended.
 */
#ifndef TRACK_SLOT_PID_H
#define TRACK_SLOT_PID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct slot_pid {
	pid_t root;	/* first process of the tree */
	pid_t monitor;	/* its parent */
	uint64_t ino;	/* of the board */
	uint64_t start; /* of the root, in clock ticks since boot */
	char env[160];	/* "PMM_LEDGER=..." as the tree's programs have it in their environment */
};

/* Does `pid` descend from the tree's root or monitor, by its parents as they are now? */
bool slot_pid_descends(const struct slot_pid *w, pid_t pid);

/* Its parent as it is now. 0 or -ESRCH. */
int slot_pid_parent(pid_t pid, pid_t *parent);

/*
 * Can `pid` be a process of the tree: does it descend so, or have the board mapped, or may that not
 * be looked at?
 */
bool slot_pid_may_be(const struct slot_pid *w, pid_t pid);

/* Is the tree's agent in it: does it have the board mapped? Not where that cannot be seen. */
bool slot_pid_has_agent(const struct slot_pid *w, pid_t pid);

/*
 * Processes of the tree that have no ledger: just launched, or forked and without an event so far.
 * `has_ledger(arg, pid)` says which others are; `mapped` leaves out those that do not have the
 * board mapped. `soon`: the root was started less than half a second ago. Their number, one of them
 * in *pid (may be NULL). Looks at processes younger than the root only.
 */
unsigned slot_pid_unclaimed(const struct slot_pid *w, bool mapped, bool soon,
			    bool (*has_ledger)(void *arg, pid_t pid), void *arg, pid_t *pid);

/*
 * Wait status of an ended process: kept by its pidfd (Linux 6.15), or by its zombie. 0, or
 * -ENODATA when not (yet) known.
 */
int slot_pid_status(pid_t pid, int pidfd, int *status);

#endif
