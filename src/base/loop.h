/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop: descriptors, timers, ends of children and signals, each with a callback.
 *
 *	loop_new(&l);
 *	loop_add_fd(l, socket, EPOLLIN, on_message, me, &source);
 *	loop_add_timer(l, nanotime() + 1000000000, on_second, me, &timer);
 *	while (!me->done) loop_step(l, -1);
 *	loop_free(l);
 *
 * Threads: a loop belongs to the thread that steps it. No function may be called by another one.
 *
 * Ownership: descriptors that are added stay the caller's. Delete the source first, then close the
 * descriptor: the other way round its number may be another file's by then. Sources belong to the
 * loop; the pointer in *out is valid until loop_del() or loop_free(). `out` may be NULL for what
 * stays until loop_free().
 *
 * Callbacks: one may add sources, delete any source (itself, too), set any timer, and call
 * loop_stop(). A deleted source is not called any more, even if its event is already known. A
 * callback may not step its own loop (-EBUSY) nor free it. What it adds or sets is due in the next
 * step at the earliest, so that no step is endless.
 *
 * Order in a step: descriptors, children and signals as the kernel reports them, at most 64; then
 * all timers that were due, the earliest first, of the same time the one that was set first.
 *
 * Errors: -errno, and nothing was changed. Out of memory or of descriptors is reported when a
 * source is added; setting a timer, deleting and stepping need neither.
 *
 * Signals of the process: never changed here. Who adds signals has blocked them before.
 *
 * Fork: the new process shares the kernel's side of the loop. It may call loop_free() alone, which
 * leaves the old process's loop as it is, and makes a loop of its own.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/types.h>

struct loop;
struct loop_source;

#define LOOP_NEVER UINT64_MAX	/* a timer that is not set */

/* *out is the caller's. 0 or -errno. */
int loop_new(struct loop **out);

/* Deletes all sources. NULL is fine. */
void loop_free(struct loop *l);

/*
 * Readable when a step has something to do: so that a loop can be a source of another one, or be
 * polled. Stays the loop's.
 */
int loop_fd(const struct loop *l);

/* Its own descriptors, for who closes all others. */
#define LOOP_NR_FDS 2
void loop_fds(const struct loop *l, int fds[LOOP_NR_FDS]);

/*
 * Call for as long as any of `events` (EPOLLIN, EPOLLOUT, ...) holds: once a step, with what holds.
 * EPOLLERR and EPOLLHUP are reported unasked. -EEXIST: there already; -EPERM: a regular file.
 */
int loop_add_fd(struct loop *l, int fd, uint32_t events, void (*call)(void *arg, uint32_t events),
		void *arg, struct loop_source **out);

/* Call once at `at_ns` of nanotime(), and again whenever loop_set_timer() sets another time. */
int loop_add_timer(struct loop *l, uint64_t at_ns, void (*call)(void *arg, uint64_t now_ns),
		   void *arg, struct loop_source **out);

/* Instead of the time that was set; a time in the past is due in the next step. */
void loop_set_timer(struct loop *l, struct loop_source *timer, uint64_t at_ns);

/*
 * Call once when a child has ended, also when it has ended already, and collect it. `status` is
 * wait()'s; -1: not known, because it is another process's child or was collected elsewhere.
 * -ESRCH: there is no such process (any more).
 */
int loop_add_child(struct loop *l, pid_t pid, void (*call)(void *arg, pid_t pid, int status),
		   void *arg, struct loop_source **out);

/* Call for each signal of the set that is pending; they are taken. The caller has blocked them. */
int loop_add_signals(struct loop *l, const sigset_t *set,
		     void (*call)(void *arg, const struct signalfd_siginfo *signal), void *arg,
		     struct loop_source **out);

/* Delete and free a source. NULL is fine. */
void loop_del(struct loop *l, struct loop_source *s);

/*
 * Wait until something is due, at most `wait_ns` (rounded up to a millisecond; 0: do not wait; < 0:
 * as long as it takes), and make the calls. How many were made; 0 also when a signal handler ran
 * meanwhile. Or -errno.
 */
int loop_step(struct loop *l, int64_t wait_ns);

/* Step until loop_stop(), which may come first. 0 or -errno. */
int loop_run(struct loop *l);

/* The loop_run() under way, or else the next one, returns after its step. */
void loop_stop(struct loop *l);

#endif
