/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options whose argument is a list of names, such as --fail-on=definite,likely. */
#ifndef CMD_OPTIONS_OPT_LIST_H
#define CMD_OPTIONS_OPT_LIST_H

#include "src/base/err.h"

struct cmd_choice {
	const char *name;
	unsigned bits;
};

/*
 * The bits of all names in `text`, which are separated by commas; `known` ends with a name of NULL.
 * 0, -EINVAL or -ENOMEM with `e`.
 */
int cmd_parse_list(const char *option, const char *text, const struct cmd_choice *known,
		   unsigned *bits, struct err *e);

#endif
