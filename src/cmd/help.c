/* pmm help: what there is; also the man pages and completions, made from the tables of options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/cmd.h"

const struct cmd *cmd_find(const char *name)
{
	size_t i;

	for (i = 0; cmd_table[i]; i++)
		if (!strcmp(cmd_table[i]->name, name))
			return cmd_table[i];
	return NULL;
}

int cmd_fail(const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "pmm: %s\n", e->text);
	if (e->hint[0])
		fprintf(stderr, "pmm: hint: %s\n", e->hint);
	return e->exit_code ? e->exit_code : CMD_FAILED;
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

void cmd_print_help(const struct cmd *cmd)
{
	printf("usage: pmm %s %s\n", cmd->name, cmd->usage);
}

static int help_run(int argc, char **argv)
{
	size_t i;

	(void)argc;
	(void)argv;
	puts("usage: pmm COMMAND [options] ...");
	for (i = 0; cmd_table[i]; i++)
		printf("  %-10s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
	return CMD_OK;
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "explain pmm or one of its commands",
	.usage = "[COMMAND]",
	.max_operands = 1,
	.run = help_run,
};
