/* SPDX-License-Identifier: GPL-2.0-or-later
 * More processes at a time than one file has room for (shim_full.bats): a program that holds 10 bytes and has 100 children, each of which
 * holds a block of 30 bytes and one of 40 that a thread got. The last has a child that holds one of 50. Says "ready" and the pids of the
 * last and of its child, ends with its input. Exits with the number of children that did not end with 0.
 */
#include <pmm.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 100

static void *volatile held[3];
static int there[2], end[2];

/* Say that all is there, and be there until the end of the program's input. */
static void stay(void)
{
	int pid = (int)getpid();
	char c;

	if (write(there[1], &pid, sizeof(pid)) != sizeof(pid))
		_exit(2);
	while (read(end[0], &c, 1) > 0)
		;
}

static void *thread(void *arg)
{
	held[1] = malloc(40);
	return arg;
}

static int child(int last)
{
	pthread_t t;
	pid_t grandchild = 0;
	int status = 0;

	close(end[1]);
	held[0] = malloc(30);
	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 3;
	if (last)
		grandchild = fork();
	if (last && !grandchild)
		held[2] = malloc(50);
	stay();
	return grandchild && (waitpid(grandchild, &status, 0) != grandchild || status);
}

int main(void)
{
	void *volatile own = malloc(10);
	int i, pid = 0, status, bad = 0, told[2];

	pmm_set(PMM_AT_EXIT, 0);
	if (pipe(there) || pipe(end))
		return 1;
	for (i = 0; i < CHILDREN; i++) {
		pid = (int)fork();
		if (!pid)
			exit(child(i == CHILDREN - 1));
		if (pid < 0 || read(there[0], &told[0], sizeof(int)) != sizeof(int))
			return 1;
	}
	if (read(there[0], &told[1], sizeof(int)) != sizeof(int))
		return 1;
	printf("ready %d %d\n", pid, told[told[0] == pid]);
	fflush(stdout);
	while (getchar() != EOF)
		;
	close(end[1]);
	while (wait(&status) > 0)
		bad += status != 0;
	free(own);
	return bad;
}
