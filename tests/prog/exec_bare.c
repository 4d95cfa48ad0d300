/* SPDX-License-Identifier: GPL-2.0-or-later
 * Executes a program with an environment of its own making, in each of the ways there are: exec_bare WAY PROGRAM [VARIABLE=VALUE...].
 *
 *	execve execle execvpe fexecve execveat	in its own place
 *	execv execl execvp execlp		the same, with its own environment emptied
 *	vfork posix_spawn posix_spawnp		in a child
 *	system popen				by the shell, with its own environment emptied
 *	system_threads				... where another thread looks at the environment meanwhile
 *	missing					execve of a file that is not there, then that of PROGRAM
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void own_environment(char **env)
{
	clearenv();
	for (; *env; env++)
		putenv(*env);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static int in_place(const char *way, char *path, char **argv, char **env)
{
	if (!strcmp(way, "missing"))
		execve("/nonexistent/program", argv, env);
	if (!strcmp(way, "execve") || !strcmp(way, "missing"))
		execve(path, argv, env);
	else if (!strcmp(way, "execle"))
		execle(path, path, (char *)NULL, env);
	else if (!strcmp(way, "execvpe"))
		execvpe(path, argv, env);
	else if (!strcmp(way, "fexecve"))
		fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, env);
	else if (!strcmp(way, "execveat"))
		execveat(AT_FDCWD, path, argv, env, 0);
	own_environment(env);
	if (!strcmp(way, "execv"))
		execv(path, argv);
	else if (!strcmp(way, "execl"))
		execl(path, path, (char *)NULL);
	else if (!strcmp(way, "execvp"))
		execvp(path, argv);
	else if (!strcmp(way, "execlp"))
		execlp(path, path, (char *)NULL);
	return 126;
}

static int by_shell(const char *way, const char *path)
{
	char line[256];
	pthread_t thread;
	FILE *f;

	if (!strcmp(way, "system_threads"))
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	if (strcmp(way, "popen"))
		return system(path);
	f = popen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	return f ? pclose(f) : 126;
}

static pid_t vforked(char *path, char **argv, char **env)
{
	pid_t pid = vfork();

	if (!pid) {
		execve(path, argv, env);
		_exit(126);
	}
	return pid;
}

static int in_child(const char *way, char *path, char **argv, char **env)
{
	int status = 0;
	pid_t pid = 0;

	if (!strcmp(way, "vfork"))
		pid = vforked(path, argv, env);
	else if (!strcmp(way, "posix_spawn"))
		posix_spawn(&pid, path, NULL, NULL, argv, env);
	else
		posix_spawnp(&pid, path, NULL, NULL, argv, env);
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}

int main(int argc, char **argv)
{
	char *way = argc > 2 ? argv[1] : "", *path = argv[2], *args[] = { path, NULL }, **env = argv + 3;
	int status;

	if (argc < 3)
		return 2;
	if (!strcmp(way, "vfork") || !strncmp(way, "posix_spawn", 11))
		return in_child(way, path, args, env);
	if (strncmp(way, "system", 6) && strcmp(way, "popen"))
		return in_place(way, path, args, env);
	own_environment(env);
	status = by_shell(way, path);
	fflush(stdout);
	return status || (*env ? !environ || strcmp(environ[0], *env) : environ && *environ) ? 1 : 0;
}
