/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that does nothing with memory until its standard input ends. Writes the child's number.
 * The child then allocates 10 blocks of 100 bytes (site in_child) and ends with 7, as the program
 * does then.
 */
#include <sys/wait.h>

#include "attach.h"

SITE static void *in_child(void) { return malloc(100); }

int main(void)
{
	int status = 0;
	pid_t child;

	hide(malloc(10));
	child = fork();
	if (!child) {
		while (order())
			;
		for (int i = 0; i < 10; i++)
			hide(in_child());
		_exit(7);
	}
	say_number("", (unsigned long)child);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
