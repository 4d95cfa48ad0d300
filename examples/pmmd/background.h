/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way into the background: a process of its own that belongs to no terminal, no session and no
 * directory of whoever started it.
 *
 * The starter waits until the daemon is ready, and ends with a status that says whether it is. One
 * that fails says why, on the starter's standard error.
 */
#ifndef PMMD_BACKGROUND_H
#define PMMD_BACKGROUND_H

#include <stdbool.h>

/* Returns in the daemon only, where it stays in the foreground if `stay`: in this process then. */
void background_enter(bool stay);
/*
 * The daemon works: the starter ends with 0; standard input, output and error are /dev/null from
 * now on, but in the foreground.
 */
void background_ready(void);
/* It will not: the starter tells that and ends with 1, as the daemon does. */
void background_fail(const char *format, ...)
	__attribute__((__format__(__printf__, 1, 2), __noreturn__));

#endif
