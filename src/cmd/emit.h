/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printing what a session hands over: notes and errors on stderr, results as text or JSON on a
 * stream.
 */
#ifndef CMD_EMIT_H
#define CMD_EMIT_H

#include <stdio.h>

#include "src/session/session.h"

struct emit {
	struct session_sink sink;
	FILE *out;		/* borrowed */
	FILE *like;		/* what `out` will be copied to, for the style; NULL = itself */
	bool json;
	/* for session_ops.event; NULL = there are none */
	int (*event)(void *arg, const struct event *e);
	void *event_arg;
	/* for session_ops.released; NULL = not wanted */
	void (*released)(void *arg, bool found);
	void *released_arg;
};

/* A sink that prints results to `out`; `e` must not be moved afterwards. */
void emit_init(struct emit *e, FILE *out, bool json);

/*
 * The exit code of a command that ran a program: its own, or `found_code` (-1 = none was asked for)
 * when there is a find.
 */
int emit_exit_code(const struct session_end *end, int found_code);

/* For what has notes only. */
extern const struct session_sink emit_notes;

#endif
