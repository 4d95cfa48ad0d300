/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's two sockets: who has connected is looked at. */
#include "src/track/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/track/serve_open.h"

#define MOST_A_TURN   64
#define SILENT_NS     1000000000ull
/* each may cost a thread and a descriptor for good: then the public socket is closed */
#define MOST_ODD      256
#define MOST_DRAINED  (SERVE_BACKLOG / MOST_A_TURN + 1)	/* turns */

static int watch_fd(const struct serve *s, int fd, struct loop_source **source)
{
	*source = NULL;
	return loop_add_fd(s->loop, fd, EPOLLIN, s->wake, s->wake_arg, source);
}

static void unwatch(const struct serve *s, struct loop_source **source)
{
	if (*source)
		loop_del(s->loop, *source);
	*source = NULL;
}

int serve_open(struct serve *s, const struct ledger_tree *board, struct err *e)
{
	int rc;

	*s = (struct serve){ .board = board,
			     .of = { { .fd = -1 }, { .fd = -1, .is_public = true } },
			     .path_fd = -1,
			     .board_fd = -1 };
	s->spare_fd = io_open_null(O_CLOEXEC);
	rc = serve_open_board(s, e);
	if (!rc)
		rc = serve_open_public(s, e);
	if (rc)
		serve_close(s);
	else
		serve_open_private(s);	/* without it there is the other one */
	return rc;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end(struct serve *s, struct serve_socket *l, int socket)
{
	if (!message_close(socket) || !l->is_public || ++l->nr_odd < MOST_ODD || l->fd < 0)
		return;
	unwatch(s, &l->source);
	close_fd(&l->fd);
	l->paused = false;
}

static void drop_silent(struct serve *s, struct serve_socket *l, unsigned i)
{
	int socket = l->silent[i].socket;

	unwatch(s, &l->silent[i].source);
	l->nr_silent--;
	memmove(&l->silent[i], &l->silent[i + 1], (l->nr_silent - i) * sizeof(l->silent[0]));
	end(s, l, socket);
}

void serve_close(struct serve *s)
{
	for (unsigned i = 0; i < 2; i++) {
		while (s->of[i].nr_silent)
			drop_silent(s, &s->of[i], s->of[i].nr_silent - 1);
		unwatch(s, &s->of[i].source);
		close_fd(&s->of[i].fd);
	}
	close_fd(&s->path_fd);
	close_fd(&s->board_fd);
	close_fd(&s->spare_fd);
}

int serve_join(struct serve *s, struct loop *loop, void (*wake)(void *arg, uint32_t events),
	       void *wake_arg)
{
	int rc = 0;

	s->loop = loop;
	s->wake = wake;
	s->wake_arg = wake_arg;
	for (unsigned i = 0; i < 2; i++) {
		struct serve_socket *l = &s->of[i];

		if (l->fd < 0)
			continue;
		/* again, because peers see who called it last */
		if (listen(l->fd, SERVE_BACKLOG))
			rc = -errno;
		l->paused = false;
		if (!rc)
			rc = watch_fd(s, l->fd, &l->source);
		for (unsigned k = 0; k < l->nr_silent && !rc; k++)
			rc = watch_fd(s, l->silent[k].socket, &l->silent[k].source);
	}
	return rc;
}

static bool have_spare(struct serve *s)
{
	if (s->spare_fd < 0)
		s->spare_fd = io_open_null(O_CLOEXEC);
	return s->spare_fd >= 0;
}

/*
 * Without a spare descriptor no process could be turned away: what was handed in is given up first.
 */
static void hand_over(struct serve *s, const struct pmm_message *m, const struct message_peer *from,
		      int socket, int fd)
{
	if (fd >= 0 && !have_spare(s)) {
		message_discard(fd);
		s->lost(s->arg);
		return;
	}
	s->received(s->arg, m, from, socket, fd);
}

/* Take what has been said. False: nothing so far. *stranger: it was no message of this tree. */
static bool hear(struct serve *s, int socket, bool *stranger)
{
	struct message_peer from;
	struct pmm_message m;
	int fd;
	enum message_got got = message_receive(socket, s->board->cookie, &m, &fd);

	*stranger = got == MESSAGE_STRANGER;
	if (got == MESSAGE_LOST)
		s->lost(s->arg);
	if (got == MESSAGE_WHOLE) {
		message_peer(socket, &from);
		hand_over(s, &m, &from, socket, fd);
		close_fd(&from.pidfd);
	}
	return got != MESSAGE_NOTHING;
}

static void keep_silent(struct serve *s, struct serve_socket *l, int socket, uint64_t now_ns)
{
	if (l->nr_silent == SERVE_MOST_SILENT)
		drop_silent(s, l, 0);
	l->silent[l->nr_silent] = (struct serve_silent){ .socket = socket,
							 .until_ns = now_ns + SILENT_NS };
	(void)watch_fd(s, socket, &l->silent[l->nr_silent++].source);
}

/* Those that had said nothing. */
static void hear_silent(struct serve *s, struct serve_socket *l, uint64_t now_ns)
{
	unsigned i = 0;

	while (i < l->nr_silent) {
		bool stranger;

		if (hear(s, l->silent[i].socket, &stranger) || now_ns >= l->silent[i].until_ns)
			drop_silent(s, l, i);
		else
			i++;
	}
}

/* A message by which a process says that it is there: if it is not heard, the process is lost. */
static bool is_ledger_lost(const struct serve *s, const struct pmm_message *m, ssize_t bytes)
{
	return bytes == (ssize_t)sizeof(*m) && m->cookie == s->board->cookie &&
	       (m->what == PMM_SAY_HERE || m->what == PMM_SAY_LOST || m->what == PMM_SAY_FILE);
}

/*
 * There are no descriptors left: one of ours is given up for who waits first, which else would wait
 * for ever, and wake us all the time. A process of the tree that has not said anything yet keeps
 * it until it has: what it says is heard then, without what it hands in.
 */
static bool turn_away(struct serve *s, struct serve_socket *l, uint64_t now_ns)
{
	struct pmm_message m;
	ssize_t bytes;
	int socket;

	close_fd(&s->spare_fd);
	socket = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (socket >= 0) {
		bytes = recv(socket, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT);
		if (bytes < 0 && errno == EAGAIN && !l->is_public) {
			keep_silent(s, l, socket, now_ns);
			return true;
		}
		if (is_ledger_lost(s, &m, bytes))
			s->lost(s->arg);
		end(s, l, socket);
	}
	s->spare_fd = io_open_null(O_CLOEXEC);
	return socket >= 0;
}

static void rest(struct serve *s, struct serve_socket *l, uint64_t now_ns)
{
	unwatch(s, &l->source);
	l->paused = true;
	l->pause_ns = now_ns;
}

static bool is_short_of_descriptors(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/* Asked before accept4(), which makes a socket, and then throws it away where nobody waits. */
static bool process_waits(const struct serve_socket *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

/* One that waits. False: there was none. */
static bool accept_one(struct serve *s, struct serve_socket *l, uint64_t now_ns, bool *stranger)
{
	int socket;

	*stranger = true;
	if (!process_waits(l))
		return false;
	socket = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (socket < 0) {
		if (!is_short_of_descriptors(errno))
			return false;
		if (turn_away(s, l, now_ns))
			return true;
		rest(s, l, now_ns);	/* there may be one the next time */
		return false;
	}
	if (hear(s, socket, stranger)) {
		end(s, l, socket);
	} else {
		*stranger = true;	/* until it says something */
		keep_silent(s, l, socket, now_ns);
	}
	return true;
}

/* Those that have connected. False: there may be more. */
static bool accept_some(struct serve *s, struct serve_socket *l, uint64_t now_ns)
{
	unsigned nr_strangers = 0;
	bool stranger;

	l->more = false;
	for (unsigned i = 0; i < MOST_A_TURN; i++) {
		if (!accept_one(s, l, now_ns, &stranger))
			return true;
		nr_strangers += stranger;
	}
	if (l->is_public && l->fd >= 0 && nr_strangers > MOST_A_TURN / 2)
		rest(s, l, now_ns);
	l->more = true;
	return false;
}

/* Strangers could keep the public one so for ever. */
bool serve_has_more(const struct serve *s)
{
	return s->of[0].more;
}

bool serve_is_due(const struct serve *s)
{
	return s->of[0].nr_silent || s->of[1].nr_silent || s->of[0].paused || s->of[1].paused;
}

void serve_turn(struct serve *s, uint64_t now_ns)
{
	have_spare(s);
	for (unsigned i = 0; i < 2; i++) {
		struct serve_socket *l = &s->of[i];

		if (l->paused && now_ns - l->pause_ns >= PMM_TICK_NS)
			l->paused = watch_fd(s, l->fd, &l->source) != 0;
		hear_silent(s, l, now_ns);
		if (l->fd >= 0 && !l->paused)
			accept_some(s, l, now_ns);
	}
}

void serve_drain(struct serve *s, uint64_t now_ns)
{
	for (unsigned i = 0; i < 2; i++) {
		hear_silent(s, &s->of[i], now_ns);
		for (unsigned k = 0; k < MOST_DRAINED && s->of[i].fd >= 0; k++)
			if (accept_some(s, &s->of[i], now_ns))
				break;
		hear_silent(s, &s->of[i], now_ns);
	}
}

void serve_fds(const struct serve *s, int fds[SERVE_NR_FDS])
{
	const int all[SERVE_NR_FDS] = { s->of[0].fd, s->of[1].fd, s->path_fd, s->board_fd,
					s->spare_fd };

	memcpy(fds, all, sizeof(all));
}
