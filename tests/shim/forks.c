/* SPDX-License-Identifier: GPL-2.0-or-later */ /* 40 children forked while three threads are in the monitor all the time: each child goes on, though the lock's holder is not there any more. */
#include "order.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, CHILDREN = 40 };

static volatile int stop;

static void *work(void *none)
{
	while (!stop) {
		pmm_check();
		free(malloc(100));
	}
	return none;
}

int main(void)
{
	pthread_t thread[THREADS];
	pid_t child[CHILDREN];
	int i, status, well = 0;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	for (i = 0; i < 500; i++)
		pmm_mark(&child[0] + i);	/* so that checks take long */
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			struct pmm_stats stats;
			size_t before;

			pmm_get_stats(&stats);
			before = stats.nr_new;
			free(strdup("child"));
			pmm_get_stats(&stats);
			_exit(stats.nr_new == before + 1 && !stats.nr_errors ? 0 : 1);
		}
	}
	for (i = 0; i < CHILDREN; i++)
		well += waitpid(child[i], &status, 0) == child[i] && status == 0;
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%d children were well\n", well);
	return 0;
}
