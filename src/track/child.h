/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program under `pmm run`: started exactly as if pmm were not there, and pmm standing between
 * it and the shell.
 *
 * pmm changes its own limits and, by callbacks of the caller, its signals; the program gets what
 * pmm was given. Terminal signals reach the program by themselves (same process group), so pmm
 * ignores them; what another process sends to pmm alone is passed on.
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
#include "src/proc/process_figures.h"

#define CHILD_NR_LIMITS 3

struct child;

/*
 * The caller's own signals, which no other code may change. Borrowed as long as the program runs.
 */
struct child_signals {
	/*
	 * Fill mask, action[] and signal_fd, and change them so that the program's signals do not
	 * harm us. 0 or -errno with `e`.
	 */
	int (*redirect)(struct child *c, struct err *e);
	/*
	 * In the child, before the program is executed: as we were given them. It runs in our
	 * memory, which it must not write to.
	 */
	void (*restore)(const struct child *c);
	/*
	 * The program has stopped, and a shell waits for all of us to stop. Returns when we are
	 * continued, or when the program is continued by another process.
	 */
	void (*stop)(pid_t program);
	/*
	 * The program has ended, and what it left behind is waited for: from now on what ends us at
	 * a terminal comes by signal_fd, too. NULL: it does not.
	 */
	void (*heed)(struct child *c);
};

struct child {
	const struct child_signals *signals;	/* NULL: nothing of them is changed or passed on */
	/* what pmm was given; of signals only if they were taken */
	sigset_t mask;
	struct sigaction action[NSIG];
	struct rlimit limit[CHILD_NR_LIMITS], data;
	bool raises;	/* its limits; else the program has them as they are */
	/*
	 * called between fork and execve(), where the child waits meanwhile; NULL: not. 0, or
	 * -errno with `e`: it is not executed
	 */
	int (*forked)(void *arg, pid_t pid, struct err *e);
	void *forked_arg;
	/* the program */
	pid_t pid;     /* 0 = not started or reaped */
	int signal_fd; /* what pmm gets instead of signals; -1 = they are not taken */
	int status;    /* wait status, valid when `ended` */
	bool ended, stopped;
	char comm[PROC_COMM_BYTES]; /* its last name, when `ended`; "" = not known */
	/* its last page faults and CPU time, when `ended`; threads are 0 */
	struct process_figures last;
	bool last_known;
};

/*
 * Have signals taken (NULL: not), remember limits and raise what pmm must, if it `raises` any. 0 or
 * -errno with `e`; child_close() follows in any case.
 */
int child_prepare(struct child *c, const struct child_signals *signals, bool raises, struct err *e);

/* The limit the program will run under, of RLIMIT_AS, RLIMIT_FSIZE or RLIMIT_NOFILE. */
struct rlimit child_limit(const struct child *c, int resource);

/*
 * Raise the limit on data (RLIMIT_DATA) that pmm has and the program will get by so many bytes of
 * the agent's own, if there is one. False: that is not allowed, it stays as it is.
 */
bool child_raise_data(struct child *c, uint64_t bytes);

/*
 * Fork and execve(path). Every descriptor that is not close-on-exec goes to the program. 0 or
 * -errno with `e` when it could not be executed (nothing then runs).
 */
int child_start(struct child *c, const char *path, char **argv, char **env, struct err *e);

/*
 * Empty signal_fd: collect the program's end or stop (pmm then stops as well where a shell
 * watches), pass on what others sent. `from_inside(arg, pid)`: was it sent by a traced process
 * (then it is not passed back)? Returns true when pmm itself was asked to end after the program is
 * gone (SIGTERM; SIGHUP unless it was given to us ignored; what heed() has added).
 */
bool child_signals(struct child *c, bool (*from_inside)(void *arg, pid_t pid), void *arg);

/*
 * The program is killed if it runs, and collected; limits are as before, signal_fd is closed. What
 * else was taken of signals stays with who has taken it.
 */
void child_close(struct child *c);

/* The exit code that passes a wait status on: its own, or 128 + signal. */
int child_exit_code(int status);

/*
 * Let go of the program's stdin and stdout, and of every other descriptor that pmm was given: not
 * of stderr, of those in keep[], and of what is close-on-exec, which no execve() has handed on.
 */
void child_drop_fds(const int *keep, unsigned nr_keep);

#endif
