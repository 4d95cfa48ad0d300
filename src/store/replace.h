/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are there whole or not at all: written with mode 0600 under a temporary name beside
 * their place, renamed when complete, so that an interrupted write leaves no half file.
 */
#ifndef STORE_REPLACE_H
#define STORE_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

#include "src/base/err.h"

/* Write the contents; 0, or -errno with `e`. */
typedef int replace_write(void *arg, FILE *f, struct err *e);

/*
 * Write a file; `what` it is for messages: "capture". Only a regular file is replaced, or what a
 * link of the caller or of root leads to. `durable`: after a machine that fails, too, it is there
 * whole: waits for the disk, perhaps for seconds. 0 or -errno with `e`.
 */
int replace_file(const char *path, const char *what, bool durable, replace_write *write, void *arg,
		 struct err *e);

/* Why `name` could not be written, into `e`. Returns rc. */
int replace_failed(struct err *e, int rc, const char *what, const char *name);

#endif
