/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An option's percentage. */
#include "src/cmd/options/percent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cmd/cmd.h"

int cmd_parse_percent(const char *option, const char *text, double most, uint64_t whole,
		      uint64_t *out, struct err *e)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (end == text || *end || errno || !(percent >= 0 && percent <= most)) {
		err_set(e, -EINVAL, "--%s: '%s' is not a percentage", option, text);
		err_hint(e, "a number from 0 to %g, such as 0.5", most);
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	*out = (uint64_t)(percent / 100 * (double)whole + 0.5);
	return 0;
}

int cmd_parse_budget(const char *text, uint64_t *permille, struct err *e)
{
	if (strcmp(text, "all"))
		return cmd_parse_percent("budget", text, 100000, 1000, permille, e);
	*permille = UINT64_MAX;
	return 0;
}
