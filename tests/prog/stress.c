/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads, forks, dlopen and signals at once for about two seconds, longer where little is
 * done in them; every block carries its own
 * address and is checked before it is freed. Prints "unharmed"; nothing may be left of site block.
 *
 * expect:
 *   site block  live=0 blocks=0
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

static volatile int stop, bad;
static volatile unsigned ticks, churned, forked;
static const char *lib;

SITE static void *block(size_t bytes) { return malloc(bytes); }

static void churn(unsigned seed, int rounds)
{
	uintptr_t *slot[64] = { 0 };

	while (!stop && rounds--) {
		int i = (int)(rand_r(&seed) % 64);

		if (slot[i] && (slot[i][0] != (uintptr_t)slot[i] || slot[i][1] != slot[i][0] * 3))
			bad = 1;
		free(slot[i]);
		churned++;
		slot[i] = block(16 + rand_r(&seed) % 2000);
		slot[i][0] = (uintptr_t)slot[i];
		slot[i][1] = slot[i][0] * 3;
	}
	for (int i = 0; i < 64; i++)
		free(slot[i]);
}

static void *churner(void *arg)
{
	churn((unsigned)(uintptr_t)arg, -1);
	return NULL;
}

static void *forker(void *arg)
{
	while (!stop) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			churn(7, 500);
			_exit(bad);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			bad = 2;
		forked++;
		usleep(20000);
	}
	return arg;
}

static void *loader(void *arg)
{
	while (!stop) {
		void *l = dlopen(lib, RTLD_NOW);

		if (!l || dlclose(l))
			bad = 3;
	}
	return arg;
}

static void on_timer(int sig)
{
	(void)sig;
	ticks++;
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	struct sigaction sa = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct timespec two = { 2, 0 }, moment = { 0, 1000000 };
	pthread_t t[6];

	lib = argc > 1 ? argv[1] : "libm.so.6";
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, churner, (void *)(i + 1));
	pthread_create(&t[4], NULL, forker, NULL);
	pthread_create(&t[5], NULL, loader, NULL);
	while (nanosleep(&two, &two))
		;
	while (churned < 50000 || forked < 20)
		nanosleep(&moment, NULL);
	stop = 1;
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	return bad || !ticks || write(1, "unharmed\n", 9) != 9;
}
