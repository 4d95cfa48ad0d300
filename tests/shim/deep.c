/* SPDX-License-Identifier: GPL-2.0-or-later
 * exit() below words of the stack that nobody has set: at one of the two depths the last word of the page is one of them
 * (shim_full.bats). Exits with 0 if both children do.
 */
#include <pmm.h>

#include <alloca.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave_from(size_t depth)
{
	char *volatile unset = alloca(depth);

	(void)unset;
	free(malloc(1));
	exit(0);
}

int main(void)
{
	size_t depth;
	int status;

	for (depth = 8192; depth < 12288; depth += 2048) {
		pid_t child = fork();

		if (child == 0)
			leave_from(depth);
		if (waitpid(child, &status, 0) != child || status)
			return 1;
	}
	return 0;
}
