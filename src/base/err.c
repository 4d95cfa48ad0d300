/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why something failed, for a person. */
#include "src/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/utf8.h"

/* of a message before it is made harmless: longer ones are cut anyway */
#define RAW_BYTES	1024

static void format(char *to, size_t size, const char *fmt, va_list ap)
{
	char raw[RAW_BYTES];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	utf8_clean(to, size, raw);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	format(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	e->hint[0] = '\0';
	return code;
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	format(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

const struct err *err_default(struct err *e, int code)
{
	if (!e->text[0])
		err_set(e, code, code == -ENOMEM ? "out of memory" : "it cannot be done: %s",
			strerror(-code));
	return e;
}

bool err_is_want(int code)
{
	return code == -ENOMEM || code == -EMFILE || code == -ENFILE;
}

int err_no_file(struct err *e, int code, const char *what)
{
	err_set(e, code, "%s: %s", what, strerror(-code));
	if (code == -EMFILE)
		err_hint(e, "raise the limit on open files (ulimit -n)");
	return code;
}
