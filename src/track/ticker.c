/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree's clock, kept while the monitor's loop is at work. */
#include "src/track/ticker.h"

#include <time.h>

#include "src/base/thread.h"

#define STACK_BYTES (64u << 10)

static void wait_a_tick(struct ticker *k)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)PMM_TICK_NS;
	if (until.tv_nsec >= 1000000000l) {
		until.tv_nsec -= 1000000000l;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&k->change, &k->lock, &until);
}

static void *tick(void *arg)
{
	struct ticker *k = arg;

	pthread_mutex_lock(&k->lock);
	while (!k->end) {
		if (k->busy) {
			ledger_tree_tick(k->tree);
			wait_a_tick(k);
		} else {
			pthread_cond_wait(&k->change, &k->lock);
		}
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

void ticker_init(struct ticker *k, struct ledger_tree *t)
{
	pthread_condattr_t attr;

	*k = (struct ticker){ .tree = t };
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->change, &attr);
	pthread_condattr_destroy(&attr);
}

static void set(struct ticker *k, bool busy, bool end)
{
	pthread_mutex_lock(&k->lock);
	k->busy = busy;
	k->end = end;
	if (busy || end)
		pthread_cond_signal(
			&k->change); /* who is to sleep finds out by himself, a tick later */
	pthread_mutex_unlock(&k->lock);
}

void ticker_begin(struct ticker *k)
{
	set(k, true, false);
	if (!k->on)
		k->on = !thread_start(&k->thread, STACK_BYTES, tick, k);
}

void ticker_pause(struct ticker *k)
{
	set(k, false, false);
}

void ticker_fini(struct ticker *k)
{
	if (!k->tree)
		return;
	if (k->on) {
		set(k, false, true);
		pthread_join(k->thread, NULL);
	}
	pthread_cond_destroy(&k->change);
	pthread_mutex_destroy(&k->lock);
	*k = (struct ticker){ .tree = NULL };
}
