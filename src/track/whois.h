/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a tree among all others: by descent, environment and the board that they have mapped; and how they ended.
 */
#ifndef TRACK_WHOIS_H
#define TRACK_WHOIS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct whois {
	pid_t root;	/* first process of the tree */
	pid_t monitor;	/* its parent */
	uint64_t ino;	/* of the board */
	uint64_t start; /* of the root, in clock ticks since boot */
	char env[160];	/* "PMM_LEDGER=..." as the tree's programs have it in their environment */
};

/* Does `pid` descend from the tree's root or monitor, by its parents as they are now? */
bool whois_descends(const struct whois *w, pid_t pid);

/* Its parent as it is now. 0 or -ESRCH. */
int whois_parent(pid_t pid, pid_t *parent);

/* Can `pid` be a process of the tree: does it descend so, or have the board mapped, or may that not be looked at? */
bool whois_may_be(const struct whois *w, pid_t pid);

/*
 * Processes of the tree that have no ledger: just launched, or forked and without an event so far.
 * `has_ledger(arg, pid)` tells the others; `mapped` leaves out those that do not have the board
 * mapped. `soon`: the root was started less than half a second ago. Their number, one of them in *pid (may be NULL). Looks at processes
 * younger than the root only.
 */
unsigned whois_unclaimed(const struct whois *w, bool mapped, bool soon, bool (*has_ledger)(void *arg, pid_t pid), void *arg, pid_t *pid);

/*
 * Wait status of an ended process: kept by its pidfd (Linux 6.15), or by its zombie. 0, or
 * -ENODATA when not (yet) known.
 */
int whois_status(pid_t pid, int pidfd, int *status);

#endif
