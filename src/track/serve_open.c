/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's sockets, made. */
#include "src/track/serve_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/nanotime.h"

#define TRIES 4

int serve_open_board(struct serve *s, struct err *e)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->board->fd);
	s->board_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->board_fd >= 0)
		return 0;
	return err_no_file(e, -errno, "cannot open pmm's own file of options and clock");
}

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Visible to all (/proc/net/unix), so it is not derived from the cookie. */
static uint64_t new_address(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) == sizeof(n))
		return n;
	return nanotime() * 0x9e3779b97f4a7c15ull + (uint64_t)getpid();
}

static int bind_public(struct serve *s, int fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int n;

	s->address = new_address();
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, PMM_ADDRESS_PREFIX "%016llx",
		     (unsigned long long)s->address);
	return bind(fd, (struct sockaddr *)&sun,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n))
		       ? -errno
		       : 0;
}

int serve_open_public(struct serve *s, struct err *e)
{
	int fd = new_socket(), rc;

	if (fd < 0)
		return err_no_file(e, -errno, "cannot make a socket");
	rc = -EADDRINUSE;
	for (unsigned i = 0; i < TRIES && rc == -EADDRINUSE; i++)
		rc = bind_public(s, fd);
	if (!rc && listen(fd, SERVE_BACKLOG))
		rc = -errno;
	if (rc) {
		close(fd);
		return err_set(e, rc, "cannot listen for processes: %s", strerror(-rc));
	}
	s->of[1].fd = fd;
	return 0;
}

/* In a directory that no other user can enter, for as long as the name is there. */
static int bind_in(int fd, const char *folder, int *path_fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char at[sizeof(sun.sun_path) - sizeof("/s")];
	int rc = 0;

	if (snprintf(at, sizeof(at), "%s/pmm-XXXXXX", folder) >= (int)sizeof(at))
		return -ENAMETOOLONG;
	if (!mkdtemp(at))
		return -errno;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/s", at);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)))
		rc = -errno;
	if (!rc && (chmod(sun.sun_path, S_IRUSR | S_IWUSR) ||
		    (*path_fd = open(sun.sun_path, O_PATH | O_CLOEXEC)) < 0))
		rc = -errno;
	unlink(sun.sun_path);	/* a directory that cannot be removed is empty at least */
	rmdir(at);
	return rc;
}

static bool open_in(struct serve *s, const char *folder)
{
	int fd = folder && *folder ? new_socket() : -1;

	if (fd < 0)
		return false;
	if (!bind_in(fd, folder, &s->path_fd) && !listen(fd, SERVE_BACKLOG)) {
		s->of[0].fd = fd;
		return true;
	}
	close(fd);
	if (s->path_fd >= 0)
		close(s->path_fd);
	s->path_fd = -1;
	return false;
}

void serve_open_private(struct serve *s)
{
	const char *const folders[] = { getenv("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp", "/var/tmp",
					getenv("TMPDIR"),	   "." };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (open_in(s, folders[i]))
			return;
}
