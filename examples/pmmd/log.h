/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log: one write a line, so that lines of several threads and of signal handlers stay
 * whole.
 */
#ifndef PMMD_LOG_H
#define PMMD_LOG_H

#include <stddef.h>

/*
 * Opens the file for appending or makes it, readable to its owner alone. `path` is kept. 0 or
 * -errno.
 */
int log_open(const char *path);
/*
 * Opens it anew under the same descriptor: it was renamed to be packed away. 0, or -errno and the
 * old one is still written.
 */
int log_reopen(void);
/*
 * One line with the time before it, in UTC as in the monitor's tables. Any thread, no signal
 * handler.
 */
void log_line(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
/* Text as it is: a pmm_output. Signal handlers may call it. */
void log_text(void *ctx, const char *text, size_t bytes);

#endif
