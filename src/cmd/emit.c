/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Printing what a session hands over. */
#include "src/cmd/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/cmd/cmd.h"
#include "src/cmd/terminal.h"
#include "src/document/doc.h"

static void note(void *arg, enum session_kind kind, const char *text)
{
	static const char *const before[] = {
		[SESSION_NOTE] = "",
		[SESSION_WARNING] = "WARNING: ",
		[SESSION_HINT] = "hint: ",
		[SESSION_PROGRESS] = "",
	};

	_Static_assert(sizeof(before) / sizeof(*before) == SESSION_NR_KINDS, "words for each");
	(void)arg;
	if (kind != SESSION_PROGRESS || isatty(STDERR_FILENO))
		cmd_note("%s%s", before[kind], text);
}

static void error(void *arg, const struct err *e)
{
	(void)arg;
	cmd_fail(e);
}

static int document(void *arg, const struct doc *d, bool follows)
{
	const struct emit *e = arg;
	struct style style;

	if (e->json)
		return doc_print_json(d, e->out);
	if (follows)
		fputc('\n', e->out);
	style = terminal_style(e->like ? e->like : e->out);
	return doc_print_text(d, &style, e->out);
}

static int event(void *arg, const struct event *what)
{
	const struct emit *e = arg;

	return e->event ? e->event(e->event_arg, what) : 0;
}

static int text(void *arg, const char *s, size_t bytes)
{
	const struct emit *e = arg;

	if (fwrite(s, 1, bytes, e->out) < bytes || fflush(e->out))
		return -errno;
	return 0;
}

static void released(void *arg, bool found)
{
	const struct emit *e = arg;

	if (e->released)
		e->released(e->released_arg, found);
}

static void background(void *arg)
{
	int null = io_open_null(O_CLOEXEC);

	(void)arg;
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

static const struct session_ops ops = {
	.note = note,
	.error = error,
	.document = document,
	.event = event,
	.text = text,
	.released = released,
	.background = background,
};

void emit_init(struct emit *e, FILE *out, bool json)
{
	*e = (struct emit){ .sink = { &ops, e }, .out = out, .json = json };
}

int emit_exit_code(const struct session_end *end, int found_code)
{
	if (end->refused)
		return end->code ? end->code : CMD_FAILED;
	if (found_code >= 0 && end->found)
		return found_code;
	if (end->code || end->failed)
		return end->code ? end->code : CMD_FAILED;
	return found_code >= 0 && end->unseen ? CMD_FAILED : CMD_OK;
}

static const struct session_ops notes_ops = { .note = note, .error = error };

const struct session_sink emit_notes = { .ops = &notes_ops };
