/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files read and written whole: what a signal interrupts, or the kernel does in part, continues.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>

/*
 * All these bytes at an offset. 0 or -errno; -ENODATA where the file ends before. Some may have
 * been transferred then.
 */
int io_pread(int fd, void *to, size_t bytes, uint64_t offset);
int io_pwrite(int fd, const void *from, size_t bytes, uint64_t offset);

#endif
