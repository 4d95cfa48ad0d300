/* The monitor's socket. */
#include "src/capture/serve.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int serve_open(const struct ledger_tree *t, struct err *e)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n, rc;

	if (fd < 0)
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "pmm-%u-%llx",
		     t->head->monitor_pid, (unsigned long long)t->cookie);
	if (bind(fd, (struct sockaddr *)&sun,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
	    listen(fd, 128)) {
		rc = -errno;
		close(fd);
		return err_set(e, rc, "cannot listen on '@%s': %s", sun.sun_path + 1,
			       strerror(-rc));
	}
	return fd;
}

static void send_fd(int peer, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char byte = 'L';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	sendmsg(peer, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void serve_all(int listen_fd, const struct ledger_tree *t, bool (*is_ours)(void *arg, pid_t pid),
	       void *arg)
{
	int peer;

	while ((peer = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct ucred cred;
		socklen_t size = sizeof(cred);

		if (!getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &cred, &size) &&
		    (cred.uid == 0 || cred.uid == geteuid() || is_ours(arg, cred.pid)))
			send_fd(peer, t->fd);
		close(peer);
	}
}
