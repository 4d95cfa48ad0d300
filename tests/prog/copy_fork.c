/* SPDX-License-Identifier: GPL-2.0-or-later
 * copy_fork MIB: has that much memory, written to. Prints "ready", and for each line of input how many microseconds a fork takes: the
 * measure for the pause of a copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	size_t nr = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) << 8;
	char line[80];

	/* small blocks, as a heap has them: no huge pages */
	for (size_t i = 0; i < nr * 4; i++)
		memset(malloc(1000), 1, 1000);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		double since = us();
		pid_t child = fork();

		if (!child)
			_exit(0);
		printf("%.0f\n", us() - since);
		waitpid(child, NULL, 0);
	}
	return 7;
}
