/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of boards: the one place that ticks. Agents read time from their board's tick, and take
 * a clock that continues for the sign that their monitor lives.
 *
 * A ticker serves any number of boards. Who ticks:
 *
 *	a timer of the loop	every 10 ms, where all is sampled every 50 ms, as long as the loop
 *				is stepped
 *	ticker_tick()		work in a step that takes longer than that, between its parts
 *	a thread of its own	between ticker_begin() and ticker_pause(), for work that cannot be
 *				interrupted: a search for leaks, names
 *
 * The thread exists to tick, not to wait: work of seconds on the loop's only thread would else stop
 * the clock of all boards, and their processes would take the monitor for dead. It is started by
 * the first such work, and sleeps outside of it; when it cannot be had the clock stops meanwhile,
 * which agents bear for 2 seconds. When the whole of pmm is stopped or killed nothing ticks.
 *
 * All functions are for the thread that steps the loop.
 */
#ifndef TRACK_TICKER_H
#define TRACK_TICKER_H

#include <pthread.h>
#include <stdbool.h>

#include "src/base/loop.h"
#include "src/base/vec.h"
#include "src/ledger/ledger_tree.h"

struct ticker {
	struct loop *loop;		/* borrowed; NULL: there is no ticker */
	struct loop_source *timer;
	pthread_mutex_t lock;		/* of what follows */
	VEC(struct ledger_tree *) boards;	/* borrowed */
	pthread_cond_t change;
	unsigned nr_busy;		/* begun and not paused */
	bool end;
	bool on;			/* the thread runs */
	pthread_t thread;
};

/* Nothing is ticked yet. *k must not move. 0 or -errno; then it is none, as all zero is. */
int ticker_init(struct ticker *k, struct loop *l);

/* Boards are borrowed until they are deleted. Each is ticked at once. 0 or -ENOMEM. */
int ticker_add(struct ticker *k, struct ledger_tree *board);
void ticker_del(struct ticker *k, const struct ledger_tree *board);

/* Tick all boards; nanoseconds on the clock of this one, which is among them. */
uint64_t ticker_tick(struct ticker *k, struct ledger_tree *board);

/* When a board's tick is due that comes `wait_ns` after the current one began, by nanotime(). */
uint64_t ticker_next_ns(const struct ledger_tree *board, uint64_t wait_ns);

/* Long work begins, long work is over; they nest. */
void ticker_begin(struct ticker *k);
void ticker_pause(struct ticker *k);

/*
 * Ends the thread. All zero is fine. The loop must still be there. Not in a forked process, which
 * has neither the thread nor the loop: there it is forgotten.
 */
void ticker_fini(struct ticker *k);

#endif
