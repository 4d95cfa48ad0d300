/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All threads of a process stopped, looked at and let go (ptrace).
 *
 * Threads are seized, never attached: no signal is sent, the program's stops and signals stay what
 * they were. Whatever happens to us, the kernel lets the threads continue; nothing is left stopped.
 * A signal that a thread was about to get is delivered first: the thread then is at the first
 * instruction of its handler.
 */
#ifndef PTRACE_STOP_H
#define PTRACE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "src/base/err.h"
#include "src/ptrace/hurry.h"

struct gadget;
struct tracer;

struct stop_thread {
	pid_t tid;
	struct user_regs_struct regs;	/* as of the stop; change through stop_set_regs() */
	bool ended;			/* killed since */
};

struct stopped {
	pid_t pid;
	struct stop_thread *v;
	size_t nr;
	uint64_t begin_ns;		/* CLOCK_MONOTONIC of the first thread's stop */
	struct tracer *tracer;		/* does the work */
	/*
	 * for remote_open(): instructions found before the stop, where they can be; NULL = it looks
	 * for them
	 */
	const struct gadget *gadget;
	struct hurry hurry;
};

/*
 * May this process be traced at all? 0, or -errno with `e` saying why and what to do: no such
 * process, ended, kernel thread, 32-bit, another tracer (who), Yama, capabilities and user
 * namespaces, seccomp filters (stops each thread that has some for a moment; see confined.h),
 * ourselves.
 */
int stop_allowed(pid_t pid, struct err *e);

/*
 * The same of who wants to stop it only, or to copy it: without regard to filters, see confined.h.
 */
int stop_possible(pid_t pid, struct err *e);

/*
 * Stop every thread, also those that appear meanwhile, within `timeout_ns` of waiting. On failure
 * nothing is stopped. 0 or -errno with `e`: -ESRCH ended, -EPERM, -ETIMEDOUT (a thread sleeps
 * uninterruptibly; named), -EAGAIN (it called exec meanwhile).
 *
 * Under tracer_run() there is one attempt: who merely waits for a processor is waited for all the
 * time, one who sleeps uninterruptibly no longer than others can be held up for it.
 */
int stop_all(pid_t pid, uint64_t timeout_ns, struct stopped *s, struct err *e);

/*
 * Stop one thread only, one that bears being used for a while: rather in a system call that
 * restarts by itself than in a timed one, not about to get a signal, not in a restartable sequence.
 * As above.
 */
int stop_one(pid_t pid, uint64_t timeout_ns, struct stopped *s, struct err *e);

/*
 * This very thread, if it bears being used just now. As above; -EAGAIN: it does not, or has ended.
 */
int stop_this(pid_t pid, pid_t tid, uint64_t timeout_ns, struct stopped *s, struct err *e);

/* Change a thread's registers. 0 or -errno. */
int stop_set_regs(struct stopped *s, size_t i, const struct user_regs_struct *regs);

/*
 * Let all continue as if nothing had happened, signals included. Returns the nanoseconds since the
 * first thread's stop. Does nothing when stopping failed, and when called again.
 */
uint64_t stop_resume(struct stopped *s);

/*
 * As stop_resume(), but the tracing thread continues, with what else it traces, in *tracer;
 * release: tracer_free().
 */
uint64_t stop_resume_traced(struct stopped *s, struct tracer **tracer);

/*
 * Give up the priority that stop_all() takes so that the stop be short: for who keeps the threads
 * stopped while it works.
 */
void stop_calm_down(struct stopped *s);

/*
 * Memory of the process, stopped or not: 0 when all was read or written (also to read-only pages),
 * -errno.
 */
int stop_read(pid_t pid, uint64_t address, void *to, size_t bytes);
/*
 * As much as there is of any amount; pages that the program itself may not read at the moment one
 * by one, through `mem` (/proc/PID/mem, -1 = none). How many bytes.
 */
size_t stop_read_some(pid_t pid, int mem, uint64_t address, void *to, size_t bytes);
int stop_write(pid_t pid, uint64_t address, const void *from, size_t bytes);

#endif
