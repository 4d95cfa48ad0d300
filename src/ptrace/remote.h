/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls and functions executed by a stopped thread of another process.
 *
 * Safe against our own death at any moment: before the thread's registers are changed, a signal
 * frame with its true state is on its stack, and every way out of what it is made to do ends in
 * rt_sigreturn on that frame. While we live, we restore the registers ourselves, so that
 * interrupted system calls restart as if nothing had been.
 */
#ifndef PTRACE_REMOTE_H
#define PTRACE_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/ptrace/stop.h"

/* mapped by remote_call() where remote_use_code() was not called */
#define REMOTE_CODE_BYTES	4096u

struct remote;

/*
 * Use thread `i` of `s`. Finds in the process's code the two instructions it needs (syscall; ret
 * and rt_sigreturn). `s` must outlive it. 0 or -errno with `e`.
 */
int remote_open(struct stopped *s, size_t i, struct remote **out, struct err *e);

/* How well a stopped thread bears being used: the less the better, up to ARCH_RANK_WORST. */
unsigned remote_rank(const struct stop_thread *t);

/* A walk over the threads that have not ended, the fittest first; all zero: at the beginning. */
struct remote_walk {
	unsigned rank;
	size_t next;
};

/* The next one's number in *i. False: there is none. */
bool remote_next(const struct stopped *s, struct remote_walk *w, size_t *i);

/*
 * Have the fittest thread do it; where it cannot, or `function` fails, the next one, which begins
 * again. 0, or -errno with `e`: why the last one could not; -EAGAIN where there is none.
 */
int remote_by_any(struct stopped *s, int (*function)(struct remote *r, void *arg, struct err *e),
		  void *arg, struct err *e);

/* Put the thread back to where it was and free. */
void remote_close(struct remote *r);

/*
 * One system call; *result as the kernel gives it (negative errno). 0, or -errno when the thread
 * could not do it.
 */
int remote_syscall(struct remote *r, long nr, const uint64_t args[6], int64_t *result,
		   struct err *e);

/*
 * REMOTE_SCRATCH_BYTES of the thread's stack, 8-byte aligned, that nothing else uses
 * until remote_close(): for results.
 */
#define REMOTE_SCRATCH_BYTES	64u
uint64_t remote_scratch(const struct remote *r);

struct remote_child {
	pid_t pid;		/* as we see it */
	pid_t ns_pid;		/* as the process sees it */
};

/*
 * A copy of the process as by fork(), but that it shares the table of descriptors and that its end
 * is signalled to no process. Traced by the thread that traces r's, it stops before it executes
 * anything; PTRACE_EVENT_STOP is not waited for here. Let go, all it does is end, with status
 * REMOTE_CHILD_STATUS. 0; -EAGAIN with `e`: not by this thread; -EDQUOT a limit on processes, other
 * -errno.
 */
#define REMOTE_CHILD_STATUS	112
int remote_fork(struct remote *r, struct remote_child *child, struct err *e);

/*
 * Use the code (arch_call_code) that is there already for remote_call(), in place of a page
 * mapped for it.
 */
void remote_use_code(struct remote *r, uint64_t code);

/*
 * Call function(arg) on the stack that ends at `stack_end` (16-byte aligned, at least 32 KiB,
 * mapped), for at most `timeout_ns`. Its system calls are its own. 0, -errno.
 */
int remote_call(struct remote *r, uint64_t function, uint64_t arg, uint64_t stack_end,
		uint64_t timeout_ns, int64_t *result, struct err *e);

#endif
