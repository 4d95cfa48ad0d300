/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The client. */
#include "ctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "session.h"

enum { PATIENCE_S = 60 };

static void __attribute__((__format__(__printf__, 1, 2))) say(const char *format, ...)
{
	va_list args;

	fputs("pmmd: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* The words with blanks between them; false: too many characters, or one that ends the line. */
static bool join(char *line, size_t room, int nr, char **word)
{
	size_t at = 0, len;
	int i;

	for (i = 0; i < nr; i++) {
		len = strlen(word[i]);
		if (strchr(word[i], '\n') || len + 2 > room - at)
			return false;
		memcpy(line + at, word[i], len);
		at += len;
		line[at++] = i + 1 < nr ? ' ' : '\n';
	}
	line[at] = 0;
	return true;
}

/* Connected, or -1 and it is said why. */
static int dial(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { PATIENCE_S, 0 };
	int fd, e;

	if (strlen(path) >= sizeof(address.sun_path)) {
		say("'%s' is too long for a socket's name", path);
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		say("no socket can be made: %s", strerror(errno));
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	e = errno;
	close(fd);
	say("no pmmd answers at '%s': %s", path, e == ECONNREFUSED ? "it has ended" : strerror(e));
	return -1;
}

/*
 * A daemon that has no room for a session does not read, but answers: a failure to send is seen by
 * what comes.
 */
static void send_line(int fd, const char *line)
{
	size_t left = strlen(line);

	while (left) {
		ssize_t n = send(fd, line, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		line += n;
		left -= (size_t)n;
	}
	shutdown(fd, SHUT_WR);
}

/* One line of the answer; -1: more will come, else the exit status. */
static int show(const char *line)
{
	if (line[0] == ' ') {
		fputs(line + 1, stdout);
		return -1;
	}
	if (!strncmp(line, "ok", 2)) {
		if (line[2] == ' ')
			fputs(line + 3, stdout);
		return 0;
	}
	fprintf(stderr, "pmmd: %s", line + (strncmp(line, "error ", 6) ? 0 : 6));
	return 1;
}

/* Up to the end of the connection: after `quit` that is the daemon's end. */
static int show_answer(int fd)
{
	FILE *in = fdopen(fd, "r");
	char line[SESSION_LINE_BYTES];
	int status = -1;

	if (!in) {
		close(fd);
		say("no memory");
		return 1;
	}
	errno = 0;
	while (fgets(line, sizeof(line), in))
		status = show(line);
	if (ferror(in) && (errno == EAGAIN || errno == EWOULDBLOCK))
		say("pmmd does not answer within %d s", PATIENCE_S);
	else if (status < 0)
		say("pmmd ended before it had answered");
	fclose(in);
	if (fflush(stdout) || ferror(stdout)) {
		say("the answer cannot be written: %s", strerror(errno));
		return 1;
	}
	return status == 0 ? 0 : 1;
}

int ctl_run(const char *socket, int nr, char **word)
{
	char line[SESSION_LINE_BYTES];
	int fd;

	if (!join(line, sizeof(line), nr, word)) {
		say("a command is one line of %d characters at most", SESSION_LINE_BYTES - 1);
		return 1;
	}
	fd = dial(socket);
	if (fd < 0)
		return 1;
	send_line(fd, line);
	return show_answer(fd);
}
