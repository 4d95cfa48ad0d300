/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on stderr, the same form everywhere: one line each, whatever the names in them say. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/utf8.h"
#include "src/cmd/cmd.h"

static void put_line(const char *before, const char *text)
{
	struct str clean = STR_INIT;

	utf8_add_clean(&clean, text);
	fprintf(stderr, "pmm: %s%s\n", before, str_error(&clean) ? "out of memory" : str_text(&clean));
	str_fini(&clean);
}

int cmd_fail(const struct err *e)
{
	fflush(stdout);
	put_line("", e->text[0] ? e->text : "failed for an unknown reason");
	if (e->hint[0])
		put_line("hint: ", e->hint);
	return e->exit_code ? e->exit_code : CMD_FAILED;
}

int cmd_refuse(struct err *e, const char *text, const char *hint)
{
	err_set(e, -EINVAL, "%s", text);
	err_hint(e, "%s", hint);
	e->exit_code = CMD_USAGE;
	return -EINVAL;
}

void cmd_note(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	put_line("", text ? text : "out of memory");
	free(text);
}
