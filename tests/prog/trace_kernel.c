/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_kernel keep N: opens N pipes; a child that writes its number keeps them until it is killed, for a minute at most.
 * trace_kernel loop N: opens and closes N pipes, one after the other; writes how many ns of CPU each has taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, keep = argc > 1 && !strcmp(argv[1], "keep"), fd[2];
	double before = cpu_ns();
	pid_t child;

	for (int i = 0; i < n; i++) {
		if (pipe(fd))
			return 1;
		if (keep)
			continue;
		close(fd[0]);
		close(fd[1]);
	}
	if (!keep) {
		printf("%.0f\n", (cpu_ns() - before) / n);
		return 0;
	}
	child = fork();
	if (!child) {
		setsid();
		alarm(60);
		pause();
		_exit(0);
	}
	printf("%d\n", child);
	return 0;
}
