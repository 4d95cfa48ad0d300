/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Four threads make and free 4 x 20000 blocks of 4 sizes, and hand them on to each other: all are counted, none is left. */
#include "order.h"
#include <pthread.h>

enum { THREADS = 4, PAIRS = 20000, SHARED = 64 };

static void *shared[SHARED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
	unsigned i;
	void *p;

	for (i = 0; i < PAIRS; i++) {
		p = malloc(16u << i % 4);
		if (i % 3 == 0)
			p = realloc(p, 200);
		pthread_mutex_lock(&lock);
		void *old = shared[(i * 7 + (unsigned)(size_t)arg) % SHARED];
		shared[(i * 7 + (unsigned)(size_t)arg) % SHARED] = p;
		pthread_mutex_unlock(&lock);
		free(old);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	struct pmm_stats stats;
	size_t i;

	BEGIN();
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < SHARED; i++)
		free(shared[i]);
	pmm_get_stats(&stats);
	printf("%lu new, %lu live, %lu errors, %lu passed, %lu foreign\n", (unsigned long)stats.nr_new, (unsigned long)stats.nr_live,
		(unsigned long)stats.nr_errors, (unsigned long)stats.nr_passed, (unsigned long)stats.nr_foreign);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
