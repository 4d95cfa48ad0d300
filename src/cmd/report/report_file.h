/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that results go to while a program has the standard streams.
 */
#ifndef CMD_REPORT_REPORT_FILE_H
#define CMD_REPORT_REPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "src/base/err.h"

/*
 * The option -o beside --report: where there is no COMMAND, it names the same file, and "-" is
 * stdout. `source`: the capture or process that is read, NULL = a COMMAND is run. *report: the
 * file, NULL = none. Its name has no %p or %c: a COMMAND has neither before it runs. 0, or -EINVAL
 * with `e` (a usage error).
 */
int report_file_where(const char **report, const char *output, const char *source, struct err *e);

/*
 * What is read must not be what is written: its name after -o is a mistake. `source` may be NULL.
 * 0, or -EINVAL with `e` (a usage error).
 */
int report_file_apart(const char *name, const char *source, struct err *e);

/*
 * A report that takes the place of its file when it is complete, with mode 0600; until then it is
 * in memory, and an older file stays. What is no regular file (/dev/stderr, a pipe that has a
 * reader) is written to as it comes.
 */
struct report_file {
	FILE *f;
	FILE *stream;	/* NULL = none was made */
	const char *path;
	bool direct;	/* what is written to `f` is there already */
	bool failed;	/* before there was anything: the older file stays */
	/* set after report_file_begin(): what a file does not take goes to stderr at the end */
	bool verdict;
	bool placed;	/* the file is there */
	struct err lost;	/* why a verdict cannot be written; what comes is in memory */
};

/* Is the file one that can be written? 0, or -errno with `e`. */
int report_file_begin(struct report_file *r, const char *path, struct err *e);

/*
 * A stream into it for what is reported while a program runs: the first of it takes the place of an
 * older file at once, so that it is there whatever becomes of pmm. NULL = no memory.
 */
FILE *report_file_stream(struct report_file *r);

/* More follows: put there what there is; the rest is appended as it comes. -errno with `e`. */
int report_file_place(void *report_file, struct err *e);

/*
 * Put it there if `rc` is no error and there is a report; `empty`: one without a line is one.
 * `rc`, or -errno with `e`. A verdict that could not be written leaves an exit code but 0 as it is.
 */
int report_file_end(struct report_file *r, int rc, bool empty, struct err *e);

#endif
