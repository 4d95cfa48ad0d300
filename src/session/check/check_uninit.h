/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --uninit`: the program under the installed Valgrind, whose findings are told like our
 * own.
 */
#ifndef SESSION_CHECK_CHECK_UNINIT_H
#define SESSION_CHECK_CHECK_UNINIT_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/session/check/check_report.h"

struct child_signals;

struct check_uninit {
	const struct check_report_options *report;
	bool no_follow; /* children run without Valgrind */
	const struct child_signals *signals; /* as in run_options */
};

/* Run argv, which ends with NULL. 0, or -errno with `e`: it could not be run. */
int check_uninit(const struct check_uninit *job, char **argv, const struct session_sink *to,
		 struct session_end *end, struct err *e);

#endif
