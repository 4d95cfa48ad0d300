/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: hears from processes (include/pmm/channel.h), looks at them from tick to tick, and
 * turns each one that ends into a heap. In steps, so that one thread can watch other things, too:
 *
 *	loop_add_fd(loop, monitor_fd(&m), EPOLLIN, on_monitor, &m, &source);
 *	on_monitor: monitor_turn(&m);		events come as calls of struct monitor_ops
 *
 * A caller with nothing else to do waits with it: monitor_step(), monitor_until_root() and the
 * like.
 *
 * One thread; one monitor a thread, since its sign of life is one word of the thread (pulse.h). It
 * wakes every 10 ms for visits, in sampled mode up to 50 ms, and at once for ends, signals and
 * messages. A turn never waits; it takes 20 ms at most beside what the callbacks take. Long work
 * in callbacks is done between ticker_begin() and ticker_pause(); `leaving` is.
 *
 * Signals are handed in (struct child). When the monitor is stopped, the processes continue, and
 * those that wait at their end wait on; when it is killed, the kernel says so on the board, and no
 * process waits any more. Prints nothing: what there is to report goes to the callbacks or is
 * counted here.
 */
#ifndef TRACK_MONITOR_H
#define TRACK_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/track/census.h"
#include "src/track/child.h"
#include "src/track/leaving.h"
#include "src/ledger/ledger_tree.h"
#include "src/track/pulse.h"
#include "src/ledger/preload.h"
#include "src/track/roll.h"
#include "src/track/serve.h"
#include "src/track/ticker.h"
#include "src/track/slot_pid.h"

struct monitor_ops {
	/* A process has ended, or is given up on while it lives. The heap is the callee's. */
	void (*ended)(void *arg, struct heap *h, bool is_root);
	/*
	 * Likewise, but it never allocated anything and is not delivered. The heap is the callee's;
	 * may be NULL.
	 */
	void (*idle)(void *arg, struct heap *h);
	/* Its ledger could not be read. */
	void (*unreadable)(void *arg, pid_t pid, bool is_root, const struct err *e);
	/*
	 * It is about to end and waits until this returns or calls l->let_go (monitor.holds: to
	 * monitor_let_go(), without a step before), alive; `ended` follows. Only where the tree
	 * was made with ledger_tree_options.leaks; may be NULL.
	 */
	void (*leaving)(void *arg, pid_t pid, const struct leaving *l);
	/*
	 * Its agent has noted heap errors that were not there at the call before, or one came again
	 * (looked for once a second): the process as it is, blocks left out. What it notes before
	 * it ends comes with `ended`; before exec, where nothing is delivered, a last time with
	 * this. The heap is the callee's. May be NULL.
	 */
	void (*found)(void *arg, struct heap *h, bool is_root);
	/*
	 * At each of the loop's steps, of each process that lives; now_ns on the tree's clock. Must
	 * not take long. May be NULL.
	 */
	void (*alive)(void *arg, pid_t pid, uint64_t now_ns);
};

/* One that waits at its end, and whose turn it is. */
struct monitor_waiting {
	struct watched *w;	  /* NULL: none */
	bool let_go;		  /* it continues, and is still being searched */
	struct leaving leaving;
};

