/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check --exhaustive -- COMMAND`: the program is run once for each way in which blocks can lie
 * in their pages, and each error is reported once.
 */
#ifndef SESSION_CHECK_CHECK_EXHAUSTIVE_H
#define SESSION_CHECK_CHECK_EXHAUSTIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"

struct child;
struct run_options;
struct session_end;
struct session_sink;

/*
 * What the runs are to this process: each is a child of it. Signals are the caller's affair. A
 * member that is NULL: nobody wants that.
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

struct check_exhaustive {
	/* of a check that keeps no captures */
	const struct run_options *run;
	const struct check_exhaustive_ops *ops;
	void *arg; /* theirs */
};

/* Run argv, which ends with NULL, and hand over one report. 0, or -errno with `e`. */
int check_exhaustive(const struct check_exhaustive *x, char **argv, const struct session_sink *to,
		     struct session_end *end, struct err *e);

#endif
