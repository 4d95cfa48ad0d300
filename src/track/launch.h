/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that launches a program with the agent preloaded, and follows it and its children to
 * their ends. In steps, so that one thread can hold one beside attached processes
 * (track_attach.h):
 *
 *	launch_open(&options, &l, &e);		board, sockets and tables; nothing runs
 *	launch_start(l, &e);			the program runs
 *	loop_add_fd(loop, launch_fd(l), EPOLLIN, on_launch, l, &source);
 *
 *	on_launch: launch_step(l, 0); while (launch_next(l, &event) != LAUNCH_NONE) ...
 *
 *	loop_del(loop, source);
 *	launch_close(l);
 *
 * Allowed calls: launch_close() always. Between open and start what is known, from start on all.
 *
 * Life of a process: LAUNCH_FOUND any number of times; LAUNCH_LEAVING where processes wait at their
 * ends; then one of LAUNCH_ENDED, LAUNCH_IDLE and LAUNCH_UNREADABLE. An image that another program
 * takes the place of (exec) has the first two alone, and is counted. Events come in the order in
 * which the steps met with them; those of one step are kept until they are taken, LAUNCH_LEAVING,
 * of which a step has one at most, last.
 *
 * Ownership: heaps of events are the caller's. What an event points to is valid until the next call
 * of launch_next() or launch_step().
 *
 * Threads: one for all calls. A step never waits longer than its argument says; beside that it
 * takes 20 ms, and what reading one heap takes. launch_open() and launch_start() take milliseconds,
 * launch_fork() waits for the new process for 5 seconds at most, launch_close() for the end of a
 * program that it kills. Nothing else blocks. The ticker's thread, while a process is searched at
 * its end, is the only other one.
 *
 * Clock: see ticker.h; without a ticker in the options the launch has one of its own, which ticks
 * while it is stepped.
 *
 * Signals: only by the caller's callbacks (struct child_signals), which change the whole process:
 * one launch at a time may have them. Likewise `raises_limits`. The program's end is noticed
 * without them.
 *
 * A thread holds one launch at a time, from open to close: when it ends, however that comes, the
 * kernel says so on the board, so that no process waits at its end any more, and a thread has one
 * list of such words (pulse.h). A second one at a time belongs to another thread.
 *
 * Errors: what fails in open or start leaves nothing behind but what launch_close() frees. A step
 * does not fail: what cannot be recorded is counted in launch_totals.nr_lost. Prints nothing.
 */
#ifndef TRACK_LAUNCH_H
#define TRACK_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/ledger/ledger_at.h"
#include "src/ledger/ledger_tree.h"
#include "src/model/heap.h"
#include "src/track/leaving.h"
#include "src/track/monitor.h"
#include "src/track/ticker.h"

struct census;
struct child;
struct launch;

struct launch_options {
	const char *path;		/* of the program: borrowed, as all pointers here */
	char **argv;			/* ends with NULL */
	const char *agent;		/* see preload_find() */
	/* of the limits in there those of this process are filled in */
	struct ledger_tree_options tree;
	const struct child_signals *signals;	/* NULL: none is touched or passed on */
	const sigset_t *mask;		/* that the program gets; NULL: as `signals` found it */
	/* raise this process's limits for its own work; the program gets those of before */
	bool raises_limits;
	struct ticker *ticker;		/* of the thread's loop; NULL: one of its own */
	uint64_t interval_ns;		/* between points of the time series; 0 = adaptive */
	bool every_tick;		/* look at each process at each tick, however calm it is */
	/*
	 * the program's process is there and waits, before it executes anything; NULL: not asked
	 * for. 0, or -errno with `e`: it ends, and launch_start() with it
	 */
	int (*forked)(void *arg, pid_t pid, struct err *e);
	void *forked_arg;
};

enum launch_what {
	LAUNCH_NONE,		/* nothing (more) at present */
	LAUNCH_FOUND,		/* heap errors were noted, or came again: the heap without blocks */
	LAUNCH_LEAVING,		/* it is about to end, and waits until the next launch_next() */
	LAUNCH_ENDED,		/* it has ended, or is given up: its heap */
	LAUNCH_IDLE,		/* the same, of one other than the root that did nothing */
	LAUNCH_UNREADABLE,	/* the same, but its ledger could not be read */
};

