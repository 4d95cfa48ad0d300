/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures: heaps in .pmm files (doc/capture-format.md).
 */
#ifndef STORE_CAPTURE_H
#define STORE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/model/heap.h"

/*
 * Read a whole .pmm file into a new heap, *out, owned by the caller (heap_free()). `max_bytes`:
 * memory that it may take, 0 = limits_share(). 0 or -errno with `e` set: -ENOENT no such thing,
 * -EBADMSG damaged, -EPROTO other version, -ENODATA truncated, -EPERM not allowed, -EFBIG it takes
 * more than `max_bytes`, -ENOMEM.
 */
int capture_read(const char *path, uint64_t max_bytes, struct heap **out, struct err *e);

/*
 * Write a heap as a .pmm file: created with mode 0600 under a temporary name beside `path`, renamed
 * when complete, so that an interrupted write leaves no half file. `durable` as replace_file().
 * 0 or -errno with `e` set.
 */
int capture_write(const struct heap *h, const char *path, bool durable, struct err *e);

#endif
