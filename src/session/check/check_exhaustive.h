/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --exhaustive -- COMMAND`: the program is run once for each way in which blocks can be
 * in their pages, and each error is reported once.
 */
#ifndef SESSION_CHECK_CHECK_EXHAUSTIVE_H
#define SESSION_CHECK_CHECK_EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct check_exhaustive;
struct child;
struct run_options;
struct session_end;
struct session_sink;

/*
 * What the runs are to this process: each is a child of it. Signals are the caller's affair. A
 * member that is NULL: not wanted.
 */
struct check_exhaustive_ops {
	void (*begin)(void *arg); /* before the first run */
	/* in the process of a run: first of all; when the program has ended, before the verdict */
	void (*inside)(void *arg);
	void (*program_ended)(void *arg, const struct child *c);
	void (*under_way)(void *arg, pid_t pid); /* the process of a run; 0 = it has ended */
	bool (*enough)(void *arg); /* no further run is wanted */
	void (*end)(void *arg); /* after the last run */
};

struct check_exhaustive_options {
	/* of a check that keeps no captures */
	const struct run_options *run;
	const struct check_exhaustive_ops *ops;
	void *arg; /* theirs */
};

/*
 * Begin the first run of argv, which ends with NULL. All is borrowed until
 * check_exhaustive_close(). 0, or -errno with `e`.
 */
int check_exhaustive_open(struct check_exhaustive **out, const struct check_exhaustive_options *o,
			  char **argv, const struct session_sink *to, struct err *e);

/* Readable when a step has something to do. */
int check_exhaustive_fd(const struct check_exhaustive *x);

/*
 * See how the run under way gets on, and begin the next one when it has ended; wait for that at
 * most `wait_ns`, < 0: as long as it takes. 1; 0: there is no further run; or -errno with `e`.
 */
int check_exhaustive_step(struct check_exhaustive *x, int64_t wait_ns, struct err *e);

/* Hand over one report of all runs. After the last step. 0, or -errno with `e`. */
int check_exhaustive_finish(struct check_exhaustive *x, struct session_end *end, struct err *e);

/* Not while a run is under way: after open, steps down to 0 or -errno. NULL is fine. */
void check_exhaustive_close(struct check_exhaustive *x);

#endif
