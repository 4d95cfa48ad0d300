/* SPDX-License-Identifier: GPL-2.0-or-later
 * Six threads that access the same released blocks, catch faults of their own, allocate and release, while a seventh forks and signals rain. All of
 * it comes to its end: prints the sums that it has natively. Argument: rounds (default 300).
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

static __thread sigjmp_buf back;
static __thread volatile int mine;
static char *volatile freed[4];
static volatile int done;
static int rounds;

static void on_segv(int sig) { siglongjmp(back, sig); }

SITE static void touch(int i)
{
	freed[i % 4][(i * 37) % 3000] = 1;
	*(volatile char *)&freed[(i + 1) % 4][i % 3000];
}

static void on_alarm(int sig) { touch(sig); }

SITE static void own_fault(void) { *(volatile int *)hide((void *)16) = 1; }

static void *work(void *arg)
{
	volatile long caught = 0;

	for (volatile int i = 0; i < rounds; i++) {
		char *p = malloc((size_t)(i % 200) + 1);

		p[i % 200] = (char)i;
		touch(i);
		mine = i;
		if (!sigsetjmp(back, 1))
			own_fault();
		else
			caught += mine == i;
		free(p);
	}
	*(long *)arg = caught;
	return NULL;
}

/* Children inherit whatever the others are in the midst of. */
static void *fork_often(void *arg)
{
	for (int i = 0; i < 20 || !done; i++) {
		int status = 1;
		pid_t child = fork();

		if (!child) {
			touch(i);
			free(malloc(100));
			_exit(!sigsetjmp(back, 1) ? own_fault(), 1 : 0);
		}
		waitpid(child, &status, 0);
		*(long *)arg += status != 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigaction sa = { .sa_handler = on_segv };
	long caught[7] = { 0 };
	pthread_t t[7];
	timer_t timer;

	rounds = argc > 1 ? atoi(argv[1]) : 300;
	for (int i = 0; i < 4; i++)
		freed[i] = malloc(3000);
	for (int i = 0; i < 4; i++)
		free(freed[i]);
	for (int i = 0; i < 4; i++)		/* natively, nobody else's from here on */
		freed[i] = getenv("PMM_LEDGER") ? freed[i] : calloc(1, 3000);
	sigaction(SIGSEGV, &sa, NULL);
	sa.sa_handler = on_alarm;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &often, NULL);
	for (int i = 0; i < 7; i++)
		pthread_create(&t[i], NULL, i < 6 ? work : fork_often, &caught[i]);
	for (int i = 0; i < 7; i++) {
		done = i == 6;
		pthread_join(t[i], NULL);
		printf("%ld\n", caught[i]);
	}
	return 0;
}
