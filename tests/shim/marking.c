/* SPDX-License-Identifier: GPL-2.0-or-later
 * A handler that marks pointers, 3000 times in the midst of malloc and free of a thread that may have the allocator's locks in its hands.
 */
#include <pmm.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static pthread_t worker;

static void tick(int signo)
{
	static char marked[40];
	int i;

	(void)signo;
	pmm_mark(&marked[ticks % 40]);
	for (i = 0; i < 40 && ticks % 40 == 39; i++)
		pmm_unmark(&marked[i]);
	ticks++;
}

static void *work(void *arg)
{
	void *p[20] = { NULL };
	unsigned i;

	for (i = 0; ticks < 3000; i++) {
		free(p[i % 20]);
		p[i % 20] = malloc(2000 + i % 7777);
	}
	for (i = 0; i < 20; i++)
		free(p[i]);
	return arg;
}

static void *send(void *arg)
{
	while (ticks < 3000)
		pthread_kill(worker, SIGUSR1);
	return arg;
}

int main(void)
{
	pthread_t sender;
	struct pmm_stats stats;

	free(malloc(1));	/* the first call holds the lock */
	signal(SIGUSR1, tick);
	pmm_set(PMM_AT_EXIT, 0);
	pthread_create(&worker, NULL, work, NULL);
	pthread_create(&sender, NULL, send, NULL);
	pthread_join(sender, NULL);
	pthread_join(worker, NULL);
	pmm_get_stats(&stats);
	printf("%d live, %d errors\n", (int)stats.nr_live, (int)stats.nr_errors);
	return 0;
}
