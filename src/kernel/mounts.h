/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where file systems are mounted, from /proc/self/mountinfo: programs in the kernel know a file by
 * its device and its path below the file system's root.
 */
#ifndef KERNEL_MOUNTS_H
#define KERNEL_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/str.h"
#include "src/base/vec.h"

struct mount {
	uint32_t device;		/* as the kernel has it: major << 20 | minor */
	char *root;			/* what of the file system is mounted: "/", "/sub" */
	char *point;			/* where */
};

struct mounts {
	VEC(struct mount) v;		/* in the file's order */
};

/* Read them anew. 0 or -errno with `e`. */
int mounts_read(struct mounts *m, struct err *e);

/* Read text of that form instead of the file. 0 or -ENOMEM; lines of another form are left out. */
int mounts_parse(struct mounts *m, char *text);

/*
 * Add the path of a file to `out`: below a mount that shows it, or, and false is returned then,
 * below the file system's root.
 */
bool mounts_path(const struct mounts *m, uint32_t device, const char *path, struct str *out);

void mounts_fini(struct mounts *m);

#endif
