/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks still to be followed.
 */
#include "src/analyze/reach/reach_bag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct reach_bag *bag_new(struct reach_stack *s)
{
	struct reach_bag *bag = s->spare;

	if (bag) {
		s->spare = NULL;
	} else {
		bag = malloc(sizeof(*bag));
		if (!bag)
			return NULL;
		reach_count(s->space, sizeof(*bag));
	}
	bag->nr = 0;
	bag->next = NULL;
	return bag;
}

static void bag_free(struct reach_space *space, struct reach_bag *bag)
{
	if (bag)
		reach_count(space, -(int64_t)sizeof(*bag));
	free(bag);
}

int reach_push(struct reach_stack *s, const uint32_t *blocks, unsigned nr)
{
	while (nr) {
		struct reach_bag *bag = s->top;
		unsigned fits;

		if (!bag || bag->nr == REACH_BAG) {
			bag = bag_new(s);
			if (!bag)
				return -ENOMEM;
			bag->next = s->top;
			s->top = bag;
		}
		fits = nr < REACH_BAG - bag->nr ? nr : REACH_BAG - bag->nr;
		memcpy(bag->block + bag->nr, blocks, fits * sizeof(*blocks));
		bag->nr += fits;
		blocks += fits;
		nr -= fits;
	}
	return 0;
}

static void drop_top(struct reach_stack *s)
{
	struct reach_bag *bag = s->top;

	s->top = bag->next;
	bag->next = NULL;
	if (s->spare)
		bag_free(s->space, bag);
	else
		s->spare = bag;
}

unsigned reach_pop(struct reach_stack *s, uint32_t *to, unsigned nr)
{
	struct reach_bag *bag;

	while (s->top && !s->top->nr)
		drop_top(s);
	bag = s->top;
	if (!bag)
		return 0;
	if (nr > bag->nr)
		nr = bag->nr;
	bag->nr -= nr;
	memcpy(to, bag->block + bag->nr, nr * sizeof(*to));
	return nr;
}

static void bags_free(struct reach_space *space, struct reach_bag *bag)
{
	while (bag) {
		struct reach_bag *next = bag->next;

		bag_free(space, bag);
		bag = next;
	}
}

void reach_stack_fini(struct reach_stack *s)
{
	bags_free(s->space, s->top);
	bags_free(s->space, s->spare);
	s->top = s->spare = NULL;
}

void reach_pool_init(struct reach_pool *p)
{
	memset(p, 0, sizeof(*p));
	p->busy = 1;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
}

void reach_pool_fini(struct reach_pool *p, struct reach_space *space)
{
	bags_free(space, p->bags);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
}

void reach_pool_enter(struct reach_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->busy++;
	pthread_mutex_unlock(&p->lock);
}

/* A bag to give away: one below the top, or half of the top. NULL: too little. */
static struct reach_bag *take_bag(struct reach_stack *s)
{
	struct reach_bag *top = s->top, *bag;
	uint32_t half;

	if (!top)
		return NULL;
	bag = top->next;
	if (bag) {
		top->next = bag->next;
		return bag;
	}
	half = top->nr / 2;
	if (!half)
		return NULL;
	bag = bag_new(s);
	if (!bag)
		return NULL;
	memcpy(bag->block, top->block, half * sizeof(*top->block));
	memmove(top->block, top->block + half, (top->nr - half) * sizeof(*top->block));
	bag->nr = half;
	top->nr -= half;
	return bag;
}

void reach_pool_share(struct reach_pool *p, struct reach_stack *s)
{
	struct reach_bag *bag;

	if (!__atomic_load_n(&p->hungry, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&p->lock);
	/* at the end no thread would take it */
	bag = p->hungry && !p->bags && !p->done ? take_bag(s) : NULL;
	if (bag) {
		bag->next = p->bags;
		p->bags = bag;
		pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
}

bool reach_pool_wait(struct reach_pool *p, struct reach_stack *s)
{
	struct reach_bag *bag;

	pthread_mutex_lock(&p->lock);
	p->busy--;
	__atomic_fetch_add(&p->hungry, 1, __ATOMIC_RELAXED);
	if (!p->busy && !p->bags) {
		p->done = true;
		pthread_cond_broadcast(&p->changed);
	}
	while (!p->bags && !p->done)
		pthread_cond_wait(&p->changed, &p->lock);
	__atomic_fetch_sub(&p->hungry, 1, __ATOMIC_RELAXED);
	bag = p->done ? NULL : p->bags;
	if (bag) {
		p->bags = bag->next;
		bag->next = s->top;
		s->top = bag;
		p->busy++;
	}
	pthread_mutex_unlock(&p->lock);
	return bag;
}

void reach_pool_stop(struct reach_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->done = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}
