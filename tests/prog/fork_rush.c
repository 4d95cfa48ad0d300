/* SPDX-License-Identifier: GPL-2.0-or-later
 * Six children that have 1000 children each, one after the other, which leave a block of 10 bytes:
 * more than come to their captures meanwhile. 6007 captures in all.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

#define RUNS 1000

static int rush(void)
{
	hide(malloc(10));
	for (int i = 0; i < RUNS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			hide(malloc(10));
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

int main(void)
{
	int status, bad = 0;

	for (int i = 0; i < 6; i++)
		if (!fork())
			_exit(rush());
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
