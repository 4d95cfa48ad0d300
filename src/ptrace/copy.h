/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy-on-write copy of a process, made inside it by one of its own threads, that never executes
 * anything: a child whose end is not signalled (exit signal 0), held by ptrace.
 *
 * Whenever pmm dies the copy ends, too: killed with the tracing thread (PTRACE_O_EXITKILL), or, in
 * the moment before that is set, by what it does when it is let go (remote_fork()). It then stays
 * as a zombie that the program does not see, until copy_reap_leftovers().
 */
#ifndef PTRACE_COPY_H
#define PTRACE_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/ptrace/gadget.h"
#include "src/ptrace/remote.h"
#include "src/ptrace/stop.h"

struct copy {
	pid_t pid;			/* of the process */
	struct remote_child child;	/* its copy; pid 0 = none */
	struct gadget gadget;		/* see struct stopped */
	/* holds the copy once the process runs, and ends it with the process */
	struct tracer *tracer;
	bool watched;			/* it does */
	int end_fd;			/* ... until this is written to; -1 = none */
	atomic_bool ended;		/* it has, other than by copy_end() */
};

/*
 * Before the threads are stopped: whether a copy can be made at all, as far as that can be known. 0
 * or -errno with `e` saying why not.
 */
int copy_possible(pid_t pid, struct err *e);

/*
 * Make it; all threads are stopped. 0; -EAGAIN with `e`: no thread can be used for that just now,
 * let them continue and try again; other -errno with `e`: no copy is to be had.
 */
int copy_make(struct stopped *s, struct copy *c, struct err *e);

/*
 * Let the threads go and take hold of the copy. *ns is how long they were stopped. 0, or as
 * copy_is_gone() when it has ended.
 */
int copy_hold(struct stopped *s, struct copy *c, uint64_t *ns, struct err *e);

/* The copy has ended. -ECHILD with `e`; -ESRCH where it is the process that has. */
int copy_is_gone(pid_t pid, const char *why, struct err *e);

/* End the copy and have the process reap it. All zero is fine. */
void copy_end(struct copy *c);

/* See process_copy_reap_leftovers(). */
unsigned copy_reap_leftovers(pid_t pid);

#endif
