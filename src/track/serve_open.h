/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the monitor's sockets are made; for serve.c.
 */
#ifndef TRACK_SERVE_OPEN_H
#define TRACK_SERVE_OPEN_H

#include "src/track/serve.h"

#define SERVE_BACKLOG 4096	/* net.core.somaxconn may make it less */

/* The board opened anew for reading, to be handed out. 0 or -errno with `e`. */
int serve_open_board(struct serve *s, struct err *e);

/* The socket with an abstract address, which is chosen here. 0 or -errno with `e`. */
int serve_open_public(struct serve *s, struct err *e);

/* The socket that is reached through s->path_fd; where it cannot be had, both stay -1. */
void serve_open_private(struct serve *s);

#endif
