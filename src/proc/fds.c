/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors of our own: how many there may be, and some kept for later. */
#include "src/proc/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

void fds_raise(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == l.rlim_max)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);	/* else there are as many as there were */
}

int fds_reserve(struct fds *f, unsigned nr)
{
	for (unsigned i = 0; i < nr && f->nr < FDS_MOST; i++) {
		int fd = open("/", O_PATH | O_CLOEXEC), rc = -errno;

		if (fd < 0) {
			fds_release(f);
			return rc;
		}
		f->v[f->nr++] = fd;
	}
	return 0;
}

void fds_release(struct fds *f)
{
	while (f->nr)
		close(f->v[--f->nr]);
}
