/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An option's percentage.
 */
#ifndef CMD_OPTIONS_PERCENT_H
#define CMD_OPTIONS_PERCENT_H

#include <stdint.h>

#include "src/base/err.h"

/*
 * "0.1" or "0.1%", at most `most`, as so many of `whole`, which is 100 %. 0, or -EINVAL with `e` (a
 * usage error).
 */
int cmd_parse_percent(const char *option, const char *text, double most, uint64_t whole,
		      uint64_t *out, struct err *e);

/* The same of what checking may cost, in permille; "all" is UINT64_MAX. */
int cmd_parse_budget(const char *text, uint64_t *permille, struct err *e);

#endif
