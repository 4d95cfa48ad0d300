/*
 * What pmm has left or keeps in a process: struct pmm_attach, found through the mapping of the tree's file.
 */
#ifndef INJECT_ATTACHED_H
#define INJECT_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"
#include "src/inject/flow.h"

struct attached {
	pid_t pid;
	uint64_t tree;			/* address of the tree's file in the process */
	uint64_t ledger;		/* address of the process's slot in it, 0 = has none */
	bool inherited;			/* has none: the process was forked by the one that was attached: what stands there is its parent's */
	struct pmm_attach record;	/* copy, checked */
	struct flow setting;		/* sigaction(), where that is patched */
};

/*
 * Look for it; of several the one whose monitor lives, else the newest, whose jumps lie over those of the others. Their number, -ENOENT
 * when there is none, else -errno with `e`.
 */
int attached_find(pid_t pid, struct attached *a, struct err *e);

/* The monitor that attached, if it still lives, else 0. */
pid_t attached_monitor(const struct attached *a);

/* Write the copy back, unless it is inherited. Works while the process runs. 0 or -errno. */
int attached_store(const struct attached *a);

/* Take off the limit on address space what the agent added to it for its mappings. */
void attached_limit_lower(const struct attached *a);

/* Note one more range, or that it is gone (use PMM_RANGE_NONE). In the copy only. 0 or -ENOSPC. */
int attached_range(struct attached *a, enum pmm_range_use use, uint64_t start, uint64_t bytes);

#endif
