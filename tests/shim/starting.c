/* SPDX-License-Identifier: GPL-2.0-or-later
 * starting [clock]: children that are forked while another thread is in the first call of all. Says how many were tracked and, where all were, whether that
 * call was in its midst at the fork. Long takes in it: the C library's dl_iterate_phdr(), behind ours, while it has the loader's lock; or clock_gettime().
 */
#define _GNU_SOURCE
#include <pmm.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 20, SLOW_NS = 100000000 };

typedef int look_fn(struct dl_phdr_info *module, size_t bytes, void *ctx);

static volatile int slow_loader, slow_clock, begins, done;
static look_fn *asked;

static void be_slow(volatile int *slow)
{
	struct timespec pause = { 0, SLOW_NS };

	if (*slow)
		nanosleep(&pause, NULL);
	*slow = 0;
}

static int look(struct dl_phdr_info *module, size_t bytes, void *ctx)
{
	be_slow(&slow_loader);
	return asked(module, bytes, ctx);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	be_slow(&slow_clock);
	return (int)syscall(SYS_clock_gettime, clock, now);
}

int dl_iterate_phdr(look_fn *ask, void *ctx)
{
	int (*real)(look_fn *, void *);

	*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	asked = ask;
	return real(look, ctx);
}

static void *first(void *none)
{
	void *p;

	begins = 1;
	p = malloc(10);
	done = 1;
	free(p);
	return none;
}

static int child(void)
{
	struct pmm_stats stats;
	void *p;

	alarm(20);
	p = malloc(5);
	pmm_get_stats(&stats);
	free(p);
	return stats.nr_new != 1 || stats.nr_live != 1 || stats.nr_passed || stats.nr_errors;
}

/* The first call of this process is another thread's, DELAY_NS before the fork. */
static int try(volatile int *slow, long delay_ns)
{
	struct timespec pause = { 0, delay_ns };
	pthread_t thread;
	int status = -1, midst;
	pid_t pid;

	*slow = 1;
	if (pthread_create(&thread, NULL, first, NULL))
		return 3;
	while (!begins)
		sched_yield();
	if (delay_ns)
		nanosleep(&pause, NULL);
	midst = !done;
	pid = fork();
	if (pid == 0)
		_exit(child());
	waitpid(pid, &status, 0);
	pthread_join(thread, NULL);
	return status ? 3 : midst;
}

int main(int argc, char **argv)
{
	volatile int *slow = argc > 1 && argv[1][0] == 'c' ? &slow_clock : &slow_loader;
	int i, status, well = 0, midst = 0;

	pmm_set(PMM_AT_EXIT, 0);
	for (i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(try(slow, i * 50000L));
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			return 1;
		well += WEXITSTATUS(status) < 2;
		midst += WEXITSTATUS(status) == 1;
	}
	printf("%d children were tracked\n", well);
	fprintf(stderr, "%d in the midst\n", midst);
	return 0;
}
