/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run from launch to exit code, for `pmm run`, `pmm leaks -- COMMAND` and `pmm check -- COMMAND`.
 */
#ifndef CMD_CMD_RUN_H
#define CMD_CMD_RUN_H

#include <stdbool.h>
#include <stdio.h>

struct run_options;

/* An option for all three; `used` as struct opt.uses. */
#define CMD_RUN_WAIT(flag, used)                                                                   \
	{                                                                                          \
		"wait", 0, OPT_FLAG, NULL,                                                         \
			"of a COMMAND: end when all processes that it leaves behind have ended, "  \
			"too (daemons), and report on all; Ctrl-C then ends the waiting",          \
			flag, .uses = used                                                         \
	}

/*
 * Run argv, which ends with NULL; results go to `report` (NULL = stderr), as JSON or text.
 * `found_code`: the exit code when there was a find, -1 = the program's own. `apart` and `keep_fd`
 * of the options are set here. The exit code; errors are printed.
 */
int cmd_run_for(const struct run_options *o, char **argv, FILE *report, bool json, int found_code);

#endif
