/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --exhaustive -- COMMAND`: the program is run once for each way in which blocks can lie
 * in their pages, and each error is reported once.
 */
#ifndef CMD_CHECK_EXHAUSTIVE_H
#define CMD_CHECK_EXHAUSTIVE_H

#include <stdio.h>

#include "src/base/err.h"

struct run_job;

/*
 * As run_for() of a check that keeps no captures. out: NULL = stderr. The exit code, or -errno with
 * `e`.
 */
int check_exhaustive(const struct run_job *of, char **argv, FILE *out, struct err *e);

#endif
