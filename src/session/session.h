/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way out of a session: what the engine behind a command, a screen or a daemon hands over.
 *
 * A session takes a struct of options and a sink. It keeps what it knows in its own structs, so
 * that two of them in one process know nothing of each other; it prints nothing, and leaves the
 * signals of the process as they are. Its caller decides what becomes of its notes and documents.
 *
 * All calls of a sink come from the thread that runs the session. Unless a contract says otherwise,
 * nothing of a process is held during them.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct doc;
struct event;
struct str;

enum session_kind {
	SESSION_NOTE,		/* a line that belongs to the result, or a remark */
	SESSION_WARNING,	/* the result is not complete */
	SESSION_HINT,		/* what helps; of the note before it */
	SESSION_PROGRESS,	/* only of use while the user waits */
};
#define SESSION_NR_KINDS (SESSION_PROGRESS + 1)

/* A member that is NULL: not wanted. */
struct session_ops {
	/* One line for a person, without a line feed. Names in it are as they came. */
	void (*note)(void *arg, enum session_kind kind, const char *text);
	/* Something failed that does not end the session. */
	void (*error)(void *arg, const struct err *e);
	/*
	 * A result. `follows`: it continues an earlier one, and a form for people leaves a line
	 * free between them. 0 or -errno; -EPIPE: there is no reader any more, which is no error.
	 */
	int (*document)(void *arg, const struct doc *d, bool follows);
	/*
	 * Something happened while a process is watched, which continues meanwhile: it must be
	 * taken without waiting for anybody, but see attach_session_wait(). 0; -ENOMEM: it is not
	 * whole; another -errno: no more events are wanted, and the watching ends.
	 */
	int (*event)(void *arg, const struct event *e);
	/* A result in a form of its own: suppressions, XML. As document(). */
	int (*text)(void *arg, const char *text, size_t bytes);
	/*
	 * Nothing of a running process is held any more, until the session is asked for the next
	 * step. `found`: what was looked for has been found so far.
	 */
	void (*released)(void *arg, bool found);
	/*
	 * This process is a copy that continues where the first one ends, without a terminal: notes
	 * have no reader any more.
	 */
	void (*background)(void *arg);
};

/* How a session ended that ran a program. */
struct session_end {
	int code; /* the program's own exit code; 128+N = signal N ended it */
	bool found; /* what is a find, by the session's options */
	bool failed; /* something found could not be handed over */
	bool unseen; /* something to be looked at was not: `found` may lack it */
	/* nothing was run, for an error that was handed over; `code` is that error's */
	bool refused;
};

/* Borrowed by a session, as long as it lives. */
struct session_sink {
	const struct session_ops *ops;
	void *arg;
};

void session_note(const struct session_sink *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session_warn(const struct session_sink *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session_hint(const struct session_sink *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session_progress(const struct session_sink *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A warning that was put together, if it says anything; without memory, `otherwise`. Frees it. */
void session_warn_text(const struct session_sink *s, struct str *text, const char *otherwise);

void session_error(const struct session_sink *s, const struct err *e);
int session_document(const struct session_sink *s, const struct doc *d, bool follows);
int session_event(const struct session_sink *s, const struct event *e);
int session_text(const struct session_sink *s, const char *text, size_t bytes);
void session_released(const struct session_sink *s, bool found);
void session_background(const struct session_sink *s);

#endif
