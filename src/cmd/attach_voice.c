/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the events of a watched process get out. */
#include "src/cmd/attach_voice.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cmd/terminal.h"
#include "src/document/event.h"
#include "src/session/attach/attach_session.h"

#define PATIENCE_NS	100000000ull	/* between two looks whether there is a reader again */
#define HASTE_MS	2000		/* for a reader that takes nothing, after a signal */

static void fall_silent(struct attach_voice *v, int why)
{
	v->mute = why;
	if (v->session)
		attach_session_end(v->session, SAY_MUTE);
}

/* The reader of a pipe or socket is gone, or the terminal is: nothing else is asked for. */
static void on_reader(void *arg, uint32_t events)
{
	struct attach_voice *v = arg;

	(void)events;
	loop_del(v->loop, v->on_reader);
	v->on_reader = NULL;
	if (!v->mute)
		fall_silent(v, EPIPE);
}

/*
 * Is there room for more? As long as we are attached a moment is waited for that, and false: the
 * watching ends first. After that the reader is waited for, unless a signal has ended it.
 */
static bool may_write(struct attach_voice *v)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	for (;;) {
		if (poll(&p, 1, v->session ? 0 : v->hasty ? HASTE_MS : -1))
			return true;
		if (v->session) {
			if (!attach_session_wait(v->session, PATIENCE_NS) || v->mute)
				return false;
		} else {
			fall_silent(v, ETIMEDOUT);
			return false;
		}
	}
}

/*
 * Write what is unsaid, a piece at a time that a pipe takes without blocking. While that is waited
 * for, more may come, which is appended.
 */
static void drain(struct attach_voice *v)
{
	size_t done = 0;

	if (v->draining)
		return;
	v->draining = true;
	while (!v->mute && done < v->unsaid.len && may_write(v)) {
		size_t n = v->unsaid.len - done < PIPE_BUF ? v->unsaid.len - done : PIPE_BUF;
		ssize_t written = write(STDOUT_FILENO, v->unsaid.s + done, n);

		if (written > 0)
			done += (size_t)written;
		else if (written < 0 && errno != EINTR && errno != EAGAIN)
			fall_silent(v, errno);
	}
	memmove(v->unsaid.s, v->unsaid.s + done, v->unsaid.len - done + 1);
	v->unsaid.len -= done;
	v->draining = false;
}

static int event(void *arg, const struct event *e)
{
	struct attach_voice *v = arg;
	char *words = NULL;
	size_t nr_words;
	FILE *out = v->mute ? NULL : open_memstream(&words, &nr_words);
	int rc;

	if (v->mute)
		return -v->mute;
	if (!out)
		return -ENOMEM;
	rc = v->json ? event_print_json(e, out) : event_print_text(e, &v->style, out);
	if (fclose(out) == 0)
		str_addn(&v->unsaid, words, nr_words);
	free(words);
	if (v->unsaid.len)
		drain(v);
	if (v->mute)
		return -v->mute;
	return rc == -ENOMEM ? rc : str_error(&v->unsaid);
}

void attach_voice_init(struct attach_voice *v, struct loop *l, bool json)
{
	*v = (struct attach_voice){ .loop = l, .json = json, .style = terminal_style(stdout) };
	emit_init(&v->emit, stderr, false);
	v->emit.event = event;
	v->emit.event_arg = v;
	/* files and /dev/null have no reader that could go: then only a write can show it */
	(void)loop_add_fd(l, STDOUT_FILENO, 0, on_reader, v, &v->on_reader);
}

int attach_voice_said(const struct attach_voice *v, struct err *e)
{
	if (v->mute == EPIPE)
		return err_set(e, -EPIPE, "the output has no reader any more");
	if (v->mute == ETIMEDOUT)
		return err_set(e, -ETIMEDOUT,
			       "the output has no reader: the rest of it is lost");
	if (v->mute)
		return err_set(e, -v->mute, "cannot write to standard output: %s",
			       strerror(v->mute));
	return 0;
}

void attach_voice_fini(struct attach_voice *v)
{
	loop_del(v->loop, v->on_reader);
	str_fini(&v->unsaid);
}
