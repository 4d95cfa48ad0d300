/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that bench/leaks.py has searched for leaks by each tool.
 *
 *     bench_leaks_heap BLOCKS
 *
 * Makes the heap of leaks_heap.c, says "ready", what it made, and then does what each line of its
 * input says: "fork" tells how many nanoseconds a bare fork takes. At the end of the input it says
 * "done" and returns from main.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/leaks_heap.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void time_fork(void)
{
	uint64_t start = now_ns();
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	printf("%" PRIu64 "\n", now_ns() - start);
	fflush(stdout);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct leaks_built built;
	char line[80];

	if (argc != 2) {
		fprintf(stderr, "usage: bench_leaks_heap BLOCKS\n");
		return 2;
	}
	leaks_build(strtoull(argv[1], NULL, 10), &built, NULL, NULL);
	printf("ready\n");
	printf("{\"blocks\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"definite\": [%" PRIu64
	       ", %" PRIu64 "], \"indirect\": [%" PRIu64 ", %" PRIu64 "]}\n",
	       built.blocks, built.bytes, built.definite, built.definite_bytes, built.indirect,
	       built.indirect_bytes);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (!strcmp(line, "fork\n"))
			time_fork();
	printf("done\n");
	fflush(stdout);
	return 0;
}
