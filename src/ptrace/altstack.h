/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The alternate signal stacks of a process's threads. The kernel reports a thread's alternate stack
 * to that thread only, so each is made to ask (sigaltstack(2)), for which it is stopped for a
 * moment.
 */
#ifndef PTRACE_ALTSTACK_H
#define PTRACE_ALTSTACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/ptrace/gadget.h"
#include "src/ptrace/stop.h"

struct altstack {
	pid_t tid;
	uint64_t start, bytes;
};

/* All zero is empty. Release: vec_fini(&a->v). */
struct altstacks {
	VEC(struct altstack) v;		/* of threads that have one */
	/*
	 * threads that live but cannot be asked: they run on a stack that they made themselves, say
	 */
	size_t nr_silent;
};

/* Of threads that are all stopped. 0 or -ENOMEM. */
int altstacks_stopped(struct stopped *s, const struct gadget *gadget, struct altstacks *a);

/*
 * Of a thread of a process that runs; nothing when it has ended. Adds to *ns how long it was
 * stopped. 0, -ENOMEM, -ESRCH: the process has ended.
 */
int altstacks_running(pid_t pid, pid_t tid, const struct gadget *gadget, struct altstacks *a,
		      uint64_t *ns);

#endif
