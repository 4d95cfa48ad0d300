/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the tree's clock while the monitor's loop is at work for long, for example searching a
 * process: the clock is what processes that wait take for the monitor's sign of life.
 *
 * A thread of its own, from the first work on; between works it sleeps.
 */
#ifndef TRACK_TICKER_H
#define TRACK_TICKER_H

#include <pthread.h>
#include <stdbool.h>

#include "src/ledger/ledger_tree.h"

struct ticker {
	struct ledger_tree *tree;	/* borrowed; NULL: there is none */
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t change;
	bool busy, end;
	bool on;			/* the thread runs */
	pthread_t thread;
};

/* Nothing runs yet; again in a forked process, which has no such thread. */
void ticker_init(struct ticker *k, struct ledger_tree *t);

/* Work begins, work is over. When there is no thread to be had the clock stands still meanwhile. */
void ticker_begin(struct ticker *k);
void ticker_pause(struct ticker *k);

void ticker_fini(struct ticker *k);

#endif
