/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that reads a pipe before it executes. */
#include "src/track/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the child; async-signal-safe only. */
static void __attribute__((noreturn)) wait_and_execute(int go, int failed, char **argv,
						       const sigset_t *mask)
{
	char word;
	int why;

	if (read(go, &word, 1) != 1)
		_exit(127);
	if (mask) {
		signal(SIGPIPE, SIG_DFL);
		sigprocmask(SIG_SETMASK, mask, NULL);
	}
	execvp(argv[0], argv);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0)
		_exit(126);
	_exit(127);
}

int gate_fork(struct gate *g, char **argv, const sigset_t *mask, struct err *e)
{
	int go[2], failed[2], rc;

	*g = GATE_NONE;
	if (pipe2(go, O_CLOEXEC))
		return err_no_file(e, -errno, "cannot make a pipe");
	if (pipe2(failed, O_CLOEXEC)) {
		rc = err_no_file(e, -errno, "cannot make a pipe");
		close(go[0]);
		close(go[1]);
		return rc;
	}
	g->pid = fork();
	if (!g->pid) {
		close(go[1]);
		wait_and_execute(go[0], failed[1], argv, mask);
	}
	rc = g->pid < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	g->go = go[1];
	g->failed = failed[0];
	if (rc) {
		g->pid = 0;
		gate_close(g);
		return err_set(e, rc, "cannot start a process: %s", strerror(-rc));
	}
	return 0;
}

int gate_open(struct gate *g, struct err *e)
{
	int why = 0;
	ssize_t n;

	if (write(g->go, "", 1) != 1)
		return err_set(e, -errno, "the program has ended before it began");
	close_end(&g->go);
	do
		n = read(g->failed, &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	close_end(&g->failed);
	if (n != sizeof(why))
		return 0;
	waitpid(g->pid, NULL, 0);
	g->pid = 0;
	return -why;
}

void gate_collected(struct gate *g)
{
	g->pid = 0;
}

void gate_close(struct gate *g)
{
	bool waits = g->go >= 0;

	close_end(&g->go);
	close_end(&g->failed);
	if (g->pid && waits)
		waitpid(g->pid, NULL, 0);
	g->pid = 0;
}
