/* SPDX-License-Identifier: GPL-2.0-or-later
 * each_line PROGRAM...: for each line "ARG ARG ..." of its input runs PROGRAM ARG ARG ..., and says "ARG ARG ...: STATUS" as a shell has it. Lines
 * that begin with "PROGRAM:" choose among several programs by their number, from 0: "1:ARG ARG ...".
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static int run(char *program, char *line)
{
	char *argv[16] = { program }, *word;
	int status, nr = 1;
	pid_t pid;

	for (word = strtok(line, " "); word && nr < 15; word = strtok(NULL, " "))
		argv[nr++] = word;
	if (posix_spawnp(&pid, program, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	char line[512], said[512];

	while (fgets(line, sizeof(line), stdin)) {
		int which = 1 + atoi(line);
		char *args = strchr(line, ':');

		if (!args || which >= argc)
			return 64;
		args[strcspn(args, "\n")] = '\0';
		strcpy(said, line);
		printf("%s: %d\n", said, run(argv[which], args + 1));
		fflush(stdout);
	}
	return 0;
}
