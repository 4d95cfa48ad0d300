/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks still to be followed: a stack in bags of a thousand, and a pool through which threads hand
 * bags to those that have none.
 */
#ifndef ANALYZE_REACH_REACH_BAG_H
#define ANALYZE_REACH_REACH_BAG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/reach/reach_space.h"

#define REACH_BAG 1020

struct reach_bag {
	struct reach_bag *next;
	uint32_t nr;
	uint32_t block[REACH_BAG];
};

/* A thread's own. All zero but `space` is empty. */
struct reach_stack {
	struct reach_bag *top, *spare;
	struct reach_space *space;
};

/* 0 or -ENOMEM. */
int reach_push(struct reach_stack *s, const uint32_t *blocks, unsigned nr);

/* Take up to `nr` blocks off the stack; how many. */
unsigned reach_pop(struct reach_stack *s, uint32_t *to, unsigned nr);
void reach_stack_fini(struct reach_stack *s);

struct reach_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct reach_bag *bags;
	unsigned busy;		/* threads that may still make work */
	unsigned hungry;	/* threads that wait for some; read without the lock, as a hint */
	bool done;
};

/* One thread, the one that does what no other can, counts as having begun. */
void reach_pool_init(struct reach_pool *p);
void reach_pool_fini(struct reach_pool *p, struct reach_space *space);

/* Another thread begins: it has work, or will ask for it. It may do so after the end. */
void reach_pool_enter(struct reach_pool *p);

/* Give a part of the stack away if a thread waits for work. Cheap if none does. */
void reach_pool_share(struct reach_pool *p, struct reach_stack *s);

/* Wait for work, with an empty stack. false: there is none any more, and no thread can make any. */
bool reach_pool_wait(struct reach_pool *p, struct reach_stack *s);

/* End it for all threads (out of memory). */
void reach_pool_stop(struct reach_pool *p);

#endif
