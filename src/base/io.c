/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files read and written whole. */
#include "src/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
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

FILE *io_open_text(const char *path)
{
	struct stat st;
	char *real;

	if (stat(path, &st))
		return NULL;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return NULL;
	}
	/* what a descriptor leads to has no name that realpath() finds: "/proc/1/fd/pipe:[2]" */
	if (S_ISFIFO(st.st_mode)) {
		real = realpath(path, NULL);
		free(real);
		if (real) {
			errno = ENOTSUP;
			return NULL;
		}
	}
	return fopen(path, "re");
}

int io_open_null(int flags)
{
	int fd = open("/dev/null", O_RDWR | flags);

	return fd < 0 && (errno == ENOENT || errno == EACCES || errno == EPERM || errno == ENXIO)
		       ? open("/", O_PATH | flags)
		       : fd;
}
