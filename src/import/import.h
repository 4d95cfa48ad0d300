/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles that other tools recorded, read as heaps: heaptrack's files (format 2 and 3, after its
 * interpreter), heap profiles of jemalloc (heap_v2) and gperftools (text), pprof profiles of
 * memory. What a file is, its contents say; it may be compressed by gzip or zstd.
 *
 * Such a heap has call sites and sums, from heaptrack also a history. What it lacks is in
 * struct heap_import, in words in doc/import.md. Files are hostile: everything in them is checked.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/model/heap.h"

/*
 * Whose profile is the file? enum heap_tool; HEAP_TOOL_PMM: no other tool's, or it cannot be read,
 * which capture_read() says. A packed file that ends or breaks before its tool can be known
 * counts as that of a tool which packs so: import_read() says what is wrong with it.
 */
enum heap_tool import_recognise(const char *path);

/*
 * Read a profile into a new heap, *out, owned by the caller (heap_free()). `max_bytes`: memory that
 * it may take, 0 = limits_share(). 0 or -errno with `e` set: -EBADMSG it is damaged or makes no
 * sense, -ENODATA truncated, -ENOTSUP a version or kind that is not read, -EFBIG it takes more than
 * `max_bytes`, -ENOMEM, others of reading.
 */
int import_read(const char *path, enum heap_tool tool, uint64_t max_bytes, struct heap **out,
		struct err *e);

#endif
