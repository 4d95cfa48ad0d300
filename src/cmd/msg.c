/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on stderr, the same form everywhere: one line each but for a narrow terminal, whatever
 * the names in them say.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"
#include "src/base/wrap.h"
#include "src/cmd/cmd.h"
#include "src/cmd/terminal.h"
#include "src/document/doc.h"

#define PREFIX	"pmm: "

/* On a terminal, and where the width is given, broken into lines that begin alike. */
static void put_line(const char *before, const char *text)
{
	struct str clean = STR_INIT, lines = STR_INIT;
	unsigned hang;
	char next[64];

	str_addf(&clean, PREFIX "%s", before);
	utf8_add_clean(&clean, text);
	hang = str_error(&clean) ? 0 : wrap_hang(str_text(&clean) + strlen(PREFIX));
	snprintf(next, sizeof(next), PREFIX "%*s", (int)(hang ? hang : 2), "");
	wrap_add(&lines, str_text(&clean), terminal_style(stderr).width, next, 0);
	fprintf(stderr, "%s\n",
		str_error(&clean) || str_error(&lines) ? PREFIX "out of memory" : str_text(&lines));
	str_fini(&clean);
	str_fini(&lines);
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
	if (hint)
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
