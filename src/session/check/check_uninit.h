/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --uninit`: the program under the installed Valgrind, whose findings are reported like
 * our own.
 */
#ifndef SESSION_CHECK_CHECK_UNINIT_H
#define SESSION_CHECK_CHECK_UNINIT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/session/check/check_report.h"

struct check_uninit;
struct child_signals;

struct check_uninit_options {
	const struct check_report_options *report;
	bool no_follow; /* children run without Valgrind */
	const struct child_signals *signals; /* as in run_options */
};

/*
 * Start argv, which ends with NULL. All is borrowed until check_uninit_close(). 0, or -errno with
 * `e`: it could not be run.
 */
int check_uninit_open(struct check_uninit **out, const struct check_uninit_options *o, char **argv,
		      const struct session_sink *to, struct err *e);

/* Readable when a step has something to do. */
int check_uninit_fd(const struct check_uninit *u);

/*
 * Report the errors that are new; wait for some at most `wait_ns`, < 0: as long as it takes. False:
 * the program has ended.
 */
bool check_uninit_step(struct check_uninit *u, int64_t wait_ns);

/* Hand over the rest. When the program has ended. */
void check_uninit_finish(struct check_uninit *u, struct session_end *end);

/* NULL is fine. */
void check_uninit_close(struct check_uninit *u);

#endif
