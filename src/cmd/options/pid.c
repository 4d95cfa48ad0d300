/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operands that name a process. */
#include "src/cmd/options/pid.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "src/cmd/cmd.h"
#include "src/cmd/help/meant.h"
#include "src/proc/proc.h"

/* Could it be meant as a program's name? */
static bool is_name(const char *text)
{
	return isalpha((unsigned char)*text) &&
	       !text[strspn(text,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")];
}

int cmd_parse_pid(const char *text, pid_t *pid, struct err *e)
{
	const pid_t n = proc_parse_pid(text);

	if (n) {
		*pid = meant_process(n);
		return 0;
	}
	err_set(e, -EINVAL, "'%s' is not a process number", text);
	if (!access(text, F_OK))
		err_hint(e, "it is a file, and this command is about a running process; captures "
			    "are shown by 'pmm report FILE'");
	else if (is_name(text))
		err_hint(e, "'pgrep -a %s' lists the processes of that name with their numbers",
			 text);
	else
		err_hint(e, "'ps -e' lists all processes with their numbers");
	if (e)
		e->exit_code = CMD_USAGE;
	return -EINVAL;
}
