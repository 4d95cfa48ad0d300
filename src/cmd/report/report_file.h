/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that results go to while a program has the standard streams.
 */
#ifndef CMD_REPORT_REPORT_FILE_H
#define CMD_REPORT_REPORT_FILE_H

#include <stdio.h>

#include "src/base/err.h"

/* Open it for writing; `option`: that it was given with. NULL with `e`. */
FILE *report_file_open(const char *path, const char *option, struct err *e);

/* Close it. `rc`, or -errno with `e` when that was no error and not all could be written. */
int report_file_close(FILE *f, const char *path, int rc, struct err *e);

#endif
