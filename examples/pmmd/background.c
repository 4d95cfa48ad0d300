/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The way into the background. */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int starter = -1;	/* pipe to it; -1: there is none to tell, or no more */
static const char ready[] = "ready\n";

/* It may have been killed: that is no reason to end. */
static void tell_starter(const char *text)
{
	ssize_t n;

	do {
		n = write(starter, text, strlen(text));
	} while (n < 0 && errno == EINTR);
}

/*
 * What the daemon tells the starter, or nothing if it dies without a word; up to its last
 * descriptor of the pipe.
 */
static size_t read_all(int fd, char *text, size_t room)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, text + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	return len;
}

static void __attribute__((__noreturn__)) await_daemon(int fd, pid_t child)
{
	char text[1024];
	size_t len = read_all(fd, text, sizeof(text) - 1);

	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	text[len] = 0;
	if (!strcmp(text, ready))
		_exit(0);	/* not exit(): nothing of the daemon's is ended here */
	fprintf(stderr, "pmmd: %s\n", len ? text : "the daemon ended before it was ready");
	_exit(1);
}

/*
 * Signals as the kernel gives them to a new program, whatever the starter had blocked or ignored.
 */
static void reset_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);	/* fails for two, and for those of the C library */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * This process goes on as the child of a child, which no session and no terminal has: the child in
 * between leads a session, and ends.
 */
static void fork_away(void)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		background_fail("no pipe can be made: %s", strerror(errno));
	child = fork();
	if (child < 0)
		background_fail("no process can be made: %s", strerror(errno));
	if (child > 0) {
		close(ends[1]);
		await_daemon(ends[0], child);
	}
	close(ends[0]);
	starter = ends[1];
	setsid();
	child = fork();
	if (child < 0)
		background_fail("no process can be made: %s", strerror(errno));
	if (child > 0)
		_exit(0);
}

void background_enter(bool stay)
{
	/* whoever started it waits for the ends of pipes that it may have left open */
	closefrom(STDERR_FILENO + 1);
	reset_signals();
	signal(SIGPIPE, SIG_IGN);
	if (!stay)
		fork_away();
	umask(077);
	if (chdir("/") < 0)
		background_fail("'/' cannot be entered: %s", strerror(errno));
}

void background_ready(void)
{
	int fd;

	if (starter < 0)
		return;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    dup2(fd, STDERR_FILENO) < 0)
		background_fail("'/dev/null' cannot be opened: %s", strerror(errno));
	if (fd > STDERR_FILENO)
		close(fd);
	tell_starter(ready);
	close(starter);
	starter = -1;
}

void background_fail(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (starter < 0)
		fprintf(stderr, "pmmd: %s\n", text);
	else
		tell_starter(text);
	_exit(1);
}
