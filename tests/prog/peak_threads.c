/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads take turns at barriers: the peak is reached while both hold blocks and neither alone
 * is at its own peak.
 *
 *   step   left holds   right holds   sum
 *   1      30000        0             30000
 *   2      10000        60000         70000    the peak
 *   3      40000        20000         60000
 *   4      0            0             0
 *
 * expect:
 *   site left   allocs=6 bytes=60000 live=0 blocks=0 peak=10000 peak_blocks=1
 *   site right  allocs=6 bytes=60000 live=0 blocks=0 peak=60000 peak_blocks=6
 * (the total peak is 70000 and what starting the threads takes)
 */
#include <pthread.h>
#include <stdlib.h>

#include "victim.h"

static pthread_barrier_t step;
static void *l[6], *r[6];

SITE static void *left(void) { return malloc(10000); }
SITE static void *right(void) { return malloc(10000); }

static void drop(void **p, int n)
{
	for (int i = 0; i < n; i++)
		free(p[i]);
}

static void *left_thread(void *arg)
{
	for (int i = 0; i < 3; i++)
		l[i] = left();
	drop(l, 2);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	for (int i = 3; i < 6; i++)
		l[i] = left();
	pthread_barrier_wait(&step);
	drop(l + 2, 4);
	return arg;
}

static void *right_thread(void *arg)
{
	pthread_barrier_wait(&step);
	for (int i = 0; i < 6; i++)
		r[i] = right();
	drop(r, 4);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	drop(r + 4, 2);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&t[0], NULL, left_thread, NULL);
	pthread_create(&t[1], NULL, right_thread, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
