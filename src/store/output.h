/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where captures go: names made from a pattern, and writing that does not lose a heap for want of a
 * place.
 */
#ifndef STORE_OUTPUT_H
#define STORE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/model/heap.h"

#define OUTPUT_DEFAULT "pmm.%c.%p.pmm"

/*
 * The capture's name: %p is the pid, %c the command's name (made harmless for a file name), %% a
 * percent sign. A pattern without %p names the root's capture; for others ".PID" goes before ".pmm"
 * (or at the end). -ENAMETOOLONG, -ENOMEM.
 */
int output_name(const char *pattern, pid_t pid, const char *comm, bool is_root,
		char name[PATH_MAX]);

/* Does a pattern have no other % than these? 0 or -EINVAL with `e`, a usage error. */
int output_check_pattern(const char *pattern, struct err *e);

/* Can captures be written by this pattern? Asked before the program runs. 0 or -errno with `e`. */
int output_check(const char *pattern, struct err *e);

/*
 * Write a heap, without a wait for the disk: others are watched meanwhile. When its place fails
 * (full disk, directory gone) it goes to $TMPDIR or /tmp: *moved is set and `e` says why. `name`
 * receives where it is. 0, or -errno with `e` when no place worked.
 *
 * `before`: so many have the name that output_name() gives already, as numbers of processes are
 * used again: "-2", "-3" ... goes before ".pmm" (or at the end).
 */
int output_write(const struct heap *h, const char *pattern, bool is_root, unsigned before,
		 char name[PATH_MAX], bool *moved, struct err *e);

#endif
