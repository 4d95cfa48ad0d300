/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String builder with sticky errors. */
#include "src/base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool str_reserve(struct str *s, size_t more)
{
	size_t want;
	char *p;

	if (s->failed || more > SIZE_MAX / 2 - s->len) {
		s->failed = true;
		return false;
	}
	if (s->len + more < s->room)
		return true;
	want = s->len + more + 1;
	if (want < s->room + s->room / 2)
		want = s->room + s->room / 2;
	if (want < 32)
		want = 32;
	p = realloc(s->s, want);
	if (!p) {
		s->failed = true;
		return false;
	}
	s->s = p;
	s->room = want;
	return true;
}

void str_addn(struct str *s, const char *bytes, size_t n)
{
	if (!str_reserve(s, n))
		return;
	if (n)
		memcpy(s->s + s->len, bytes, n);
	s->len += n;
	s->s[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		s->failed = true;
		return;
	}
	if (!str_reserve(s, n))
		return;
	va_start(ap, fmt);
	vsnprintf(s->s + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += n;
}

void str_pad(struct str *s, char c, size_t n)
{
	if (!str_reserve(s, n))
		return;
	memset(s->s + s->len, c, n);
	s->len += n;
	s->s[s->len] = '\0';
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->failed = false;
	if (s->s)
		s->s[0] = '\0';
}

const char *str_text(const struct str *s)
{
	return s->s ? s->s : "";
}

int str_error(const struct str *s)
{
	return s->failed ? -ENOMEM : 0;
}

char *str_steal(struct str *s)
{
	char *text = NULL;

	if (!s->failed)
		text = s->s ? s->s : strdup("");
	else
		free(s->s);
	*s = (struct str)STR_INIT;
	return text;
}

void str_fini(struct str *s)
{
	free(s->s);
	*s = (struct str)STR_INIT;
}

const char *str_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool str_starts(const char *text, const char *part)
{
	return !strncmp(text, part, strlen(part));
}

bool str_ends(const char *text, const char *part)
{
	size_t n = strlen(text), m = strlen(part);

	return n >= m && !memcmp(text + n - m, part, m);
}
