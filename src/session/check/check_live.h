/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check PID`: what has been found in a running process, and canary scans of its live blocks.
 */
#ifndef SESSION_CHECK_CHECK_LIVE_H
#define SESSION_CHECK_CHECK_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/session/check/check_report.h"

struct check_live_options {
	const struct check_report_options *report;
	bool scan; /* look at the canaries of all live blocks */
};

struct check_live;

/* Nothing of the process is held, now or later. `o` and `to` are borrowed. NULL: out of memory. */
struct check_live *check_live_new(pid_t pid, const struct check_live_options *o,
				  const struct session_sink *to);

/*
 * Look once, and hand over what is new since the look before. 1 = errors were found so far, 0 =
 * none, or -errno with `e`: -ENODATA it is not checked.
 */
int check_live_look(struct check_live *l, struct err *e);

void check_live_free(struct check_live *l);

#endif
