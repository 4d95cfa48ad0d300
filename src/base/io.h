/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files read and written whole: what a signal interrupts, or the kernel does in part, continues.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * All these bytes at an offset. 0 or -errno; -ENODATA where the file ends before. Some may have
 * been transferred then.
 */
int io_pread(int fd, void *to, size_t bytes, uint64_t offset);
int io_pwrite(int fd, const void *from, size_t bytes, uint64_t offset);

/*
 * A file that a user names, for reading, without a wait for the writer of a pipe: a pipe that has a
 * name is -ENOTSUP, one that is open already (/dev/stdin, /dev/fd/N) is read. EISDIR: a directory.
 * NULL with errno.
 */
FILE *io_open_text(const char *path);

/*
 * What stands where a descriptor has to be: /dev/null, or in a root directory that has none a
 * descriptor that can be neither read nor written. `flags`: O_CLOEXEC or 0. -1 with errno.
 */
int io_open_null(int flags);

#endif
