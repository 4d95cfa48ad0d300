/*
 * The thread that traces.
 *
 * The kernel accepts ptrace requests only from the thread that seized, and what a tracing thread has seized goes free when that
 * thread ends: the only way to let go of a thread that does not stop. So each tracing has a thread of its own, to which the work is
 * handed.
 */
#ifndef TARGET_TRACER_H
#define TARGET_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct tracer;

/* Of a status that tracer_wait() returns: the ptrace event, 0 = a signal or a system call. */
#define TRACER_EVENT(status)	((unsigned)(status) >> 8)
#define TRACER_SYSCALL		(5 | 0x80)	/* entry or exit of a system call: SIGTRAP, PTRACE_O_TRACESYSGOOD */

/* Start one. 0 or -errno with `e`. */
int tracer_new(struct tracer **out, struct err *e);

/* End it: whatever it still traces goes on. NULL is none. */
void tracer_free(struct tracer *t);

/* Run function(arg) on it and wait; returns its result. From the thread itself it is a plain call. */
int tracer_do(struct tracer *t, int (*function)(void *arg), void *arg);

/* CLOCK_MONOTONIC now. */
uint64_t tracer_now_ns(void);

/* The rest is for functions that run on it. Until when the waits below wait, CLOCK_MONOTONIC. */
void tracer_deadline(struct tracer *t, uint64_t ns);

/* A ptrace request: its result, or -errno. Reading a word (PEEK) is not served. */
long tracer_ptrace(int request, pid_t tid, uint64_t address, uint64_t data);

/* PTRACE_GETREGSET or PTRACE_SETREGSET of one type. 0 or -errno. */
int tracer_regset(int request, pid_t tid, unsigned type, void *data, size_t bytes);

/*
 * Wait for the next stop of a traced thread: its status as (signal | event << 8). -ESRCH it has ended (and is reaped), -ETIMEDOUT.
 * A stop stays reported: should we die, a signal that it was about to get is not lost.
 */
int tracer_wait(struct tracer *t, pid_t tid);

/* The same without waiting: -EAGAIN when it has not stopped. */
int tracer_peek(pid_t tid);

/* A thread to be let die as soon as it wants to, even while a request of ours waits for an exec that waits for that. 0 or -ENOMEM. */
int tracer_watch(struct tracer *t, pid_t tid);

/* No more of that. */
void tracer_forget(struct tracer *t);

#endif
