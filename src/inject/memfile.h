/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory files that a process is made to make and to map. Their names tell them from all other
 * memory, also where pmm was killed before it has written down what it did.
 */
#ifndef INJECT_MEMFILE_H
#define INJECT_MEMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"
#include "src/proc/proc.h"
#include "src/ptrace/remote.h"

/*
 * Have process `pid` make an empty one of a name of at most 31 bytes. *theirs is its descriptor
 * there, *ours one of ours; both are the caller's, also on failure, then -1 = none. 0 or -errno
 * with `e`.
 */
int memfile_make(pid_t pid, struct remote *r, const char *name, int64_t *theirs, int *ours,
		 struct err *e);

/*
 * Have it map `bytes` of a new one of that name, which begins with PMM_AGENT_NAME, private, with
 * access `prot`: at *at, where nothing may be yet, or where the kernel likes (0). *fd, if not NULL,
 * is the file (the memory begins at PMM_AGENT_OFF), the caller's, which has to call memfile_fill();
 * else it is sealed. 0; -EEXIST: something is there; -errno, with `e`.
 */
int memfile_map(pid_t pid, struct remote *r, const char *name, uint64_t bytes, int prot,
		uint64_t *at, int *fd, struct err *e);

/*
 * Give the mapped memory its contents, in the file, and seal it: who has inherited the descriptor,
 * a child that another thread has forked just now, cannot write there any more, nor has done so. 0
 * or -errno with `e`.
 */
int memfile_fill(pid_t pid, int fd, const void *contents, size_t bytes, struct err *e);

/* The remedy where it, or the machine, has no descriptor left (rc -EMFILE, -ENFILE). */
void memfile_hint_full(pid_t pid, int rc, struct err *e);

/* Is the mapping one of those whose names begin with PMM_AGENT_NAME? */
bool memfile_mapped(const struct proc_map *m);

/* Is this what the link of a descriptor says that is such a file? */
bool memfile_link(const char *link);

#endif
