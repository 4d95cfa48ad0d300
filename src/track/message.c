/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One message of a traced process to the monitor, and the answer. */
#include "src/track/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/thread.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define STACK_BYTES 16384
#define MOST_LEFT   4	/* messages that a peer may leave unread */
#define MOST_FDS    4

union control {
	char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
	struct cmsghdr align;
};

static bool is_of_tree(const struct pmm_message *m, uint64_t cookie)
{
	return m->cookie == cookie && m->version == PMM_MESSAGE_VERSION &&
	       m->what > PMM_SAY_NOTHING && m->what < PMM_NR_SAYS;
}

/* The descriptor, and whatever else came with it closed. -1: there was not exactly one. */
static int only_fd(struct msghdr *msg)
{
	int nr = 0, fds[MOST_FDS];

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < n && nr < MOST_FDS; i++)
			memcpy(&fds[nr++], CMSG_DATA(c) + (size_t)i * sizeof(int), sizeof(int));
	}
	if (nr == 1)
		return fds[0];
	while (nr)
		message_discard(fds[--nr]);
	return -1;
}

/* It is there the next time. */
static bool is_for_now(int error)
{
	return error == EAGAIN || error == EINTR || error == ENOBUFS || err_is_want(-error);
}

/* Look first without taking: a descriptor that was never taken need not be closed. */
static enum message_got peek(int socket, uint64_t cookie, struct pmm_message *m)
{
	ssize_t n = recv(socket, m, sizeof(*m), MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (n < 0 && is_for_now(errno))
		return MESSAGE_NOTHING;
	return n == (ssize_t)sizeof(*m) && is_of_tree(m, cookie) ? MESSAGE_WHOLE : MESSAGE_STRANGER;
}

enum message_got message_receive(int socket, uint64_t cookie, struct pmm_message *m, int *fd)
{
	enum message_got got = peek(socket, cookie, m);
	union control control = { .bytes = { 0 } };
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };

	*fd = -1;
	if (got != MESSAGE_WHOLE || m->what != PMM_SAY_HERE)
		return got;
	if (recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*m))
		return is_for_now(errno) ? MESSAGE_NOTHING : MESSAGE_STRANGER;
	*fd = only_fd(&msg);
	return *fd < 0 ? MESSAGE_LOST : MESSAGE_WHOLE;
}

void message_peer(int socket, struct message_peer *p)
{
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);

	*p = (struct message_peer){ .pidfd = -1 };
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &cred, &size) || cred.pid <= 0)
		return;
	p->pid = cred.pid;
	size = sizeof(p->pidfd);
	p->sure = !getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &p->pidfd, &size);
	if (p->sure)
		return;
	p->pidfd = -1;
	/* it has ended */
	p->sure = errno != ENOPROTOOPT && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
	if (p->sure)
		return;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	p->want = p->pidfd < 0 && err_is_want(-errno);
}

void message_answer(int socket, int32_t number, int fd)
{
	struct pmm_answer a = { .version = PMM_MESSAGE_VERSION, .number = number };
	union control control = { .bytes = { 0 } };
	struct iovec iov = { &a, sizeof(a) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	/* a process that does not take it is not waited for */
	sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *close_it(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

void message_discard(int fd)
{
	pthread_t thread;

	if (!thread_start(&thread, STACK_BYTES, close_it, (void *)(intptr_t)fd))
		pthread_detach(thread);
	/* else it stays open: better a descriptor less than a monitor that hangs */
}

/* Descriptors under way end with the connection's last reference, and their files with them. */
static bool has_descriptors(int socket)
{
	for (unsigned i = 0; i < MOST_LEFT; i++) {
		char byte;
		struct iovec iov = { &byte, 1 };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

		if (recvmsg(socket, &msg, MSG_PEEK | MSG_DONTWAIT) < 0)
			return false;
		if (msg.msg_flags & MSG_CTRUNC)
			return true;
		if (recv(socket, &byte, 1, MSG_DONTWAIT) <= 0)
			return false;
	}
	return true;
}

bool message_close(int socket)
{
	shutdown(socket, SHUT_RD);	/* nothing more comes */
	if (has_descriptors(socket)) {
		message_discard(socket);
		return true;
	}
	close(socket);
	return false;
}
