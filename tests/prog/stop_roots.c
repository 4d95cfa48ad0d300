/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes in states that are hard to stop in: stop_roots WHAT [N]. Each prints "ready" once it is there, works until its standard input
 * ends, and then exits with 7 when all it did came out right.
 *
 *	threads N	N threads that wait
 *	leader		the first thread has ended
 *	spawn		makes threads and joins them without pause
 *	fork		makes children and waits for them without pause
 *	launch		two threads launch programs (as by vfork) and wait for them without pause
 *	exec N		starts itself again N times, from another thread than the first and with others running
 *	vfork		a thread waits for a child made by vfork
 *	end N		ends by itself after N milliseconds, all threads running
 *	filter		filters its system calls, allowing all
 *	filter thread	does so in one thread only, not the first
 *	secret		lets nobody trace it
 *	uring		has a thread of the kernel's in it (io_uring); exits with 77 where there is no such thing
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int count;
static char **arguments;

static bool input_ended(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return poll(&in, 1, 0) == 1;
}

static int until_end(void)
{
	char c;
	ssize_t n;

	while ((n = read(0, &c, 1)) > 0)
		;
	return n == 0 ? 7 : 1;
}

static void *waits(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *counts(void *arg)
{
	count++;
	return arg;
}

static void *spins(void *arg)
{
	for (volatile unsigned i = 0; ; i++)
		;
	return arg;
}

static void *ends_it(void *arg)
{
	(void)arg;
	exit(until_end());
}

static int spawn(void)
{
	pthread_t thread[4];
	int made = 0;

	while (!input_ended()) {
		for (int i = 0; i < 4; i++)
			if (pthread_create(&thread[i], NULL, counts, NULL))
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		made += 4;
	}
	return count == made ? 7 : 1;
}

static int forks(void)
{
	for (int n = 0; !input_ended(); n++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			return 1;
		if (!child)
			_exit(n % 100);
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != n % 100)
			return 2;
	}
	return 7;
}

static void *launches(void *arg)
{
	char *const command[] = { "true", NULL };

	while (!input_ended()) {
		pid_t child;
		int status;

		if (posix_spawnp(&child, "true", NULL, NULL, command, NULL) || waitpid(child, &status, 0) != child || status)
			return &count;
	}
	return arg;
}

static int launch(void)
{
	pthread_t thread;
	void *failed;

	pthread_create(&thread, NULL, launches, NULL);
	if (launches(NULL))
		return 1;
	pthread_join(thread, &failed);
	return failed ? 1 : 7;
}

static void *executes(void *arg)
{
	nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
	execv("/proc/self/exe", arg);
	_exit(3);
}

static int exec(int n)
{
	char text[16];
	pthread_t thread;

	if (!n)
		return until_end();
	snprintf(text, sizeof(text), "%d", n - 1);
	arguments[2] = text;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, i ? waits : spins, NULL);
	pthread_create(&thread, NULL, executes, arguments);
	waits(NULL);
	return 1;
}

static int vforks(void)
{
	pid_t child = vfork();

	if (!child) {
		char c;

		while (read(0, &c, 1) > 0)
			;
		_exit(7);
	}
	return 7;
}

static int filtered(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	puts("ready");
	return until_end();
}

static void *filters(void *arg)
{
	(void)arg;
	exit(filtered());
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	arguments = argv;
	if (!strcmp(what, "filter") && argc > 2) {
		pthread_create(&thread, NULL, filters, NULL);
		pause();
	}
	if (!strcmp(what, "filter"))
		return filtered();
	if (!strcmp(what, "uring")) {
		struct io_uring_params params = { .flags = IORING_SETUP_SQPOLL };

		if (syscall(SYS_io_uring_setup, 8, &params) < 0)
			return 77;
	}
	if (!strcmp(what, "secret"))
		prctl(PR_SET_DUMPABLE, 0);
	if (strcmp(what, "exec") || !getenv("STOP_SCENE_AGAIN"))
		puts("ready");
	setenv("STOP_SCENE_AGAIN", "1", 1);
	if (!strcmp(what, "threads")) {
		for (int i = 0; i < n; i++)
			if (pthread_create(&thread, NULL, waits, NULL))
				return 1;
		puts("all there");
		return until_end();
	}
	if (!strcmp(what, "leader")) {
		pthread_create(&thread, NULL, ends_it, NULL);
		pthread_exit(NULL);
	}
	if (!strcmp(what, "secret") || !strcmp(what, "uring"))
		return until_end();
	if (!strcmp(what, "spawn"))
		return spawn();
	if (!strcmp(what, "fork"))
		return forks();
	if (!strcmp(what, "launch"))
		return launch();
	if (!strcmp(what, "exec"))
		return exec(n);
	if (!strcmp(what, "vfork"))
		return vforks();
	if (!strcmp(what, "end")) {
		for (int i = 0; i < 8; i++)
			pthread_create(&thread, NULL, i % 2 ? waits : spins, NULL);
		nanosleep(&(struct timespec){ n / 1000, n % 1000 * 1000000 }, NULL);
		return 7;
	}
	return 2;
}
