/* SPDX-License-Identifier: GPL-2.0-or-later
 * rush LIVE TIMES [raw]: TIMES children, one after the other, in each of which 8 threads make the first calls, at once; and then the one that forked.
 * LIVE other children have a ledger meanwhile. Says of how many the figures were right. raw: the C library does not know of these forks.
 */
#include <pmm.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	8
#define BLOCKS	200

static void *volatile held[THREADS + 1];
static int there[2], end[2];

static void *rush(void *at)
{
	void *p[BLOCKS];
	int i;

	for (i = 0; i < BLOCKS; i++)
		p[i] = malloc((size_t)i + 10);
	for (i = 0; i < BLOCKS; i++)
		free(p[i]);
	*(void *volatile *)at = malloc(7);
	return NULL;
}

static int child(void)
{
	pthread_t thread[THREADS];
	struct pmm_stats s;
	int i;

	alarm(20);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, rush, (void *)&held[i]))
			return 2;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	held[THREADS] = malloc(7);
	pmm_get_stats(&s);
	return s.nr_new != THREADS * (BLOCKS + 1) + 1 || s.nr_live != THREADS + 1 || s.nr_errors || s.nr_passed;
}

static void stay(void)
{
	char c = 0;

	close(end[1]);
	held[0] = malloc(3);
	if (write(there[1], &c, 1) == 1 && read(end[0], &c, 1))
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	int live = argc > 2 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 0, raw = argc > 3, i, status, well = 0;
	char c;

	pmm_set(PMM_AT_EXIT, 0);
	held[0] = malloc(10);
	if (pipe(there) || pipe(end))
		return 1;
	for (i = 0; i < live; i++) {
		pid_t pid = fork();

		if (!pid)
			stay();
		if (pid < 0 || read(there[0], &c, 1) != 1)
			return 1;
	}
	for (i = 0; i < times; i++) {
		pid_t pid = raw ? (pid_t)syscall(SYS_fork) : fork();

		if (!pid)
			_exit(child());
		if (pid < 0)
			return 1;
		well += waitpid(pid, &status, 0) == pid && !status;
	}
	printf("%d well\n", well);
	return 0;
}
