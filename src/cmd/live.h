/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The looks of a session at a running process, once or again and again: when the next is due, and
 * what signals do meanwhile (src/cmd/again.h).
 */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "src/base/cancel.h"
#include "src/cmd/emit.h"

struct live {
	pid_t pid;
	uint64_t every_ns; /* 0 = once */
	uint64_t count; /* looks; 0 = any number */
	/* exit code when something is found: for a signal that ends it */
	int found_code;
	/*
	 * Look once. 1 = found, 0 = not, -errno with `e`: -EINTR `stop` asked for it. The session
	 * behind it has the sink of `to`, so that signals wait for session_ops.released only.
	 */
	int (*examine)(void *arg, struct stop stop, struct err *e);
	void *arg;
	/* After the first look, NULL = nothing. -errno with `e` */
	int (*looked)(void *arg, struct err *e);
	void *looked_arg;
	struct emit *to;
};

/*
 * Until `count`, a signal (SIGINT, SIGTERM, SIGHUP) or the process's end, which is no error after
 * the first look. 1 = found, 0 = not, -errno with `e`.
 */
int live_run(const struct live *l, struct err *e);

#endif