struct launch_event {
	pid_t pid;		/* as we see it; where there is a heap as that has it */
	bool is_root;		/* the program itself; of LAUNCH_IDLE never */
	/*
	 * LAUNCH_ENDED: another program, which is not tracked, was in its place at the end, and
	 * since when (CLOCK_MONOTONIC)
	 */
	bool replaced;
	uint64_t replaced_ns;
	struct heap *heap;	/* of FOUND, ENDED and IDLE: the caller's; else NULL */
	const struct leaving *leaving;	/* of LAUNCH_LEAVING; its let_go() may be called */
	struct err err;		/* of LAUNCH_UNREADABLE */
};

/* Counts so far. */
struct launch_totals {
	unsigned nr_replaced;	    /* images that exec replaced: no heap */
	unsigned nr_without_events; /* processes that never allocated: LAUNCH_IDLE at most */
	unsigned nr_lost;	    /* processes without a ledger, or with none that can be used */
	/* the program's own time, until it ended, without what it was held at its end */
	uint64_t run_ns;
	bool shrunk;		    /* ledgers are smaller than they should be */
	bool data_not_raised;	    /* the agent's memory counts against the limit on data */
	struct census *census;	    /* programs that were executed */
};

/* *out is the caller's. 0 or -errno with `e`: nothing is left behind. */
int launch_open(const struct launch_options *o, struct launch **out, struct err *e);

/* 0 or -errno with `e`: nothing runs, and launch_close() is all that is left to do. */
int launch_start(struct launch *l, struct err *e);

/* Readable when a step has something to do. Another one after launch_fork() in the new process. */
int launch_fd(const struct launch *l);

/* Descriptors that are to stay open, for who closes all others. */
#define LAUNCH_NR_FDS (MONITOR_NR_FDS + 1)
void launch_fds(const struct launch *l, int fds[LAUNCH_NR_FDS]);

/*
 * Look at what is due, after waiting for that for `wait_ns` at most. Between LAUNCH_LEAVING and the
 * next launch_next() nothing happens.
 */
void launch_step(struct launch *l, int64_t wait_ns);

/* The next event. A process that was LAUNCH_LEAVING ends. */
enum launch_what launch_next(struct launch *l, struct launch_event *out);

/* Has the program ended, and was it delivered? Its last event may have to be taken yet. */
bool launch_root_done(const struct launch *l);

/* How many processes of the tree continue, with a ledger or on the way to one; one in *pid. */
unsigned launch_left(struct launch *l, pid_t *pid);

/*
 * False once all have ended, for sure after a second, or SIGTERM or SIGHUP were passed in by
 * `signals` after the program's end: launch_give_up() then has events for those that live.
 */
bool launch_goes_on(struct launch *l);
void launch_give_up(struct launch *l);

/*
 * After the program's end: from now on launch_goes_on() is true of processes that cannot be tracked
 * as well, whatever they wait for, and what ends us at a terminal makes it false, too.
 */
void launch_await_all(struct launch *l);

/* The processes that live, one after the other: *at is 0 at first. 0: no more. */
pid_t launch_living(const struct launch *l, size_t *at);

/* Has it a ledger, or an agent that will begin one? It may have been launched just now. */
bool launch_tracks(struct launch *l, pid_t pid);

/*
 * The block of a tracked process that has this address now, as ledger_at_find(). -ESRCH: no such
 * process, -EAGAIN: it has no ledger yet.
 */
int launch_block_at(struct launch *l, pid_t pid, uint64_t address, struct ledger_at_block *out);

/*
 * The heap of a tracked process as it is now; the caller's. 0 or -errno with `e`; -ESRCH: no such
 * process.
 */
int launch_read(struct launch *l, pid_t pid, struct heap **out, struct err *e);

/* launch_close() does not kill the program: it continues, without being recorded. */
void launch_release(struct launch *l);

/* Nanoseconds on the tree's clock: the time axis of heaps. The tree's board, open. */
uint64_t launch_now_ns(const struct launch *l);
int launch_board(const struct launch *l);

/* The program, and what pmm's signals were before. */
const struct child *launch_child(const struct launch *l);

struct launch_totals launch_totals(struct launch *l);

/*
 * Fork; the new process continues with the launch, the old one may only take totals and close it. 0
 * there, here its pid or -errno.
 */
pid_t launch_fork(struct launch *l);

/*
 * Release, at any time. The program is killed if it runs; others of its tree continue, without
 * being recorded. Limits are as before. NULL is fine.
 */
void launch_close(struct launch *l);

#endif
