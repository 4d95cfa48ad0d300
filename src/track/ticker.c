/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of boards. */
#include "src/track/ticker.h"

#include <string.h>
#include <time.h>

#include "src/base/thread.h"

#define STACK_BYTES (64u << 10)

/* ---- the thread ---- */

static void tick_all(struct ticker *k)
{
	vec_each(&k->boards, t)
		ledger_tree_tick(*t);
}

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

static void *run(void *arg)
{
	struct ticker *k = arg;

	pthread_mutex_lock(&k->lock);
	while (!k->end) {
		if (k->nr_busy) {
			tick_all(k);
			wait_a_tick(k);
		} else {
			pthread_cond_wait(&k->change, &k->lock);
		}
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* ---- the timer ---- */

uint64_t ticker_next_ns(const struct ledger_tree *board, uint64_t wait_ns)
{
	uint64_t now_ns = ledger_tree_now_ns(board);

	return board->start_monotonic_ns + now_ns - now_ns % PMM_TICK_NS + wait_ns;
}

/* For the board that is due first. */
static void set_timer(struct ticker *k)
{
	uint64_t next_ns = LOOP_NEVER;

	vec_each(&k->boards, t) {
		uint64_t ns = ticker_next_ns(*t, ledger_tree_calm_ns(*t));

		next_ns = ns < next_ns ? ns : next_ns;
	}
	loop_set_timer(k->loop, k->timer, next_ns);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	struct ticker *k = arg;

	(void)now_ns;
	tick_all(k);	/* the list is changed by this thread alone, so that it needs no lock */
	set_timer(k);
}

int ticker_init(struct ticker *k, struct loop *l)
{
	pthread_condattr_t attr;
	int rc;

	*k = (struct ticker){ .loop = NULL };
	rc = loop_add_timer(l, LOOP_NEVER, on_timer, k, &k->timer);
	if (rc)
		return rc;
	k->loop = l;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->change, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

/* ---- boards ---- */

int ticker_add(struct ticker *k, struct ledger_tree *board)
{
	int rc;

	pthread_mutex_lock(&k->lock);
	rc = vec_push(&k->boards, board);
	pthread_mutex_unlock(&k->lock);
	if (!rc)
		on_timer(k, 0);
	return rc;
}

void ticker_del(struct ticker *k, const struct ledger_tree *board)
{
	size_t nr = 0;

	pthread_mutex_lock(&k->lock);
	vec_each(&k->boards, t)
		if (*t != board)
			k->boards.v[nr++] = *t;
	k->boards.nr = nr;
	pthread_mutex_unlock(&k->lock);
	set_timer(k);
}

uint64_t ticker_tick(struct ticker *k, struct ledger_tree *board)
{
	uint32_t was = board->head->tick;
	uint64_t now_ns = ledger_tree_tick(board);

	if (k->boards.nr > 1)
		tick_all(k);
	if (now_ns / PMM_TICK_NS != was)
		set_timer(k);	/* at the same time as who ticks at each tick: one wake-up */
	return now_ns;
}

/* ---- long work ---- */

void ticker_begin(struct ticker *k)
{
	pthread_mutex_lock(&k->lock);
	if (!k->nr_busy++)
		pthread_cond_signal(&k->change);
	pthread_mutex_unlock(&k->lock);
	if (!k->on)
		k->on = !thread_start(&k->thread, STACK_BYTES, run, k);
}

/* The thread finds out by itself, a tick later. */
void ticker_pause(struct ticker *k)
{
	pthread_mutex_lock(&k->lock);
	k->nr_busy--;
	pthread_mutex_unlock(&k->lock);
}

void ticker_fini(struct ticker *k)
{
	if (!k->loop)
		return;
	if (k->on) {
		pthread_mutex_lock(&k->lock);
		k->end = true;
		pthread_cond_signal(&k->change);
		pthread_mutex_unlock(&k->lock);
		pthread_join(k->thread, NULL);
	}
	loop_del(k->loop, k->timer);
	pthread_cond_destroy(&k->change);
	pthread_mutex_destroy(&k->lock);
	vec_fini(&k->boards);
	*k = (struct ticker){ .loop = NULL };
}
