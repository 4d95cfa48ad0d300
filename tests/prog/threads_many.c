/* SPDX-License-Identifier: GPL-2.0-or-later
 * 1000 threads one after the other, then 100 at once; each leaves one block of 24 bytes and frees
 * nine of 40.
 *
 * expect:
 *   site left   allocs=1100 frees=0 bytes=26400 live=26400 blocks=1100
 *   site freed  allocs=9900 frees=9900 bytes=396000 live=0 blocks=0
 *   threads     count=1101
 */
#include <pthread.h>
#include <stdlib.h>

#include "victim.h"

static pthread_barrier_t all;

SITE static void *left(void) { return malloc(24); }
SITE static void *freed(void) { return malloc(40); }

static void *thread(void *at_once)
{
	void *p[9];

	if (at_once)
		pthread_barrier_wait(&all);
	for (int i = 0; i < 9; i++)
		p[i] = hide(freed());
	for (int i = 0; i < 9; i++)
		free(p[i]);
	hide(left());
	return NULL;
}

int main(void)
{
	pthread_t t[100];

	hide(malloc(1));
	for (int i = 0; i < 1000; i++) {
		if (pthread_create(&t[0], NULL, thread, NULL))
			return 1;
		pthread_join(t[0], NULL);
	}
	pthread_barrier_init(&all, NULL, 100);
	for (int i = 0; i < 100; i++)
		if (pthread_create(&t[i], NULL, thread, &all))
			return 1;
	for (int i = 0; i < 100; i++)
		pthread_join(t[i], NULL);
	return 0;
}
