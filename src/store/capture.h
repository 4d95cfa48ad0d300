/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where heaps come from: one ops table per source, so that everything above works on every source.
 *
 * `file` reads a .pmm capture, `ledger` (src/track/source.h) a live (or dead but still held)
 * ledger, `fake` makes a heap from a short text so that all above can be tested without a traced
 * process.
 */
#ifndef STORE_CAPTURE_H
#define STORE_CAPTURE_H

#include "src/base/err.h"
#include "src/model/heap.h"

struct capture_ops {
	const char *name;
	/*
	 * Read the whole source into a new heap, *out, owned by the caller (heap_free()). `what`:
	 * file name, pid or recipe. `max_bytes`: memory that it may take, 0 = limits_share(). 0 or
	 * -errno with `e` set: -ENOENT no such thing, -EBADMSG damaged, -EPROTO other version,
	 * -ENODATA truncated, -EPERM not allowed, -EFBIG it takes more than `max_bytes`, -ENOMEM.
	 */
	int (*read)(const char *what, uint64_t max_bytes, struct heap **out, struct err *e);
};

extern const struct capture_ops capture_file, capture_fake;

/*
 * Write a heap as a .pmm file: created with mode 0600 under a temporary name beside `path`, renamed
 * when complete, so that an interrupted write leaves no half file. 0 or -errno with `e` set.
 */
int capture_write(const struct heap *h, const char *path, struct err *e);

#endif
