/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program under `pmm run`: started exactly as if pmm were not there, and pmm standing between
 * it and the shell.
 *
 * pmm changes its own signals and limits; the program gets what pmm was given. Terminal signals
 * reach the program by themselves (same process group), so pmm ignores them; what somebody sends to
 * pmm alone is passed on.
 */
#ifndef TRACK_CHILD_H
#define TRACK_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/proc/proc.h"

#define CHILD_NR_LIMITS 3

struct child {
	/* what pmm was given */
	sigset_t mask;
	struct sigaction action[NSIG];
	struct rlimit limit[CHILD_NR_LIMITS];
	/* the program */
	pid_t pid;     /* 0 = not started or reaped */
	int signal_fd; /* what pmm gets instead of signals */
	int status;    /* wait status, valid when `ended` */
	bool ended, stopped;
	char comm[PROC_COMM_BYTES]; /* its last name, when `ended`; "" = not known */
};

/*
 * Remember signals and limits, then ignore, block and raise what pmm must; opens signal_fd. 0 or
 * -errno with `e`.
 */
int child_prepare(struct child *c, struct err *e);

/* The limit the program will run under, of RLIMIT_AS, RLIMIT_FSIZE or RLIMIT_NOFILE. */
struct rlimit child_limit(const struct child *c, int resource);

/*
 * Raise the limit on data (RLIMIT_DATA) that pmm has and the program will get by so many bytes of
 * the agent's own, if there is one. False: that is not allowed, it stays as it is.
 */
bool child_raise_data(uint64_t bytes);

/*
 * Fork and execve(path). Every descriptor that is not close-on-exec goes to the program. 0 or
 * -errno with `e` when it could not be executed (nothing then runs).
 */
int child_start(struct child *c, const char *path, char **argv, char **env, struct err *e);

/*
 * Empty signal_fd: collect the program's end or stop (pmm then stops as well where a shell
 * watches), pass on what others sent. `from_inside(arg, pid)`: was it sent by a traced process
 * (then it is not passed back)? Returns true when somebody asked pmm itself to end after the
 * program is gone (SIGTERM, SIGHUP).
 */
bool child_signals(struct child *c, bool (*from_inside)(void *arg, pid_t pid), void *arg);

/* The exit code that passes a wait status on: its own, or 128 + signal. */
int child_exit_code(int status);

/* Let go of the program's stdin, stdout and every other descriptor not in keep[] and not stderr. */
void child_drop_fds(const int *keep, unsigned nr_keep);

#endif
