/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A client's connection. */
#include "session.h"

#include <pmm.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "seconds.h"

struct session *session_new(int fd, unsigned long number)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session) {
		close(fd);
		return NULL;
	}
	session->fd = fd;
	session->number = number;
	session->moved = seconds_now();
	return session;
}

void session_free(struct session *session)
{
	if (session->fd >= 0)
		close(session->fd);
	free(session->out);
	free(session);
}

/* What a failed call on the socket means; true: nothing, it is only not ready. */
static bool is_patient(void)
{
	return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

void session_read(struct session *session)
{
	ssize_t n;

	if (session->in_at) {
		memmove(session->in, session->in + session->in_at, session->in_len);
		session->in_at = 0;
	}
	n = recv(session->fd, session->in + session->in_len, sizeof(session->in) - session->in_len,
		 MSG_DONTWAIT);
	if (n > 0) {
		session->in_len += (size_t)n;
		session->moved = seconds_now();
	} else if (n == 0) {
		session->ended = true;
	} else if (!is_patient()) {
		session->ended = session->broken = true;
	}
}

void session_write(struct session *session)
{
	while (session->out_len && !session->broken) {
		ssize_t n = send(session->fd, session->out + session->out_at, session->out_len,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && is_patient())
			return;
		if (n < 0) {
			session->broken = true;
			return;
		}
		session->out_at += (size_t)n;
		session->out_len -= (size_t)n;
		session->moved = seconds_now();
	}
	session->out_at = 0;
}

/* Room for a whole line is there behind what is taken: else the line is too long. */
static void drop_long_line(struct session *session)
{
	if (!session->skipping)
		session_say(session, "error a line has %d characters at most",
			    SESSION_LINE_BYTES - 1);
	session->skipping = true;
	session->in_at = session->in_len = 0;
}

char *session_line(struct session *session)
{
	while (session->in_len && session->out_len < SESSION_OUT_BYTES) {
		char *line = session->in + session->in_at,
		     *end = memchr(line, '\n', session->in_len);
		size_t bytes;

		if (!end) {
			if (session->skipping || session->in_len == sizeof(session->in))
				drop_long_line(session);
			return NULL;
		}
		bytes = (size_t)(end - line) + 1;
		session->in_at += bytes;
		session->in_len -= bytes;
		*end = 0;
		if (!session->skipping && !memchr(line, 0, bytes - 1))
			return line;
		if (!session->skipping)
			session_say(session, "error a line with a zero byte is no command");
		session->skipping = false;
	}
	return NULL;
}

/* Room behind what waits; 0 or -ENOMEM. */
static int make_room(struct session *session, size_t bytes)
{
	size_t room = session->out_room ? session->out_room : 256;
	char *out;

	if (session->out_at) {
		memmove(session->out, session->out + session->out_at, session->out_len);
		session->out_at = 0;
	}
	while (room - session->out_len < bytes)
		room *= 2;
	if (room == session->out_room)
		return 0;
	out = realloc(session->out, room);
	if (!out)
		return -ENOMEM;
	session->out = out;
	session->out_room = room;
	return 0;
}

void session_say(struct session *session, const char *format, ...)
{
	char line[512];
	va_list args;
	size_t len;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	len = (size_t)n < sizeof(line) - 1 ? (size_t)n : sizeof(line) - 2;
	line[len++] = '\n';
	if (make_room(session, len) < 0) {
		session->broken = true;
		return;
	}
	memcpy(session->out + session->out_len, line, len);
	session->out_len += len;
}

bool session_wants_read(const struct session *session)
{
	return !session->ended && session->out_len < SESSION_OUT_BYTES;
}

bool session_wants_write(const struct session *session)
{
	return session->out_len && !session->broken;
}

const char *session_over(const struct session *session)
{
	if (session->broken)
		return "is gone";
	if (session->ended && !session->out_len)
		return session->in_len || session->skipping ? "is gone in the midst of a command"
							    : "";
	if (seconds_now() - session->moved >= SESSION_PATIENCE_S)
		return session->out_len ? "takes no answers: it is cut off"
					: "says nothing: it is cut off";
	return NULL;
}
