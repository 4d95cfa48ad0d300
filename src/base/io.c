/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files read and written whole. */
#include "src/base/io.h"

#include <errno.h>
#include <unistd.h>

/* After a transfer of `n`: how it continues. 1, or what is to be returned. */
static int go_on(ssize_t n)
{
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	return n ? 1 : -ENODATA;
}

int io_pread(int fd, void *to, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes; ) {
		ssize_t n = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
		int rc = go_on(n);

		if (rc < 0)
			return rc;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int io_pwrite(int fd, const void *from, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes; ) {
		ssize_t n = pwrite(fd, (const char *)from + done, bytes - done,
				   (off_t)(offset + done));
		int rc = go_on(n);

		if (rc < 0)
			return rc;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
