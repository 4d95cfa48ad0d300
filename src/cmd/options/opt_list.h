/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that are lists of words, such as --fail-on=definite,likely. */
#ifndef CMD_OPTIONS_OPT_LIST_H
#define CMD_OPTIONS_OPT_LIST_H

#include "src/base/err.h"

struct cmd_word {
	const char *name;
	unsigned bits;
};

/*
 * The bits of all the words in `text`, which commas part; `known` ends with a name of NULL. 0,
 * -EINVAL or -ENOMEM with `e`.
 */
int cmd_parse_words(const char *option, const char *text, const struct cmd_word *known,
		    unsigned *bits, struct err *e);

#endif
