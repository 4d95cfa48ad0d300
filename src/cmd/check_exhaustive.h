/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --exhaustive -- COMMAND`: the program is run once for each way in which blocks can lie in their pages, and each error is reported once.
 */
#ifndef CMD_CHECK_EXHAUSTIVE_H
#define CMD_CHECK_EXHAUSTIVE_H

#include <stdio.h>

#include "src/base/err.h"

struct check_job;

struct check_exhaustive {
	const struct check_job *job;	/* with what is to be told */
	int found_code;			/* exit code when there were errors; -1 = the program's own */
};

/* out: NULL = stderr. The exit code, or -errno with `e`. */
int check_exhaustive(const struct check_exhaustive *x, char **argv, FILE *out, struct err *e);

#endif
