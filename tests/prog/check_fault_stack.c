/* SPDX-License-Identifier: GPL-2.0-or-later
 * Stacks run over, as argv[1] says: of the first thread or another ("thread"), with a handler on an alternate stack ("caught") or none, by frames
 * larger than the guard area ("large"). One finding each: stack overflow, with the function `deeper` many times in its stack.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "victim.h"

static sigjmp_buf back;
static char alternate[65536];
static int caught, large;

static void handler(int sig, siginfo_t *info, void *context)
{
	char here;

	(void)context;
	printf("signal %d code %d on %s\n", sig, info->si_code,
	       &here >= alternate && &here < alternate + sizeof(alternate) ? "alternate" : "usual");
	fflush(stdout);
	siglongjmp(back, 1);
}

SITE static int deeper(int n)
{
	volatile char frame[64];

	frame[n % 64] = (char)n;
	return deeper(n + 1) + frame[(n + 1) % 64];
}

SITE static int deeper_by_far(int n)
{
	volatile char frame[200000];

	frame[0] = (char)n;
	return deeper_by_far(n + 1) + frame[1];
}

static void *overflow(void *arg)
{
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	free(malloc(10));		/* so that the thread is known */
	if (caught) {
		sigaltstack(&ss, NULL);
		sigaction(SIGSEGV, &sa, NULL);
		for (volatile int i = 0; i < 3; i++)
			if (!sigsetjmp(back, 1))
				large ? deeper_by_far(0) : deeper(0);
		return arg;
	}
	large ? deeper_by_far(0) : deeper(0);
	return arg;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	int thread = 0;
	pthread_t t;

	for (int i = 1; i < argc; i++) {
		thread |= !strcmp(argv[i], "thread");
		caught |= !strcmp(argv[i], "caught");
		large |= !strcmp(argv[i], "large");
	}
	setrlimit(RLIMIT_STACK, &limit);
	if (!thread)
		overflow(NULL);
	else if (!pthread_create(&t, NULL, overflow, NULL))
		pthread_join(t, NULL);
	return 5;
}
