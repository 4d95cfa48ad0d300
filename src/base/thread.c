/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads beside the main one: started with all signals blocked, which they inherit, so that not
 * even the first moment gets one.
 */
#include "src/base/thread.h"

#include <signal.h>

#include "src/base/nanotime.h"

/*
 * The C library puts thread-local variables, of which it does not tell the size, on the stack; only
 * what is used of it takes memory.
 */
#define BESIDE_BYTES (256u << 10)

int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
	sigset_t all, mine;
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	pthread_attr_setstacksize(&attr,
				  BESIDE_BYTES + (stack_bytes ? stack_bytes : THREAD_STACK_BYTES));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mine);
	rc = pthread_create(thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &mine, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

uint64_t thread_cpu_ns(void)
{
	return nanotime_of(CLOCK_THREAD_CPUTIME_ID);
}
