/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first thread has an alternate stack; another one, which has none, gets a signal whose handler asks for one and takes 200 KiB. Natively the handler
 * runs on the thread's own stack.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

static volatile int handled, ready;

static void handler(int sig)
{
	volatile char room[200 << 10];

	memset((void *)room, sig, sizeof(room));
	handled = room[sizeof(room) - 1];
}

static void *waits(void *arg)
{
	free(hide(malloc(10)));		/* so that the thread is known */
	ready = 1;
	while (!handled)
		usleep(1000);
	return arg;
}

int main(void)
{
	stack_t ss = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	pthread_t t;

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&t, NULL, waits, NULL);
	while (!ready)
		usleep(1000);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, NULL);
	printf("handled %d\n", handled);
	return 0;
}
