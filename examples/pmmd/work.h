/* All that the daemon holds memory for, and the commands that change it. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMMD_WORK_H
#define PMMD_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "bugs.h"
#include "cache.h"
#include "crew.h"
#include "queue.h"

/* held and lost altogether: a command that would take more is refused */
enum { WORK_BYTES_MAX = 1 << 30 };

struct session;

struct work {
	struct cache cache;
	struct queue queue;
	struct crew crew;
	struct bugs bugs;
	time_t since;		/* monotonic */
	bool quit;		/* the daemon shall end */
};

void work_init(struct work *work);
void work_fini(struct work *work);

/* The daemon's own figures, line by line. */
void work_tell(struct work *work, void (*say)(void *ctx, const char *line), void *ctx);
/* Does what a client's line says and answers it; the line is changed. */
void work_obey(struct work *work, struct session *session, char *line);
/* Writes how each command is called. */
void work_usage(void);

#endif
