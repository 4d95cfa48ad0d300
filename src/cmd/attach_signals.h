/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals that end `pmm attach`, taken while there is something of ours in a process: SIGINT,
 * SIGTERM and SIGHUP wait, and make a descriptor readable.
 *
 * It is never read: that one came stays known until they are given back, obeyed or not.
 */
#ifndef CMD_ATTACH_SIGNALS_H
#define CMD_ATTACH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct attach_signals {
	int fd;			/* -1: they are not taken */
	sigset_t old_mask;
	struct sigaction old_stop;
};

#define ATTACH_SIGNALS_NONE ((struct attach_signals){ .fd = -1 })

/* 0 or -errno; then nothing is taken. */
int attach_signals_take(struct attach_signals *t);

/*
 * Ctrl-C means what it always does from here on. One that came is dropped if it was `obeyed`, else
 * it ends us now. Nothing happens when they are not taken.
 */
void attach_signals_give_back(struct attach_signals *t, bool obeyed);

/* Has one come? */
bool attach_signals_came(const struct attach_signals *t);

#endif
