/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocked signals, alternate stacks and other signals' handlers, as the program sees them: the same natively and checked. In all of these states
 * the function `overrun` reads behind a block's end: 16 findings' worth of accesses, none of which may kill.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "victim.h"

static char *volatile block, alternate[65536];

SITE static char overrun(void) { return block[128]; }

static void show(const char *what)
{
	char line[256] = "", here, *on = &here >= alternate && &here < alternate + sizeof(alternate) ? "alternate" : "usual";
	sigset_t mask;
	stack_t ss;

	overrun();
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	sigaltstack(NULL, &ss);
	for (int s = 1; s < 32; s++)
		sprintf(line + strlen(line), sigismember(&mask, s) ? "%d " : "", s);
	printf("%s: %son %s, alternate %zu flags %d\n", what, line, on, ss.ss_size, ss.ss_flags);
}

static void on_signal(int sig) { show(sig == SIGUSR1 ? "usr1" : "other"); }

static void handle(int flags, int full)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags }, old;

	if (full)
		sigfillset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR1, NULL, &old);
	printf("flags %x, mask has 11: %d, has 16: %d\n", old.sa_flags & ~0x04000000, sigismember(&old.sa_mask, 11), sigismember(&old.sa_mask, 16));
	raise(SIGUSR1);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The old ways; bits 10, 0 and 1 are those of SIGSEGV, SIGHUP and SIGINT. */
static void old_forms(void)
{
	printf("%x ", sigblock(1 << 10 | 1));
	printf("%x ", sigsetmask(2));
	printf("%x\n", sigsetmask(0));
	sighold(SIGSEGV);
	show("held");
	sigrelse(SIGSEGV);
	show("released");
	printf("%d\n", sigset(SIGSEGV, SIG_HOLD) == SIG_DFL);
	show("hold");
	printf("%d\n", sigset(SIGSEGV, on_signal) == SIG_HOLD);
	printf("%d\n", signal(SIGSEGV, SIG_IGN) == on_signal);
	sigignore(SIGFPE);
	printf("%d %d\n", signal(SIGFPE, SIG_DFL) == SIG_IGN, signal(SIGSEGV, SIG_DFL) == SIG_IGN);
	printf("%d %d\n", signal(0, SIG_DFL) == SIG_ERR, errno);
}

/* Masks for the time of a call, in which a handler runs. */
static void waiting(void)
{
	struct timespec soon = { 0, 1000000 };
	struct epoll_event event;
	sigset_t usr1, almost;
	int ep = epoll_create1(0);

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigfillset(&almost);
	sigdelset(&almost, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	kill(getpid(), SIGUSR1);
	printf("%d\n", sigsuspend(&almost));
	kill(getpid(), SIGUSR1);
	printf("%d\n", ppoll(NULL, 0, &soon, &almost));
	kill(getpid(), SIGUSR1);
	printf("%d\n", pselect(0, NULL, NULL, NULL, &soon, &almost));
	kill(getpid(), SIGUSR1);
	printf("%d\n", epoll_pwait(ep, &event, 1, 1, &almost));
	kill(getpid(), SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	close(ep);
}

static void *thread(void *arg)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	sigset_t set;

	show("thread");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGUSR1);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	show("only 11");
	sigaddset(&set, SIGSTKFLT);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	show("nothing");
	sigdelset(&set, SIGSEGV);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	show("only 16");
	sigaltstack(&none, NULL);
	show("no stack");
	return arg;
}

int main(void)
{
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) }, was;
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t t;

	setvbuf(stdout, NULL, _IONBF, 0);
	block = malloc(128);
	sigfillset(&all);
	show("start");
	handle(SA_ONSTACK, 0);
	handle(0, 1);
	handle(SA_ONSTACK | SA_SIGINFO, 1);
	old_forms();
	waiting();
	printf("%d ", sigaltstack(&ss, &was));
	printf("%d\n", was.ss_flags);
	raise(SIGUSR1);
	handle(0, 1);
	handle(SA_ONSTACK, 1);
	sigprocmask(SIG_SETMASK, &all, &old);
	show("all");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_create(&t, &attr, thread, NULL);
	pthread_join(t, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	pthread_attr_setsigmask_np(&attr, &all);
	pthread_attr_getsigmask_np(&attr, &old);
	printf("%d %d\n", sigismember(&old, SIGSEGV), sigismember(&old, SIGSTKFLT));
	pthread_create(&t, &attr, thread, NULL);
	pthread_join(t, NULL);
	show("end");
	printf("%d\n", sigprocmask(77, &all, NULL));
	return 0;
}
