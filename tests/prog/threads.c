/* SPDX-License-Identifier: GPL-2.0-or-later
 * Eight threads with blocks of their own size; the half of each is freed by the next thread.
 *
 * Thread "worker-N" makes 1000 blocks of 100 + N bytes; 500 of them stay.
 *
 * expect:
 *   site work     allocs=8000 frees=4000 bytes=828000 live=414000 blocks=4000
 *   thread worker-0 allocs=1000 frees=500 bytes=100000
 *   thread worker-3 allocs=1000 frees=500 bytes=103000
 *   thread worker-7 allocs=1000 frees=500 bytes=107000
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

static pthread_barrier_t all;
static void *block[8][1000];

SITE static void *work(size_t bytes) { return malloc(bytes); }

static void *worker(void *arg)
{
	size_t n = (size_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker-%zu", n);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 1000; i++)
		block[n][i] = memset(work(100 + n), 0, 100 + n);
	pthread_barrier_wait(&all);
	for (int i = 0; i < 1000; i += 2)
		free(block[(n + 1) % 8][i]);
	return NULL;
}

int main(void)
{
	pthread_t t[8];

	pthread_barrier_init(&all, NULL, 8);
	for (size_t i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)i))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return 0;
}
