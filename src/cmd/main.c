/* pmm: finds the command and hands over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/cmd.h"

const struct cmd *const cmd_table[] = {
	&cmd_run,
	&cmd_attach,
	&cmd_detach,
	&cmd_report,
	&cmd_leaks,
	&cmd_snapshot,
	&cmd_doctor,
	&cmd_help,
	NULL
};

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
		if (!e.hint[0])
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

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	int code;

	if (argc < 2) {
		run(&cmd_help, 1, argv);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("pmm " PMM_VERSION);
		return CMD_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		cmd = &cmd_help;
	else
		cmd = cmd_find(argv[1]);
	if (!cmd)
		return cmd_unknown(argv[1]);
	code = run(cmd, argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout)) {
		if (code == CMD_OK && errno != EPIPE) {
			struct err e = { 0 };

			err_set(&e, -errno, "cannot write to standard output: %s", strerror(errno));
			return cmd_fail(&e);
		}
	}
	return code;
}
