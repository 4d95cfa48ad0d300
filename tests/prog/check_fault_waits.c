/* SPDX-License-Identifier: GPL-2.0-or-later
 * SIGSEGV that is sent while it is blocked, and waited for: by the thread, by another one, with its value. Each line reads a released block
 * meanwhile, which is 6 errors.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

static char *released;
static sigset_t segv;

SITE static void stale(void) { (void)*(volatile char *)released; }

static void say(const char *how, int signal, const siginfo_t *info)
{
	stale();
	printf("%s: %d code %d errno %d own %d value %d\n", how, signal, info->si_code, info->si_errno, info->si_pid == getpid(),
	       info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
}

static void *other(void *unused)
{
	siginfo_t info = { .si_code = 1 };
	int signal = 0;

	(void)unused;
	printf("sigwait %d\n", sigwait(&segv, &signal));
	say("another thread", signal, &info);
	return NULL;
}

int main(void)
{
	struct timespec none = { 0, 0 };
	siginfo_t info = { .si_code = 1 };
	sigset_t pending;
	pthread_t thread;

	free(released = hide(malloc(10)));
	sigemptyset(&segv);
	sigaddset(&segv, SIGSEGV);
	sigprocmask(SIG_BLOCK, &segv, NULL);
	say("none yet", sigtimedwait(&segv, &info, &none), &info);
	raise(SIGSEGV);
	sigpending(&pending);
	printf("pending %d %d\n", sigismember(&pending, SIGSEGV), sigismember(&pending, SIGSTKFLT));
	say("raised", sigwaitinfo(&segv, &info), &info);
	kill(getpid(), SIGSEGV);
	say("sent", sigtimedwait(&segv, &info, &none), &info);
	sigqueue(getpid(), SIGSEGV, (union sigval){ .sival_int = 77 });
	say("queued", sigtimedwait(&segv, &info, &none), &info);
	say("none left", sigtimedwait(&segv, &info, &none), &info);
	kill(getpid(), SIGSEGV);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
}
