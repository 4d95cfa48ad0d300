/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at a running process once or again and again: waiting for the next time, for a signal
 * (SIGINT, SIGTERM, SIGHUP) or for its end.
 *
 * As long as a look holds something of the process, signals wait and the look is asked to stop
 * (again_stop()); between again_free() and again_hold() nothing is held, and a signal ends us at
 * once. Looking once that is the signal's usual action; again and again it is a way to end, with
 * the exit code `code`.
 */
#ifndef CMD_AGAIN_H
#define CMD_AGAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/cancel.h"
#include "src/base/err.h"
#include "src/base/loop.h"

struct again {
	uint64_t every_ns;		/* 0 = once */
	uint64_t next_ns;
	int signals, process;		/* descriptors, -1 = none */
	struct loop *loop;
	struct loop_source *timer, *on_signal;
	bool is_due, signalled, has_ended;	/* by the loop */
	sigset_t old;
	struct sigaction actions[3];
};

/* 0 or -errno with `e`; then nothing has begun. */
int again_begin(struct again *a, pid_t pid, uint64_t every_ns, struct err *e);

/* For what works on something held: has a signal come? */
struct stop again_stop(struct again *a);

/*
 * Nothing is held from here on; `code`: the exit code so far, may be changed by calling this again.
 * Until again_hold().
 */
void again_free(struct again *a, int code);
void again_hold(struct again *a);

/* Before each look: when the next is due. */
void again_due(struct again *a);

/*
 * Wait until then. False: once is enough, a signal came, or the process has ended, which is
 * reported.
 */
bool again_wait(struct again *a);

/*
 * A look failed: because the process has ended, or is about to? Its memory goes first. That is
 * told.
 */
bool again_ended(struct again *a);

/* After a look once, signals that came meanwhile take effect here. */
void again_end(struct again *a);

#endif
