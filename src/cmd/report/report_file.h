/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that results go to while a program has the standard streams.
 */
#ifndef CMD_REPORT_REPORT_FILE_H
#define CMD_REPORT_REPORT_FILE_H

#include <stdio.h>

#include "src/base/err.h"

/*
 * The option -o beside --report: where there is no COMMAND, it names the same file, and "-" is
 * stdout. `source`: the capture or process that is read, NULL = a COMMAND is run. *report: the
 * file, NULL = none. 0, or -EINVAL with `e` (a usage error).
 */
int report_file_where(const char **report, const char *output, const char *source, struct err *e);

/*
 * What is read must not be what is written: its name after -o is a mistake. `source` may be NULL.
 * 0, or -EINVAL with `e` (a usage error).
 */
int report_file_apart(const char *name, const char *source, struct err *e);

/* Open it for writing; `option`: that it was given with. NULL with `e`. */
FILE *report_file_open(const char *path, const char *option, struct err *e);

/* Close it. `rc`, or -errno with `e` when that was no error and not all could be written. */
int report_file_close(FILE *f, const char *path, int rc, struct err *e);

#endif
