/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to and detach from at any moment: 8 threads allocate without pause and check their data; others count
 * signals, wait in system calls with a timeout, fork, load and unload a library ("f", "l", "s" in the first argument
 * choose; "q": the eight pause between rounds). Says "ready"; at the end of its input prints "unharmed" and ends
 * with status 45 if every datum, signal, timeout and child was right, else says what was not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "attach.h"

#define NR_CHURNERS 8

static atomic_int stop, hush, handled, quiet;
static atomic_ulong rounds[NR_CHURNERS];
static const char *what = "";

static void wrong(const char *why)
{
	if (!atomic_exchange(&quiet, 1)) {
		say("WRONG ");
		say(why);
		say("\n");
	}
}

SITE static void *churn_block(size_t bytes) { return malloc(bytes); }

static void churn(unsigned seed, atomic_ulong *count, int nr)
{
	struct { void *p; size_t bytes; } slot[64] = { 0 };

	while (!stop && nr--) {
		unsigned i = (unsigned)rand_r(&seed) % 64;
		size_t bytes = 16 + (unsigned)rand_r(&seed) % 1500;

		if (slot[i].p && !filled(slot[i].p, slot[i].bytes))
			wrong("a block has changed");
		if (i % 8 == 1 && slot[i].p) {
			unsigned char first = *(unsigned char *)slot[i].p;
			unsigned char *p = realloc(slot[i].p, bytes);

			if (!p || *p != first)
				wrong("realloc has lost the data");
			slot[i].p = p;
		} else {
			free(slot[i].p);
			slot[i].p = i % 8 ? churn_block(bytes) : calloc(1, bytes);
		}
		slot[i].bytes = bytes;
		fill(slot[i].p, bytes);
		++*count;
		if (strchr(what, 'q') && !(*count % 64))
			usleep(2000);
	}
	for (int i = 0; i < 64; i++)
		free(slot[i].p);
}

static void *churner(void *arg)
{
	churn((unsigned)(uintptr_t)arg + 1, &rounds[(uintptr_t)arg], -1);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* All signals are blocked here: nothing may end a wait early, and none may last for ever. */
static void *waiter(void *arg)
{
	int word = 0, e = epoll_create1(EPOLL_CLOEXEC), got;
	struct epoll_event event;

	for (int i = 0; !stop; i++) {
		struct timespec ts = { 0, 30000000 };
		uint64_t begin = now_ms(), took;

		if (i % 4 == 0 && nanosleep(&ts, NULL))
			wrong("nanosleep was interrupted");
		if (i % 4 == 1 && poll(NULL, 0, 30))
			wrong("poll was interrupted");
		if (i % 4 == 2 && (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, NULL, 0) != -1 || errno != ETIMEDOUT))
			wrong("futex was interrupted");
		/* Linux ends epoll_wait with EINTR after any stop, signal(7) */
		if (i % 4 == 3 && (got = epoll_wait(e, &event, 1, 30)) && (got != -1 || errno != EINTR))
			wrong("epoll_wait has found something");
		took = now_ms() - begin;
		if ((took < 29 && i % 4 != 3) || took > 50000)
			wrong("a wait was too short or too long");
	}
	return arg;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	if (info->si_code == SI_QUEUE)
		handled++;
}

/*
 * Queued signals to the process, which any of the eight takes; each must arrive exactly once. It ends before they do: who would take the last ones?
 */
static void *signaller(void *arg)
{
	int sent = 0;

	while (!hush) {
		if (!sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = sent }))
			sent++;
		if (sent % 16 == 0)
			usleep(500);
		for (int i = 0; sent - handled > 100 && i < 20000; i++)
			usleep(1000);
	}
	for (int i = 0; sent != handled && i < 20000; i++)
		usleep(1000);
	if (sent != handled)
		wrong("a signal was lost, or came twice");
	return arg;
}

static void *forker(void *arg)
{
	atomic_ulong count = 0;
	int status;

	while (!stop) {
		pid_t pid = fork();

		if (!pid) {
			churn(7, &count, 300);
			_exit(quiet ? 1 : 46);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 46)
			wrong("a child has failed");
		usleep(3000);
	}
	return arg;
}

static void *loader(void *arg)
{
	while (!stop) {
		void *l = dlopen("libm.so.6", RTLD_NOW);
		double (*cosine)(double) = NULL;

		if (l)
			*(void **)&cosine = dlsym(l, "cos");
		if (!cosine || cosine(0) != 1 || dlclose(l))
			wrong("a library cannot be loaded");
		usleep(1000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_t t[NR_CHURNERS + 4], by;
	sigset_t all, old;
	int nr = 0;

	if (argc > 1)
		what = argv[1];
	sigaction(SIGRTMIN, &sa, NULL);
	for (uintptr_t i = 0; i < NR_CHURNERS; i++)
		pthread_create(&t[nr++], NULL, churner, (void *)i);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_create(&t[nr++], NULL, waiter, NULL);
	if (strchr(what, 's'))
		pthread_create(&by, NULL, signaller, NULL);
	if (strchr(what, 'f'))
		pthread_create(&t[nr++], NULL, forker, NULL);
	if (strchr(what, 'l'))
		pthread_create(&t[nr++], NULL, loader, NULL);
	say("ready\n");
	while (order())
		;
	hush = 1;
	if (strchr(what, 's'))
		pthread_join(by, NULL);
	stop = 1;
	for (int i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < NR_CHURNERS; i++)
		if (!rounds[i])
			wrong("a thread has done nothing");
	if (!quiet)
		say("unharmed\n");
	return quiet ? 1 : 45;
}
