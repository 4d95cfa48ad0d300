/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that waits before its first instruction: forked, its process number known, executed
 * when the gate is opened. For those who must have something ready about the process by then.
 *
 * If pmm ends before gate_open(), the child ends without having executed anything.
 */
#ifndef TRACK_GATE_H
#define TRACK_GATE_H

#include <signal.h>
#include <sys/types.h>

#include "src/base/err.h"

struct gate {
	pid_t pid;		/* 0: there is none, or it was collected */
	int go, failed;		/* pipes: ours to open it, and how execution failed; -1: closed */
};

#define GATE_NONE ((struct gate){ .go = -1, .failed = -1 })

/*
 * Fork. The program will get the signal mask `mask` and the usual action for signals that pmm
 * ignores, NULL: everything as it is. argv[0] is looked up in PATH. 0 or -errno with `e`.
 */
int gate_fork(struct gate *g, char **argv, const sigset_t *mask, struct err *e);

/* Let it execute. 0, or -errno with `e` when it cannot be executed: it has ended then. */
int gate_open(struct gate *g, struct err *e);

/* The caller has collected the child. */
void gate_collected(struct gate *g);

/* A child that was not let through ends and is collected; one that was goes on. */
void gate_close(struct gate *g);

#endif
