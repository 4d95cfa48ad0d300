/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drivers of src/ptrace/stop.h that are killed behind each of their requests of the kernel in turn. Link with --wrap=ptrace and
 * --wrap=waitid.
 */
#ifndef PROG_REQUESTS_H
#define PROG_REQUESTS_H

#include "src/base/err.h"

/*
 * Run work(arg) in children, killed behind the first, second, ... request, until some in a row end by themselves: must be with status 0. How
 * many were killed, or -1, said on standard output. `behind`, which may be NULL, is called after each: non-zero is wrong.
 */
int requests_die_behind_each(int (*work)(void *arg), int (*behind)(void *arg), void *arg);

/* Print a refusal as "CODE: sentence" and the hint; 3. */
int requests_refused(int rc, const struct err *e);

#endif
