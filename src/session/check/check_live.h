/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check PID`: what has been found in a running process, and canary scans of its live blocks.
 */
#ifndef SESSION_CHECK_CHECK_LIVE_H
#define SESSION_CHECK_CHECK_LIVE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "src/session/check/check_report.h"

struct check_live {
	const struct check_report_options *report;
	bool scan;			/* look at the canaries of all live blocks */
	uint64_t every_ns;		/* again and again, then only what is new; 0 = once */
	uint64_t count;			/* looks; 0 = any number */
	/* exit code when there were errors: for a signal that ends it */
	int found_code;
};

/* The number of errors told (at most INT_MAX), or -errno with `e`: -ENODATA it is not checked. */
int check_live(pid_t pid, const struct check_live *job, FILE *out, struct err *e);

#endif
