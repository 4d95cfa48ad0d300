/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client's connection: lines come in, answers go out, whatever the pieces in which the client
 * sends and takes them.
 *
 * Memory is bounded: a line that is too long is dropped and answered so, and of a client that does
 * not take its answers no more lines are read.
 */
#ifndef PMMD_SESSION_H
#define PMMD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum {
	SESSION_LINE_BYTES = 4096,	/* of a line with its end */
	/* answers that wait, from which on no more lines are taken */
	SESSION_OUT_BYTES = 65536,
	SESSION_PATIENCE_S = 60		/* for clients that neither send nor take anything */
};

struct session {
	int fd;
	unsigned long number;
	bool skipping;		/* up to the end of a line that was too long */
	bool ended;		/* the client sends no more */
	bool broken;		/* the client takes no more */
	time_t moved;		/* when bytes went in or out last; monotonic */
	size_t in_at, in_len;
	size_t out_at, out_len, out_room;
	char *out;
	char in[SESSION_LINE_BYTES];
};

/* Owns fd from now on. NULL: no memory, and fd is closed. */
struct session *session_new(int fd, unsigned long number);
/* Closes fd, unless it was taken away (-1). */
void session_free(struct session *session);

/* Take what the client has sent, give it what it will take; neither waits. */
void session_read(struct session *session);
void session_write(struct session *session);
/*
 * The next whole line without its end, within the session; NULL: none yet, or too much waits to be
 * taken.
 */
char *session_line(struct session *session);
/* Adds a line to what goes out. Without memory the client is cut off. */
void session_say(struct session *session, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

bool session_wants_read(const struct session *session);
bool session_wants_write(const struct session *session);
/*
 * Nothing more will happen, or nothing has for too long: what is to be said of it, "" for nothing;
 * NULL if it goes on.
 */
const char *session_over(const struct session *session);

#endif
