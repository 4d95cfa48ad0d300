/* SPDX-License-Identifier: GPL-2.0-or-later
 * Eight threads end the process at the same moment, each in its own way; a signal that is handled comes all the time. Prints nothing, ends with
 * one of 10 to 17, or by SIGTERM, SIGSEGV or SIGABRT.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "victim.h"

static pthread_barrier_t barrier;

static void often(int sig) { (void)sig; }

static void *end(void *arg)
{
	int i = (int)(long)arg;

	free(hide(malloc(10)));
	pthread_barrier_wait(&barrier);
	switch (i) {
	case 0: exit(10);
	case 1: _exit(11);
	case 2: _Exit(12);
	case 3: syscall(SYS_exit_group, 13); break;
	case 4: raise(SIGTERM); break;
	case 5: *(volatile int *)opaque(8) = 1; break;
	case 6: kill(getpid(), SIGTERM); break;
	}
	abort();
}

int main(void)
{
	struct itimerval soon = { { 0, 500 }, { 0, 500 } };
	pthread_t t;

	signal(SIGALRM, often);
	setitimer(ITIMER_REAL, &soon, NULL);
	pthread_barrier_init(&barrier, NULL, 8);
	for (long i = 0; i < 8; i++)
		pthread_create(&t, NULL, end, (void *)i);
	pthread_join(t, NULL);
	return 99;
}
