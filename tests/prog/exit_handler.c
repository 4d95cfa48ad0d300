/* SPDX-License-Identifier: GPL-2.0-or-later
 * Leaves through exit() in a signal handler, most likely in the middle of malloc, with a second
 * thread alive. Not allowed by the book, and done by many programs: it must end with status 4 and
 * not hang.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "victim.h"

static void handler(int sig)
{
	(void)sig;
	exit(4);
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 3000 } };
	struct sigaction sa = { .sa_handler = handler };
	pthread_t t;

	pthread_create(&t, NULL, wait_for_ever, NULL);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &once, NULL);
	for (;;)
		free(hide(malloc(5000)));
}
