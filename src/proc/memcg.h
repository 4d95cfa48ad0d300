/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory control groups, in either version of the hierarchy. The kernel names one by the inode of
 * its directory.
 */
#ifndef PROC_MEMCG_H
#define PROC_MEMCG_H

#include <limits.h>
#include <stdint.h>

#include "src/base/err.h"

#define MEMCG_NO_LIMIT	UINT64_MAX

struct memcg {
	char path[PATH_MAX];		/* below the mount: "/user.slice"; "/" = the root */
	uint64_t limit_bytes;		/* memory.max, memory.limit_in_bytes; MEMCG_NO_LIMIT */
	uint64_t usage_bytes;		/* 0 = not known */
};

/*
 * The number of a group given by its directory, or by its path below the mount of the hierarchy
 * ("/user.slice" or "user.slice"). `root` goes before /sys ("" = this machine's own). 0, or
 * with `e` -ENOENT, -ENOTDIR; -EINVAL: a directory, but not of the memory controller (it has no
 * memory.stat).
 */
int memcg_id(const char *root, const char *path, uint64_t *id, struct err *e);

/* The group of a number, looked for in at most 65,536 directories. 0 or -ENOENT. */
int memcg_find(const char *root, uint64_t id, struct memcg *out);

#endif
