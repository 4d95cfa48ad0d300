/*
 * The monitor: keeps the tree's clock, notices processes, and turns each one that ends into a heap.
 *
 * A single thread in one loop; wakes every 10 ms for the clock, in sampled mode up to 50 ms, and at once for ends, signals and
 * connections. Prints nothing: what there is to tell goes to the callbacks or is counted here.
 */
#ifndef CAPTURE_MONITOR_H
#define CAPTURE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/capture/child.h"
#include "src/capture/kept.h"
#include "src/capture/leaving.h"
#include "src/capture/ledger_tree.h"
#include "src/capture/watched.h"

struct monitor_ops {
	/* A process has ended, or is given up on while it lives. The heap is the callee's. */
	void (*ended)(void *arg, struct heap *h, bool is_root);
	/* Its ledger could not be read. */
	void (*unreadable)(void *arg, pid_t pid, bool is_root, const struct err *e);
	/*
	 * It is about to end and waits until this returns or calls l->let_go, alive; `ended` follows. Only where the tree was made with
	 * ledger_tree_options.leaks; may be NULL.
	 */
	void (*leaving)(void *arg, pid_t pid, const struct leaving *l);
	/*
	 * Its agent has noted heap errors that were not there at the call before, or one came again (looked for once a second): the process as it
	 * is, blocks left out. What it notes before it ends comes with `ended`; before exec, where nothing is delivered, a last time with this. The
	 * heap is the caller's. May be NULL.
	 */
	void (*found)(void *arg, const struct heap *h, bool is_root);
	/* At each of the loop's steps, of each process that lives; now_ns on the tree's clock. Must not take long. May be NULL. */
	void (*alive)(void *arg, pid_t pid, uint64_t now_ns);
};

struct monitor {
	struct ledger_tree *tree;
	struct child *child;
	const struct monitor_ops *ops;
	void *arg;
	struct whois who;
	struct watched **watched; /* by slot, NULL = nothing there */
	uint64_t *claimed_ns;	  /* by slot: when a claim without pid was seen; 0 = none */
	struct kept kept;	  /* slots whose processes have ended */
	int epoll, listen_fd;
	struct leaving_watch leaving; /* fd -1: processes do not wait at their end */
	unsigned next_leaving;	  /* the slot to look at first for one that waits */
	bool one_left;		  /* one was seen off, there may be more */
	uint64_t interval_ns;	    /* --interval, 0 = adaptive */
	uint64_t longest_ns;	    /* the loop waits for nothing longer than this; the user of a monitor may lower it */
	uint64_t stir_ns;	    /* when a process came or went last */
	uint64_t root_end_ns;	    /* when the program ended; 0 = it runs */
	bool follow;		    /* children are tracked too */
	bool end_asked;		    /* SIGTERM or SIGHUP after the program's end */
	unsigned nr_replaced;	    /* images that exec replaced: no capture */
	unsigned nr_without_events; /* processes that never allocated: no capture */
};

/*
 * Before the program is started: descriptors and tables. Everything is borrowed and must outlive
 * it. 0 or -errno with `e`.
 */
int monitor_init(struct monitor *m, struct ledger_tree *t, struct child *c, uint64_t interval_ns,
		 const struct monitor_ops *ops, void *arg, struct err *e);
void monitor_fini(struct monitor *m);

/* The program runs: who it is. */
void monitor_begin(struct monitor *m);

/* Until the program (the root) has ended and its heap is delivered. */
void monitor_until_root(struct monitor *m);

/*
 * Until all processes of the tree have ended, or `grace_ns` are over; how many live, one in *pid.
 */
unsigned monitor_settle(struct monitor *m, uint64_t grace_ns, pid_t *pid);

/* Until all have ended; when asked to end (SIGTERM) delivers the living as they are. */
void monitor_until_all(struct monitor *m);

/* Processes that live and hold a slot; the first one's pid in *pid (may be NULL). */
unsigned monitor_living(const struct monitor *m, pid_t *pid);

/* In a forked child that goes on as the monitor: take over. 0 or -errno. */
int monitor_moved(struct monitor *m);

/* Wait at most until the next tick and serve what came up. Returns nanoseconds since the start. */
uint64_t monitor_step(struct monitor *m);

#endif
