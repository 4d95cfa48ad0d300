/* SPDX-License-Identifier: GPL-2.0-or-later
 * Big thread-local storage, keys with destructors that allocate and free, and a cancelled thread
 * with a cleanup.
 *
 * expect:
 *   site in_thread      allocs=20 frees=20 bytes=6000 live=0 blocks=0
 *   site in_destructor  allocs=20 frees=0 bytes=660 live=660 blocks=20
 *   site cancelled      allocs=1 frees=1 bytes=444 live=0 blocks=0
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

static __thread char big[1 << 20];
static pthread_key_t key;
static pthread_barrier_t ready;

SITE static void *in_thread(void) { return malloc(300); }
SITE static void *cancelled(void) { return malloc(444); }

SITE static void in_destructor(void *p)
{
	hide(malloc(33));
	free(p);
}

static void *thread(void *arg)
{
	memset(hide(big), 1, sizeof(big));
	pthread_setspecific(key, in_thread());
	return arg;
}

static void *to_cancel(void *arg)
{
	void *p = cancelled();

	(void)arg;
	pthread_cleanup_push(free, p);
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return NULL;
}

int main(void)
{
	pthread_t t[20];

	pthread_key_create(&key, in_destructor);
	pthread_barrier_init(&ready, NULL, 2);
	for (int i = 0; i < 20; i++)
		if (pthread_create(&t[i], NULL, thread, NULL))
			return 1;
	for (int i = 0; i < 20; i++)
		pthread_join(t[i], NULL);
	pthread_create(&t[0], NULL, to_cancel, NULL);
	pthread_barrier_wait(&ready);
	pthread_cancel(t[0]);
	return pthread_join(t[0], NULL);
}
