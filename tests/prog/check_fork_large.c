/* SPDX-License-Identifier: GPL-2.0-or-later
 * No error: a child fills a large block of its parent's, which the parent had filled before; among so many others that the child's own
 * ledger does not reach as far as the parent's entry of it. Prints "unharmed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

#define BYTES 200000

int main(void)
{
	char *last = NULL;
	int status = 1;
	pid_t child;

	for (int i = 0; i < 2000; i++)
		last = hide(malloc(opaque(BYTES)));
	memset(last + 1000, 1, opaque(BYTES - 1000));
	child = fork();
	if (!child) {
		hide(malloc(opaque(BYTES)));		/* in its tables now, and near */
		memset(last + 1000, 2, opaque(BYTES - 1000));
		_exit(last[BYTES - 1] != 2);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	puts("unharmed");
	return 0;
}
