/* SPDX-License-Identifier: GPL-2.0-or-later
 * Launches `leaf` (argv[2], with its arguments) in the way argv[1] says, with nothing of its own
 * left open or live.
 *
 * The launched program's capture is complete; this one's holds 5 blocks of 60 bytes (site before),
 * whatever the way, and one of 61 (in_vfork) that the child made in its memory before it called
 * exec.
 */
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

extern char **environ;

SITE static void *before(void) { return malloc(60); }
SITE static void *in_vfork(void) { return malloc(61); }

static int await(pid_t pid)
{
	int status;

	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static int by_vfork(char **argv)
{
	pid_t pid = vfork();

	if (!pid) {
		hide(in_vfork());
		execv(argv[0], argv);
		_exit(9);
	}
	return await(pid);
}

static int by_spawn(char **argv)
{
	pid_t pid;

	return posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) || await(pid);
}

static int by_system(char **argv)
{
	char line[4096];

	snprintf(line, sizeof(line), "'%s'; '%s'", argv[0], argv[0]);
	return system(line);
}

static int by_exec(const char *how, char **argv)
{
	if (!strcmp(how, "exec-closed"))
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	if (!strcmp(how, "exec-chdir") && chdir("/"))
		return 2;
	if (!strcmp(how, "exec-setuid") && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 3;
	execv(argv[0], argv);
	return 4;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 5; i++)
		hide(before());
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "vfork"))
		return by_vfork(argv + 2);
	if (!strcmp(argv[1], "spawn"))
		return by_spawn(argv + 2);
	if (!strcmp(argv[1], "system"))
		return by_system(argv + 2);
	return by_exec(argv[1], argv + 2);
}
