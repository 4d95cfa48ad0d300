/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The daemon's one loop. */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "log.h"
#include "monitor.h"

enum { AT_LISTENER, AT_SIGNALS, AT_TIMER, AT_SESSIONS, NR_POLLED = AT_SESSIONS + SERVER_SESSIONS };

/* Signals are read like input: whatever the loop does with one, nothing is interrupted by it. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	monitor_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_timer(void)
{
	struct itimerspec every = { .it_interval.tv_nsec = 1000000000L / QUEUE_TICKS,
				    .it_value.tv_nsec = 1000000000L / QUEUE_TICKS };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) < 0)
		return -errno;
	return fd;
}

int server_init(struct server *server, int listener)
{
	memset(server, 0, sizeof(*server));
	server->listener = listener;
	server->signals = open_signals();
	server->timer = open_timer();
	if (server->signals < 0 || server->timer < 0)
		return server->signals < 0 ? server->signals : server->timer;
	work_init(&server->work);
	return 0;
}

/* ---- what comes */
static void log_one(void *ctx, const char *line)
{
	(void)ctx;
	log_line("%s", line);
}

static void take_signal(struct server *server, int signo)
{
	int e;

	switch (signo) {
	case SIGHUP:
		e = log_reopen();
		log_line(e < 0 ? "the log cannot be opened anew: %s" : "the log is opened anew%s",
			 e < 0 ? strerror(-e) : "");
		break;
	case SIGUSR1:
		work_tell(&server->work, log_one, NULL);
		break;
	default:
		log_line("signal %d", signo);
		server->work.quit = true;
	}
}

static void take_signals(struct server *server)
{
	struct signalfd_siginfo info;

	while (read(server->signals, &info, sizeof(info)) == sizeof(info))
		take_signal(server, (int)info.ssi_signo);
}

static void take_ticks(struct server *server)
{
	uint64_t nr;

	server->deaf = false;
	if (read(server->timer, &nr, sizeof(nr)) == sizeof(nr) &&
	    queue_tick(&server->work.queue, nr) < 0)
		log_line("no memory for a record");
}

/* A new client, which is told if there are too many. 0, or -errno if none can be taken. */
static int take_client(struct server *server)
{
	static const char full[] = "error all sessions are taken: try again later\n";
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	unsigned i;

	if (fd < 0)
		return -errno;
	for (i = 0; i < SERVER_SESSIONS && server->session[i]; i++)
		;
	if (i == SERVER_SESSIONS) {
		send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return 0;
	}
	server->session[i] = session_new(fd, ++server->nr_sessions);
	return server->session[i] ? 0 : -ENOMEM;
}

/* Some at a time: a flood of them does not keep out signals, time and those that are here. */
static void take_clients(struct server *server)
{
	int e = 0, i;

	for (i = 0; i < SERVER_SESSIONS && (e == 0 || e == -EINTR || e == -ECONNABORTED); i++)
		e = take_client(server);
	if (i == SERVER_SESSIONS || e == -EAGAIN || e == -EWOULDBLOCK)
		return;
	log_line("no client can be taken: %s", strerror(-e));
	server->deaf = true;	/* else the loop would spin */
}

static void serve(struct server *server, struct session *session, short events)
{
	char *line;

	/* first: lines that are there already may wait for room for their answers */
	session_write(session);
	if (events & (POLLIN | POLLHUP | POLLERR) && session_wants_read(session))
		session_read(session);
	while (!server->work.quit && !session->broken && (line = session_line(session))) {
		work_obey(&server->work, session, line);
		session_write(session);
	}
}

static void end_sessions(struct server *server)
{
	unsigned i;

	for (i = 0; i < SERVER_SESSIONS; i++) {
		const char *why = server->session[i] ? session_over(server->session[i]) : NULL;

		if (!why)
			continue;
		if (*why)
			log_line("client %lu %s", server->session[i]->number, why);
		session_free(server->session[i]);
		server->session[i] = NULL;
	}
}

/* ---- the loop */

/* What is waited for; poll() leaves out descriptors below 0. */
static void fill_polled(const struct server *server, struct pollfd *polled)
{
	unsigned i;

	memset(polled, 0, NR_POLLED * sizeof(*polled));
	polled[AT_LISTENER] = (struct pollfd){ server->deaf ? -1 : server->listener, POLLIN, 0 };
	polled[AT_SIGNALS] = (struct pollfd){ server->signals, POLLIN, 0 };
	polled[AT_TIMER] = (struct pollfd){ server->timer, POLLIN, 0 };
	for (i = 0; i < SERVER_SESSIONS; i++) {
		const struct session *session = server->session[i];
		struct pollfd *at = &polled[AT_SESSIONS + i];

		at->fd = session ? session->fd : -1;
		if (session)
			at->events = (short)((session_wants_read(session) ? POLLIN : 0) |
					     (session_wants_write(session) ? POLLOUT : 0));
	}
}

void server_run(struct server *server)
{
	struct pollfd polled[NR_POLLED];
	unsigned i;

	while (!server->work.quit) {
		fill_polled(server, polled);
		if (poll(polled, NR_POLLED, -1) < 0)
			continue; /* EINTR: a report by signal; or no memory, which the kernel may
				     have the next time */
		if (polled[AT_SIGNALS].revents)
			take_signals(server);
		if (polled[AT_TIMER].revents)
			take_ticks(server);
		for (i = 0; i < SERVER_SESSIONS && !server->work.quit; i++)
			if (polled[AT_SESSIONS + i].revents)
				serve(server, server->session[i], polled[AT_SESSIONS + i].revents);
		if (!server->work.quit)
			end_sessions(server);
		if (polled[AT_LISTENER].revents)
			take_clients(server);
	}
}

void server_fini(struct server *server)
{
	unsigned i;

	for (i = 0; i < SERVER_SESSIONS; i++) {
		struct session *session = server->session[i];

		if (!session)
			continue;
		session_write(session);
		/* the kernel closes it: that tells the client that the process is gone */
		session->fd = -1;
		session_free(session);
	}
	work_fini(&server->work);
	close(server->timer);
	close(server->signals);
}
