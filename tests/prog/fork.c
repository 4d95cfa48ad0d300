/* SPDX-License-Identifier: GPL-2.0-or-later
 * A parent that leaves 1000 bytes and a child that leaves 2000 of its own and frees a block of the
 * parent's.
 *
 * The parent's capture: site in_parent 10 x 100 live. The child's: site in_child 20 x 100 live, 1
 * untracked free, nothing of in_parent.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *in_parent(void) { return malloc(100); }
SITE static void *in_child(void) { return malloc(100); }

int main(void)
{
	void *p = NULL;
	int status;
	pid_t child;

	for (int i = 0; i < 10; i++)
		p = hide(in_parent());
	child = fork();
	if (child < 0)
		return 1;
	if (child)
		return waitpid(child, &status, 0) != child || status;
	for (int i = 0; i < 20; i++)
		hide(in_child());
	free(p);
	return 0;
}
