/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes that lose blocks, for tests that say how many of them there are.
 *
 *	leak_tree lose BYTES		this process loses one block of so many bytes
 *	leak_tree clean			... gives back all that it takes
 *	leak_tree same NR		NR children, one after the other, that lose 100 bytes each, all at the same place
 *	leak_tree each NR		NR children; the i-th (from 1) loses i * 16 bytes, i functions below lose()
 *	leak_tree overrun NR		NR children that write behind a block of 24 bytes, all at the same place, and one that reads a freed one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

static __attribute__((noinline)) void lose(size_t bytes)
{
	sink = malloc(bytes);
	sink = NULL;
}

static __attribute__((noinline)) void lose_below(int depth, size_t bytes)
{
	if (depth > 1)
		lose_below(depth - 1, bytes);
	else
		lose(bytes);
	__asm__ volatile("" ::: "memory");	/* no tail call */
}

static __attribute__((noinline)) void overrun(int after)
{
	volatile char *p = malloc(24);

	sink = (void *)p;
	if (!after)
		p[40] = 1;
	free((void *)p);
	if (after)
		(void)p[3];
}

static int child(int depth, size_t bytes)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (depth > 0)
			lose_below(depth, bytes);
		else
			overrun(depth < 0);
		exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int nr = argc > 2 ? atoi(argv[2]) : 0, rc = 0;

	if (!strcmp(how, "lose")) {
		lose((size_t)nr);
	} else if (!strcmp(how, "clean")) {
		sink = malloc(100);
		free(sink);
		sink = NULL;
	}
	for (int i = 1; i <= nr && !strcmp(how, "same"); i++)
		rc |= child(1, 100);
	for (int i = 1; i <= nr && !strcmp(how, "each"); i++)
		rc |= child(i, (size_t)i * 16);
	for (int i = 1; i <= nr && !strcmp(how, "overrun"); i++)
		rc |= child(0, 0);
	if (!strcmp(how, "overrun"))
		rc |= child(-1, 0);
	return rc;
}
