/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pmm has left or keeps in a process: struct pmm_attach, found by the name of its mapping.
 */
#ifndef ENTRIES_ATTACHED_H
#define ENTRIES_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"
#include "src/entries/flow.h"
#include "src/proc/proc.h"

struct attached {
	pid_t pid;
	/* address of the record, in memory that is the process's alone */
	uint64_t at;
	/*
	 * where the ledger's file is mapped; 0 = is not: a forked child's record, which no monitor
	 * watches, or all but that is gone
	 */
	uint64_t tree, end;
	/* address of struct pmm_ledger in it; 0 = likewise, or the agent has not started yet */
	uint64_t ledger;
	struct pmm_attach record;	/* copy, checked */
	struct flow setting;		/* sigaction(), where that is patched */
};

/*
 * Look for it; of several the one whose monitor lives, else the newest, whose jumps are on top of
 * those of the others. Their number, -ENOENT when there is none, else -errno with `e`: -EBADMSG one
 * was written over.
 */
int attached_find(pid_t pid, struct attached *a, struct err *e);

/* A walk over the records that a process has; all zero: at the beginning. */
struct attached_walk {
	size_t i;			/* mapping to be looked at next */
	unsigned nr;
};

/*
 * The next one in *a: 1; 0 = there is none; -errno when that cannot be known, -EBADMSG when it was
 * written over: then nothing may be taken out, for jumps may lead there.
 */
int attached_next(pid_t pid, const struct proc_maps *maps, struct attached_walk *w,
		  struct attached *a);

/*
 * The agent that records, in *a: of several the newest, unless that rests as well. There is one at
 * most: a pmm that attaches has all others rest first. Its ledger is the one to be read; its
 * monitor may have been killed. 1; 0 = guarded blocks have outlived all that were there; -ENOENT
 * there is none; -errno when it cannot be known.
 */
int attached_recording(pid_t pid, const struct proc_maps *maps, struct attached *a);

/* Say so. Returns `rc`. */
int attached_unclear(pid_t pid, int rc, struct err *e);

/*
 * The monitor that attached, if it still lives, else 0. One of another pid namespace, which cannot
 * be asked for, lives when it advances the tree's clock: to see that may take two seconds.
 */
pid_t attached_monitor(const struct attached *a);

/* Another owner for a process: see struct pmm_attach. Never 0. */
uint64_t attached_new_owner(void);

/*
 * Take it over; all its threads are stopped by the caller. Reads all anew, as it may have changed
 * since. 0, -ENOENT it is not there any more, -ESTALE there is a newer one, whose jumps are on top
 * of its own, -errno.
 */
int attached_claim(struct attached *a, uint64_t owner);

/*
 * Does it still belong to the caller? The caller has stopped at least one of its threads and still
 * holds it.
 */
bool attached_is_of(const struct attached *a, uint64_t owner);

/* The inode of our pid namespace; 0 = not known. */
uint64_t attached_own_space(void);

/*
 * Write the copy to where there is none yet: complete, or it is none, wherever we are killed. 0 or
 * -errno.
 */
int attached_create(struct attached *a);

/*
 * Write the copy back: it is there as a whole, or what was there before, wherever we are killed.
 * Works while the process runs; one of its threads is stopped by the caller. 0 or -errno.
 */
int attached_store(const struct attached *a);

/* Read the copy anew, without a check of what is in it. 1; 0 it was never completed; -errno. */
int attached_reread(struct attached *a);

/*
 * Take off the limit on address space what the agent added to it for its mappings. May be called
 * again.
 */
void attached_limit_lower(const struct attached *a);

/* Note one more range, or that it is gone (use PMM_RANGE_NONE). In the copy only. 0 or -ENOSPC. */
int attached_range(struct attached *a, enum pmm_range_use use, uint64_t start, uint64_t bytes);

#endif
