/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers for arguments of `pmm leaks`. */
#include "src/cmd/options/leaks_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cmd/cmd.h"
#include "src/session/leaks/leaks_report.h"
#include "src/cmd/options/opt_list.h"

#define MAX_LOW_BITS	12
#define ADDRESS_BITS	0x00007ffffffff000ull	/* without one of these nothing would be found */

int leaks_parse_show(const char *text, unsigned *show, struct err *e)
{
	static const struct cmd_choice choices[] = {
		{ "definite", LEAKS_SHOW_DEFINITE },
		{ "indirect", LEAKS_SHOW_INDIRECT },
		{ "possible", LEAKS_SHOW_POSSIBLE },
		{ "reachable", LEAKS_SHOW_REACHABLE },
		{ "likely", LEAKS_SHOW_LIKELY },
		{ "growing", LEAKS_SHOW_GROWING },
		{ "suppressed", LEAKS_SHOW_SUPPRESSED },
		{ "all", LEAKS_SHOW_ALL },
		{ 0 },
	};

	return cmd_parse_list("show", text, choices, show, e);
}

int leaks_parse_fail_on(const char *text, unsigned *fail_on, struct err *e)
{
	static const struct cmd_choice choices[] = {
		{ "definite", 1 << REACH_DEFINITE },
		{ "indirect", 1 << REACH_INDIRECT },
		{ "possible", 1 << REACH_POSSIBLE },
		{ "reachable", 1 << REACH_REACHED },
		{ "likely", LEAKS_FAIL_LIKELY },
		{ "growth", LEAKS_FAIL_GROWTH },
		{ "unsearched", LEAKS_FAIL_UNSEARCHED },
		{ "none", 0 },
		{ 0 },
	};

	return cmd_parse_list("fail-on", text, choices, fail_on, e);
}

int leaks_parse_heuristics(const char *text, unsigned *heuristics, struct err *e)
{
	static const struct cmd_choice choices[] = {
		{ "stdstring", REACH_STDSTRING },
		{ "length64", REACH_LENGTH64 },
		{ "newarray", REACH_NEWARRAY },
		{ "multipleinheritance", REACH_MULTIPLE_INHERITANCE },
		{ "header", REACH_HEADER },
		{ "pool", REACH_POOL },
		{ "all", REACH_ALL_HEURISTICS },
		{ "none", 0 },
		{ 0 },
	};

	return cmd_parse_list("heuristics", text, choices, heuristics, e);
}

int leaks_parse_tag_bits(const char *text, uint64_t *mask, struct err *e)
{
	char *end;

	errno = 0;
	*mask = 0;
	if (!strcmp(text, "top")) {
		*mask = 0xffull << 56;
	} else if (isdigit((unsigned char)*text)) {
		*mask = strtoull(text, &end, 0);
		if (!errno && !*end && strncmp(text, "0x", 2) && *mask >= 1 &&
		    *mask <= MAX_LOW_BITS)
			*mask = (1ull << *mask) - 1;
		else if (errno || *end || strncmp(text, "0x", 2))
			*mask = 0;
	}
	if (*mask && !(*mask & ADDRESS_BITS))
		return 0;
	err_set(e, -EINVAL, "'%s' is no value of '--tag-bits'", text);
	err_hint(e,
		 "'top' for the highest byte, 1 to %d for so many low bits, or a mask such as "
		 "0xff00000000000007",
		 MAX_LOW_BITS);
	if (e)
		e->exit_code = CMD_USAGE;
	return -EINVAL;
}
