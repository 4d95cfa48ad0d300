/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that traces.
 *
 * The kernel accepts ptrace requests only from the thread that seized, and what a tracing thread
 * has seized goes free when that thread ends: the only way to let go of a thread that does not
 * stop. So each tracing has a thread of its own, to which the work is handed bit by bit
 * (tracer_do()) or all at once (tracer_run()).
 */
#ifndef PTRACE_TRACER_H
#define PTRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct hurry;
struct tracer;

/* Of a status that tracer_wait() returns: the ptrace event, 0 = a signal or a system call. */
#define TRACER_EVENT(status)	((unsigned)(status) >> 8)
/* entry or exit of a system call: SIGTRAP, PTRACE_O_TRACESYSGOOD */
#define TRACER_SYSCALL		(5 | 0x80)

/*
 * Start one. It uses a real-time signal of the process (SIGRTMAX - 3), which it gives a handler the
 * first time. 0, -EEXIST with `e`: that signal has another one; or -errno with `e`.
 */
int tracer_new(struct tracer **out, struct err *e);

/*
 * End it: whatever it still traces continues. NULL is none; tracer_here() is left to tracer_run().
 */
void tracer_free(struct tracer *t);

/*
 * Run function(arg) on a new one and wait; its result, or -errno with `e`. What it stops (stop.h)
 * is traced by this very thread, so that a stop costs no switches between threads; what it has not
 * let go goes free at the end.
 */
int tracer_run(int (*function)(void *arg), void *arg, struct err *e);

/* The calling thread, if it is one of tracer_run(); else NULL. */
struct tracer *tracer_here(void);

/* The priority that tracer_run() has begun with: once, to be ended by who gets it. */
struct hurry tracer_take_hurry(struct tracer *t);

/*
 * Run function(arg) on it and wait; returns its result. From the thread itself it is a plain call.
 */
int tracer_do(struct tracer *t, int (*function)(void *arg), void *arg);

/*
 * The two halves of tracer_do(): between them the caller does other work, and nothing else is
 * asked of it. False: not from the thread itself.
 */
bool tracer_begin(struct tracer *t, int (*function)(void *arg), void *arg);
int tracer_await(struct tracer *t);

/* The rest is for functions that run on it. Until when the waits below wait, nanotime(). */
void tracer_deadline(struct tracer *t, uint64_t ns);

/* A ptrace request: its result, or -errno. Reading a word (PEEK) is not served. */
long tracer_ptrace(int request, pid_t tid, uint64_t address, uint64_t data);

/* PTRACE_GETREGSET or PTRACE_SETREGSET of one type. 0 or -errno. */
int tracer_regset(int request, pid_t tid, unsigned type, void *data, size_t bytes);

/*
 * Wait for the next stop of a traced thread: its status as (signal | event << 8). -ESRCH it has
 * ended (and is reaped), -ETIMEDOUT. A stop stays reported: should we die, a signal that it was
 * about to get is not lost.
 */
int tracer_wait(struct tracer *t, pid_t tid);

/* The same without waiting: -EAGAIN when it has not stopped. */
int tracer_peek(pid_t tid);

/*
 * A thread of a process, to be let die as soon as it wants to, even while a request of ours waits
 * for an exec that waits for that. 0 or -ENOMEM.
 */
int tracer_watch(struct tracer *t, pid_t pid, pid_t tid);

/* No more of that. */
void tracer_forget(struct tracer *t);

#endif
