/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --uninit`: the program under the installed Valgrind, whose findings are told like our
 * own.
 */
#ifndef SESSION_CHECK_CHECK_UNINIT_H
#define SESSION_CHECK_CHECK_UNINIT_H

#include <stdbool.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/session/check/check_report.h"

struct check_uninit {
	const struct check_report_options *report;
	bool no_follow;			/* children run without Valgrind */
	/* exit code when there was an error; -1 = the program's own */
	int found_code;
};

/*
 * Run argv, which ends with NULL, and tell to `out` (NULL = stderr). The exit code, or -errno with
 * `e`: it could not be run.
 */
int check_uninit(const struct check_uninit *job, char **argv, FILE *out, struct err *e);

#endif
