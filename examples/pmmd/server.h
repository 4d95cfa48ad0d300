/* The daemon's one loop: clients, signals and time. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMMD_SERVER_H
#define PMMD_SERVER_H

#include "session.h"
#include "work.h"

enum { SERVER_SESSIONS = 32 };

struct server {
	struct work work;
	struct session *session[SERVER_SESSIONS];	/* NULL: free */
	unsigned long nr_sessions;			/* that there were */
	int listener;		/* the caller's */
	int signals;
	int timer;
	bool deaf;		/* no client can be taken for a second */
};

/* Blocks the signals that the loop takes; `listener` is listened at. 0 or -errno. */
int server_init(struct server *server, int listener);
/* Until a client or a signal says that it ends. */
void server_run(struct server *server);
/*
 * Clients get what they will take at once. Who is still connected sees the end of the connection
 * when the process has ended.
 */
void server_fini(struct server *server);

#endif
