/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers for arguments of `pmm leaks`. All: 0 or -EINVAL with `e` (a usage error).
 */
#ifndef CMD_OPTIONS_LEAKS_PARSE_H
#define CMD_OPTIONS_LEAKS_PARSE_H

#include <stdint.h>

#include "src/base/err.h"

/*
 * "definite,possible,...": enum leaks_show. "definite,likely,growth,...": enum leaks_fail and
 * classes. "stdstring,...": enum reach_heuristic.
 */
int leaks_parse_show(const char *text, unsigned *show, struct err *e);
int leaks_parse_fail_on(const char *text, unsigned *fail_on, struct err *e);
int leaks_parse_heuristics(const char *text, unsigned *heuristics, struct err *e);

/* "top": the highest byte; "3": the three lowest bits; "0xff00000000000007": these. */
int leaks_parse_tag_bits(const char *text, uint64_t *mask, struct err *e);

#endif
