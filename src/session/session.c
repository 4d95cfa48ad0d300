/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way out of a session. */
#include "src/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/str.h"

static void hand_over(const struct session_sink *s, enum session_kind kind, const char *fmt,
		      va_list ap)
{
	char *text = NULL;

	if (!s->ops->note)
		return;
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	s->ops->note(s->arg, text ? kind : SESSION_NOTE, text ? text : "out of memory");
	free(text);
}

void session_note(const struct session_sink *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hand_over(s, SESSION_NOTE, fmt, ap);
	va_end(ap);
}

void session_warn(const struct session_sink *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hand_over(s, SESSION_WARNING, fmt, ap);
	va_end(ap);
}

void session_warn_text(const struct session_sink *s, struct str *text, const char *otherwise)
{
	if (str_error(text))
		session_warn(s, "%s", otherwise);
	else if (text->len)
		session_warn(s, "%s", str_text(text));
	str_fini(text);
}

void session_hint(const struct session_sink *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hand_over(s, SESSION_HINT, fmt, ap);
	va_end(ap);
}

void session_progress(const struct session_sink *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hand_over(s, SESSION_PROGRESS, fmt, ap);
	va_end(ap);
}

void session_error(const struct session_sink *s, const struct err *e)
{
	if (s->ops->error)
		s->ops->error(s->arg, e);
}

int session_document(const struct session_sink *s, const struct doc *d, bool follows)
{
	return s->ops->document ? s->ops->document(s->arg, d, follows) : 0;
}

int session_event(const struct session_sink *s, const struct event *e)
{
	return s->ops->event ? s->ops->event(s->arg, e) : 0;
}

int session_text(const struct session_sink *s, const char *text, size_t bytes)
{
	return s->ops->text ? s->ops->text(s->arg, text, bytes) : 0;
}

void session_released(const struct session_sink *s, bool found)
{
	if (s->ops->released)
		s->ops->released(s->arg, found);
}

void session_background(const struct session_sink *s)
{
	if (s->ops->background)
		s->ops->background(s->arg);
}