struct monitor {
	struct ledger_tree *tree;
	struct child *child;
	const struct monitor_ops *ops;
	void *arg;
	struct slot_pid who;
	struct census census;	  /* programs that were executed, and who turned up */
	struct roll roll;	  /* who has handed in a ledger and has not been delivered yet */
	/* of the roll: who is visited first, where a step is over before it came round */
	size_t next;
	struct serve serve;
	struct pulse pulse;
	struct ticker own, *ticker; /* the board's clock; handed in, or its own */
	struct loop *loop;	  /* of its own */
	struct loop_source *timer; /* the next visits */
	bool messages;		  /* a message has come */
	int root_fd;		  /* the program's pidfd, where signals do not tell of its end */
	struct loop_source *root_end;
	bool leaves;		  /* processes wait at their end */
	VEC(struct leaving_asked) asked; /* who said so and was not searched yet, in that order */
	unsigned nr_picked;	  /* of them, so far */
	/* for src/track/launch.h: `leaving` only begins it, monitor_let_go() ends it */
	bool holds;
	struct monitor_waiting waiting;
	size_t next_leaving;	  /* of the roll: whose word is looked at first */
	bool root_drained;	  /* it has ended, and what was said before is heard */
	bool root_done;		  /* delivered: the program's number may be another's by now */
	uint64_t seen_ns, next_left_ns; /* for monitor_goes_on() */
	bool handed_over;	  /* another process continues */
	bool stirred;		  /* a process has ended: visits do not wait for the next tick */
	bool behind;		  /* there is more to do than a step has time for */
	size_t nr_ended;	  /* on the roll: they are to be delivered */
	uint32_t visited;	  /* the tick of the last visits */
	uint64_t interval_ns;	    /* --interval, 0 = adaptive */
	/* the loop waits for nothing longer than this; the user of a monitor may lower it */
	uint64_t longest_ns;
	uint64_t stir_ns;	    /* when a process came or went last */
	uint64_t root_begin_ns;	    /* when the program was started */
	uint64_t root_end_ns;	    /* when the program ended; 0 = it runs */
	uint64_t root_held_ns;	    /* how long it was held at its end, to be searched */
	bool follow;		    /* children are tracked too */
	bool end_asked;		    /* by a signal, after the program's end */
	bool awaits_all;	    /* also processes that show no sign of a ledger for long */
	unsigned nr_replaced;	    /* images that exec replaced: no capture */
	unsigned nr_without_events; /* processes that never allocated: no capture */
	unsigned nr_lost;	    /* processes that have no ledger, or none that can be used */
};

#define MONITOR_CLOSED ((struct monitor){ .root_fd = -1, .serve = SERVE_CLOSED })

/*
 * Before the program is started: descriptors and tables; from here on the board says that its
 * monitor lives. Everything is borrowed and must outlive it, and *m must not move. `ticker`: of the
 * thread's loop, for all that it watches; NULL: one of its own, which ticks while it is stepped. 0
 * or -errno with `e`.
 */
int monitor_init(struct monitor *m, struct ledger_tree *board, struct child *c,
		 struct ticker *ticker, uint64_t interval_ns, const struct monitor_ops *ops,
		 void *arg, struct err *e);
void monitor_fini(struct monitor *m);

/* What PMM_ENV is set to for the program. */
void monitor_value(const struct monitor *m, char value[PRELOAD_VALUE_BYTES]);

/* Descriptors that are to stay open. */
#define MONITOR_NR_FDS (SERVE_NR_FDS + LOOP_NR_FDS + 2)
void monitor_fds(const struct monitor *m, int fds[MONITOR_NR_FDS]);

/* The program runs: who it is; `began_ns`: ledger_tree_now_ns() before it was started. */
void monitor_begin(struct monitor *m, uint64_t began_ns);

/* Until the program (the root) has ended and its heap is delivered. */
void monitor_until_root(struct monitor *m);

/* How many processes of the tree continue, with a ledger or on the way to one; one in *pid. */
unsigned monitor_left(struct monitor *m, pid_t *pid);

/*
 * Are there any, also ones without a sign of it for a second (`awaits_all`: for ever), and was no
 * process asked to end?
 */
bool monitor_goes_on(struct monitor *m);

/* Deliver those that live as they are. */
void monitor_give_up(struct monitor *m);

/* monitor_left() once none is, or `grace_ns` are over. */
unsigned monitor_settle(struct monitor *m, uint64_t grace_ns, pid_t *pid);

/* As long as monitor_goes_on(), then monitor_give_up(). */
void monitor_until_all(struct monitor *m);

/*
 * Processes with a ledger that were not delivered yet; one's pid in *pid (may be NULL), one that
 * lives if there is one.
 */
unsigned monitor_living(const struct monitor *m, pid_t *pid);

/*
 * Fork, and have the new process continue as the monitor; the old one must not step any more. 0
 * there, once it has taken over (it ends where it cannot); here its pid, once it has or a while has
 * passed, or -errno.
 */
pid_t monitor_fork(struct monitor *m);

/* Readable when a turn has something to do. Stays its own; another one after monitor_fork(). */
int monitor_fd(const struct monitor *m);

/* Serve what came up, without waiting. Returns nanoseconds since the start. */
uint64_t monitor_turn(struct monitor *m);

/* Wait at most until the next visits are due, then likewise; or as long as that. */
uint64_t monitor_step(struct monitor *m);
uint64_t monitor_step_for(struct monitor *m, int64_t wait_ns);

/* The one that waits at its end is not needed any more. Nothing happens where there is none. */
void monitor_let_go(struct monitor *m);

#endif
