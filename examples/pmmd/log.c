/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The daemon's log. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *log_path;
static int log_fd = -1;

static int open_file(void)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      0600);

	return fd < 0 ? -errno : fd;
}

int log_open(const char *path)
{
	int fd;

	log_path = path;
	fd = open_file();
	if (fd < 0)
		return fd;
	log_fd = fd;
	return 0;
}

int log_reopen(void)
{
	int fd = open_file(), e = 0;

	if (fd < 0)
		return fd;
	/* at no time is there no descriptor: a signal handler may write */
	if (dup3(fd, log_fd, O_CLOEXEC) < 0)
		e = -errno;
	close(fd);
	return e;
}

void log_text(void *ctx, const char *text, size_t bytes)
{
	int saved = errno;

	(void)ctx;
	while (bytes) {
		ssize_t n = write(log_fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;	/* the disk is full, or there is no log yet: nobody to tell */
		text += n;
		bytes -= (size_t)n;
	}
	errno = saved;
}

void log_line(const char *format, ...)
{
	char line[1024];
	struct timespec now;
	struct tm tm;
	size_t at;
	va_list args;
	int n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	at = strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%SZ ", &tm);
	va_start(args, format);
	n = vsnprintf(line + at, sizeof(line) - at - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	at += (size_t)n < sizeof(line) - at - 1 ? (size_t)n : sizeof(line) - at - 2;
	line[at++] = '\n';
	log_text(NULL, line, at);
}
