/* SPDX-License-Identifier: GPL-2.0-or-later
 * 200 children, ten at a time; child number i leaves i + 1 blocks of 16 bytes (site in_child):
 * 20100 blocks in all, one capture each.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *in_child(void) { return malloc(16); }

static int child(int number)
{
	for (int i = 0; i <= number; i++)
		hide(in_child());
	return 0;
}

int main(void)
{
	int status, bad = 0;

	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			exit(child(i));
		if (i >= 10)
			bad |= wait(&status) < 0 || status;
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad;
}
