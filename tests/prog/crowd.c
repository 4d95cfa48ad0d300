/* SPDX-License-Identifier: GPL-2.0-or-later
 * crowd N: N children at once, each with 3 blocks of 100 bytes (site in_child), all alive until the last one has them. Prints "N at once".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *in_child(void) { return malloc(100); }

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 10, up[2], go[2];
	char byte;

	if (pipe(up) || pipe(go))
		return 2;
	for (int i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 3;
		if (pid)
			continue;
		close(go[1]);
		for (int k = 0; k < 3; k++)
			in_child();
		if (write(up[1], "u", 1) != 1 || read(go[0], &byte, 1))
			_exit(4);
		_exit(0);
	}
	for (int i = 0; i < nr; i++)
		if (read(up[0], &byte, 1) != 1)
			return 5;
	printf("%d at once\n", nr);
	fflush(stdout);
	close(go[1]);
	for (int i = 0; i < nr; i++)
		if (wait(NULL) < 0)
			return 6;
	return 0;
}
