/* Messages on stderr, the same form everywhere. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "src/cmd/cmd.h"

int cmd_fail(const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "pmm: %s\n", e->text[0] ? e->text : "failed for an unknown reason");
	if (e->hint[0])
		fprintf(stderr, "pmm: hint: %s\n", e->hint);
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
	va_list ap;

	fflush(stdout);
	fputs("pmm: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
