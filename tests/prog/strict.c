/* SPDX-License-Identifier: GPL-2.0-or-later
 * Enters seccomp's strict mode by the call that argv[1] names: read, write and exit are all that is
 * left, anything else kills. Then it allocates from memory the heap has already, deep in the stack.
 * Must print "unharmed" and end with status 5; what it did before must be found.
 *
 * expect:
 *   site before  allocs=12 frees=0 bytes=396 live=396 blocks=12
 */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

SITE static void before(void) { hide(malloc(33)); }

SITE static int deep(int level)
{
	volatile char frame[5000];

	frame[0] = level;
	if (level)
		return deep(level - 1) + frame[0];
	for (int i = 0; i < 200; i++)
		free(memset(hide(malloc(40 + i)), 1, 40));
	return frame[0];
}

static long confine(const char *how)
{
	if (!strcmp(how, "prctl"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(how, "syscall"))
		return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return strcmp(how, "seccomp") ? -1 : syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 12; i++)
		before();
	free(hide(malloc(60000)));
	if (argc != 2 || confine(argv[1]))
		return 2;
	if (deep(10) == 55 && write(1, "unharmed\n", 9) == 9)
		syscall(SYS_exit, 5);
	syscall(SYS_exit, 1);
}
