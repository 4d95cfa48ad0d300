/* SPDX-License-Identifier: GPL-2.0-or-later
 * Executes true in a child, by a thread of PTHREAD_STACK_MIN, with an environment of N variables and nothing else: execve(), posix_spawn(). Says the
 * status of each. usage: exec_small N
 */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "attach.h"

static char *argv_[] = { (char *)"true", NULL }, **env;

static void *execs(void *arg)
{
	execve("/bin/true", argv_, env);
	return arg;
}

static void *spawns(void *arg)
{
	int status = 99;
	pid_t pid;

	if (!posix_spawn(&pid, "/bin/true", NULL, NULL, argv_, env))
		waitpid(pid, &status, 0);
	_exit(status ? 98 : 0);
	return arg;
}

static void by_child(const char *name, void *(*function)(void *))
{
	pid_t pid = fork();
	pthread_attr_t attr;
	pthread_t t;
	int status;

	if (!pid) {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
		pthread_create(&t, &attr, function, NULL);
		pthread_join(t, NULL);
		_exit(97);
	}
	waitpid(pid, &status, 0);
	say_number(name, (unsigned long)status);
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	env = calloc(nr + 1, sizeof(*env));
	for (size_t i = 0; i < nr; i++) {
		env[i] = malloc(16);
		snprintf(env[i], 16, "V%zu=x", i);
	}
	by_child("execve ", execs);
	by_child("posix_spawn ", spawns);
	return 0;
}
