/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a process's memory its copy has not as of the moment of the copy, and where it is to be
 * had.
 *
 *     kept from copies (MADV_DONTFORK: V8's heap, buffers that devices write to)
 *                           all of it is read while all threads are stopped
 *     empty in copies (MADV_WIPEONFORK), shared with them (MAP_SHARED)
 *                           so are the first APART_BYTES; the rest is read later
 *
 * Of shared memory also the pages that the process has in no page table just then: reclaim takes
 * them out, other processes write them. What is in none and not in memory either is zero, whatever
 * the process writes there next. Where that is not allowed (pages.h), and of files on disks, all
 * that is in no page table is read later.
 */
#ifndef PTRACE_APART_H
#define PTRACE_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/proc/proc.h"
#include "src/ptrace/withheld.h"

#define APART_BYTES	(16u << 20)

struct apart_span {
	uint64_t start, end;
	bool held;		/* read as of that moment, else to be read from the process */
};

/* All zero is empty. */
struct apart {
	struct withheld held;
	/* not in the copy as of that moment; by address once apart_after() was called */
	VEC(struct apart_span) spans;
	struct page_runs wiped;		/* mappings that a copy gets empty, as of before */
	struct page_runs whole;		/* those of them that were read wholly */
	/*
	 * some memory is read later: there was more than APART_BYTES of it, or it could not be
	 * read, or not be known. Files on disks do not count
	 */
	bool late;
};

enum apart_where { APART_IN_COPY, APART_HELD, APART_ZERO, APART_IN_PROCESS };

/*
 * In this order: while the process runs; while it is stopped, with its mappings; while it runs
 * again. 0, -ENOMEM, -ESRCH: the copy is gone.
 */
int apart_before(struct apart *x, pid_t pid);
int apart_stopped(struct apart *x, pid_t pid, pid_t copy, const struct proc_maps *maps);
int apart_after(struct apart *x, pid_t copy);
void apart_fini(struct apart *x);

/*
 * Where the memory at an address is; *held points to it if that is here. *bytes is shortened to
 * what is at the same place.
 */
enum apart_where apart_find(const struct apart *x, uint64_t address, size_t *bytes,
			    const uint8_t **held);

#endif
