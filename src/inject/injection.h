/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent put into a running process and taken out again (include/pmm/inject.h).
 */
#ifndef INJECT_INJECTION_H
#define INJECT_INJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"
#include "src/entries/entries.h"

struct inject_options {
	const char *agent;		/* path of libpmm_inject.so */
	struct entries *entries;	/* what cannot be patched gets its reason in .refused */
	/*
	 * Called with the memory file that the process has made (not sized yet): lay the tree out.
	 * 0 or -errno with `e`. The descriptor is the caller's from then on.
	 */
	int (*make_tree)(void *arg, int fd, struct err *e);
	void *arg;
};

struct inject_result {
	unsigned nr_patched;
	uint32_t slot;			/* in the tree */
	uint64_t owner;			/* see struct pmm_attach */
	uint64_t space_taken_bytes;	/* of its limit on address space, which was not raised */
	uint64_t prepare_ns;		/* one thread was stopped for that long */
	uint64_t pause_ns;		/* all threads were stopped for that long */
};

/*
 * Put it in; stop_allowed() was asked before. On failure the process is as it was. 0 or -errno with
 * `e`.
 */
int inject_attach(pid_t pid, const struct inject_options *o, struct inject_result *r,
		  struct err *e);

/*
 * Patch what is in `more` and not patched yet (libraries loaded later), as long as no other pmm has
 * taken the process over from `owner`. Number of functions patched, or -errno; -EAGAIN and most
 * others may work later, and what was prepared is used then.
 */
int inject_more(pid_t pid, const char *agent, uint64_t owner, struct entries *more,
		uint64_t *pause_ns, struct err *e);

/*
 * Take it out: restore the code, and once no thread can be inside the agent any more, unmap
 * everything. Works on what any pmm has left behind, also on one that was killed before the agent
 * came to run. `*removed` is false when the code is restored but the agent had to stay for a thread
 * that does not come out of it (harmless; a later call takes it out), or for guarded blocks that
 * the program has not released: their number is returned then, at most INT_MAX. Asks stop_allowed()
 * itself. Else 0 or -errno: -ENOENT nothing of ours in the process.
 */
int inject_detach(pid_t pid, bool *removed, uint64_t *pause_ns, struct err *e);

/*
 * The same of what `monitor` has left, which has died or is about to; nothing where another one
 * watches the process. 0 when there is nothing to be done any more, or -errno: it may work later.
 */
int inject_abandon(pid_t pid, pid_t monitor);

/*
 * What pmm left in the process: 1 attached by a monitor that lives, 2 left behind by one that does
 * not, 0 nothing; monitor's pid in *monitor.
 */
int inject_present(pid_t pid, pid_t *monitor, struct err *e);

#endif
