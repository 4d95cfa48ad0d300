/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Everything at once in a table that is always full: threads that make, resize and free, a handler that interrupts all of them, children. */
#include "order.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 4000, BLOCKS = 40, CHILDREN = 20 };

static volatile sig_atomic_t nr_ticks;

static void tick(int signo)
{
	struct pmm_stats stats;

	(void)signo;
	pmm_get_stats(&stats);
	pmm_check();
	pmm_report(PMM_TOTALS);
	pmm_trace("%d\n", signo);
	pmm_set(PMM_MIN_SIZE, nr_ticks % 2 ? 0 : 30);
	nr_ticks++;
}

static void *work(void *seed)
{
	unsigned char *p[BLOCKS] = { NULL };
	unsigned random = (unsigned)(size_t)seed, i, at, bad = 0;

	for (i = 0; i < ROUNDS; i++) {
		random = random * 1103515245 + 12345;
		at = random >> 16 & 31;
		if (p[at] && *p[at] != at)
			bad++;
		if (random >> 28 < 6) {
			free(p[at]);
			p[at] = NULL;
			continue;
		}
		unsigned char *q = (unsigned char *)realloc(p[at], 1 + (random >> 8 & 255));
		if (q)
			p[at] = q;
		if (p[at])
			*p[at] = (unsigned char)at;
	}
	for (i = 0; i < BLOCKS; i++)
		free(p[i]);
	return (void *)(size_t)bad;
}

static int children(void)
{
	pid_t child[CHILDREN];
	int i, status, well = 0;

	for (i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] == 0)
			_exit(work((void *)(size_t)i) != NULL);
	}
	for (i = 0; i < CHILDREN; i++) {
		while (waitpid(child[i], &status, 0) != child[i])
			;
		well += status == 0;
	}
	return well;
}

static void nowhere(void *ctx, const char *text, size_t bytes)
{
	(void)ctx, (void)text, (void)bytes;
}

int main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action;
	struct pmm_stats stats;
	pthread_t thread[THREADS];
	void *bad;
	size_t i, sum = 0;
	int well;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	pmm_set_output(nowhere, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = tick;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 100));
	well = children();
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &bad);
		sum += (size_t)bad;
	}
	while (nr_ticks < 20)
		free(malloc(10));
	setitimer(ITIMER_REAL, &never, NULL);
	pmm_get_stats(&stats);
	printf("%d children were well, %d blocks were not, %d errors, %d live, %d lost, full %d\n", well, (int)sum, (int)stats.nr_errors,
		(int)stats.nr_live, (int)stats.nr_lost, stats.table_full);
	return 0;
}
