/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm: finds the command and hands over. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/stack.h"
#include "src/cmd/cmd.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/options/program.h"
#include "src/cmd/terminal.h"

const struct cmd *const cmd_table[] = {
	&cmd_run,
	&cmd_attach,
	&cmd_detach,
	&cmd_report,
	&cmd_diff,
	&cmd_budget,
	&cmd_leaks,
	&cmd_check,
	&cmd_snapshot,
	&cmd_trace,
	&cmd_kmod,
	&cmd_doctor,
	&cmd_help,
	NULL
};

/* Of a command that can run a program: is there one, and no '--'? */
static bool program_named(const struct cmd *cmd, int argc, char **argv)
{
	bool named = false;

	if (!strstr(cmd->usage, "|-- COMMAND"))
		return false;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return false;
		named |= program_meant(argv[i]);
	}
	return named;
}

/* Check the operands left at argv[first..] against what the command takes, then run it. */
static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct err e = { .exit_code = CMD_USAGE };
	bool help = false;
	int first = opt_parse(cmd->opts, cmd->stop_at_operand, argc, argv, &help, &e);
	unsigned n;

	if (help) {
		cmd_print_help(cmd);
		return CMD_OK;
	}
	if (first < 0) {
		if (!e.hint[0] && program_named(cmd, argc, argv))
			err_hint(&e,
				 "'pmm %s --help' lists the options; those of a program go after "
				 "'--': pmm %s -- COMMAND", cmd->name, cmd->name);
		else if (!e.hint[0])
			err_hint(&e, "'pmm %s --help' lists the options", cmd->name);
		return cmd_fail(&e);
	}
	n = argc - first;
	if (n < cmd->min_operands)
		err_set(&e, -EINVAL, "'pmm %s' needs %s", cmd->name,
			n ? "more arguments" : "an argument");
	else if (n > cmd->max_operands)
		err_set(&e, -EINVAL, "unexpected argument '%s'", argv[first + cmd->max_operands]);
	if (e.text[0]) {
		err_hint(&e, "usage: pmm %s %s%s", cmd->name, cmd->usage,
			 n > 1 && cmd->min_operands == 1 ? ", one at a time" : "");
		return cmd_fail(&e);
	}
	return cmd->run(n, argv + first);
}

/*
 * Where pmm was started without standard input, output or messages no file of its own must take
 * their place, to be read or written by mistake. What is there instead can be neither read nor
 * written, and a program that pmm launches does not get it.
 */
static void occupy_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
			return;
}

/*
 * Why an earlier write of standard output failed, of which the stream knows no more than that it
 * did. A device says it again of a write of nothing.
 */
static int earlier_error(void)
{
	return write(STDOUT_FILENO, "", 0) < 0 ? errno : EIO;
}

/* The exit code, when all is printed. A reader who has gone is no failure. */
static int finish(int code)
{
	int error = fflush(stdout) ? errno : ferror(stdout) ? earlier_error() : 0;

	if (error && terminal_reader_gone(STDOUT_FILENO))
		error = EPIPE;		/* that of an earlier write is not known any more */
	struct err e = { 0 };

	if (code != CMD_OK || !error || error == EPIPE)
		return code;
	err_set(&e, -error, "cannot write to standard output: %s", strerror(error));
	return cmd_fail(&e);
}

struct arguments {
	int argc;
	char **argv;
};

static int run_all(void *arg)
{
	const struct arguments *a = arg;
	const int argc = a->argc;
	char **argv = a->argv;
	const struct cmd *cmd;

	if (argc < 2) {
		run(&cmd_help, 1, argv);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("pmm " PMM_VERSION);
		return finish(CMD_OK);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		cmd = &cmd_help;
	else
		cmd = cmd_find(argv[1]);
	if (cmd)
		return finish(run(cmd, argc - 1, argv + 1));
	cmd = meant_command(argv[1]);
	return cmd ? finish(run(cmd, argc, argv)) : cmd_unknown(argv[1]);
}

int main(int argc, char **argv)
{
	struct arguments a = { argc, argv };

	occupy_standard();
	return stack_run(run_all, &a);
}
