/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a command as timeout(1) does: within FILE SECONDS CMD [ARG...]. When it takes longer, `doing` of FILE (tests/cli/wait.bash) prints on
 * stderr what it does, it is killed with its process group, and the status is 124. Else its own, 128 + the number of a deadly signal.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *file, pid_t pid)
{
	char number[16];
	pid_t child = fork();

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (!child) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("bash", "bash", "-c", ". \"$0\"; doing \"$1\"", file, number, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

/* False when the time is over. Other children of ours there are none. */
static int ends(const sigset_t *chld, time_t seconds)
{
	struct timespec now, end, left;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = (struct timespec){ end.tv_sec > now.tv_sec ? end.tv_sec - now.tv_sec : 0, 0 };
	} while (sigtimedwait(chld, NULL, &left) < 0 && errno == EINTR);
	return errno != EAGAIN;
}

int main(int argc, char **argv)
{
	sigset_t chld, old;
	int status, late;
	pid_t pid;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	pid = argc > 3 ? fork() : -1;
	if (pid < 0)
		return 125;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &old, NULL);
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		_exit(127);
	}
	errno = 0;
	late = !ends(&chld, atol(argv[2]));
	if (late) {
		fprintf(stderr, "takes longer than %s s: %s\n", argv[2], argv[3]);
		show(argv[1], pid);
		kill(-pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	return late ? 124 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
