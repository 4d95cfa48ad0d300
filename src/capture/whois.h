/*
 * Which process is it? A slot holds a pid as its process sees it; in a pid namespace of its own
 * that is another number than ours, and the number may belong to a stranger here.
 */
#ifndef CAPTURE_WHOIS_H
#define CAPTURE_WHOIS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct whois {
	pid_t root;	/* first process of the tree */
	pid_t monitor;	/* its parent */
	uint64_t ino;	/* of the tree's memfd */
	uint64_t start; /* of the root, in clock ticks since boot */
	char env[96];	/* "PMM_LEDGER=..." as the tree's programs have it in their environment */
	bool foreign;	/* processes in pid namespaces of their own were met: no number is believed
			   now */
};

/*
 * Find the process that calls itself `ns_pid` and has the slot at file offset `slot_off`. Its pid
 * as we see it, with *pidfd open (close-on-exec, -1 where that cannot be had); 0 when it has ended
 * for certain; -1 when nobody was found who could be it, which may be because it has only just
 * claimed the slot. Looks through all of /proc only where the plain answer cannot be believed.
 */
pid_t whois_find(struct whois *w, uint32_t ns_pid, uint64_t slot_off, int *pidfd);

/* Does `pid` descend from the tree's root or monitor, by its parents as they are now? */
bool whois_descends(const struct whois *w, pid_t pid);

/* Does `pid` have that slot of the tree mapped for writing? */
bool whois_maps_slot(const struct whois *w, pid_t pid, uint64_t slot_off);

/*
 * Processes of the tree that hold no slot: just launched, or forked and without an event so far.
 * `has_slot(arg, pid)` tells the others; `mapped` leaves out those that do not have the tree
 * mapped. `soon`: the root was started less than half a second ago. Their number, one of them in *pid (may be NULL). Looks at processes
 * younger than the root only.
 */
unsigned whois_unclaimed(const struct whois *w, bool mapped, bool soon, bool (*has_slot)(void *arg, pid_t pid), void *arg, pid_t *pid);

/*
 * Wait status of an ended process: kept by its pidfd (Linux 6.15), or by its zombie. 0, or
 * -ENODATA when not (yet) known.
 */
int whois_status(pid_t pid, int pidfd, int *status);

#endif
