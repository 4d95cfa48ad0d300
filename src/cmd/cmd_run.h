/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machinery of `pmm run`, for `pmm leaks -- COMMAND` and `pmm check -- COMMAND`: launch, look
 * at each process at its end, tell.
 */
#ifndef CMD_CMD_RUN_H
#define CMD_CMD_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * One of several runs, in shared memory: who the program is, 0 = not yet there; how it ended, as
 * wait() has it, -1 = not yet.
 */
struct run_shared {
	pid_t pid;
	int ended;
	bool unchecked;		/* processes of it were not checked, or not tracked */
};

struct leaks_job;
struct check_job;

struct run_job {
	/* how to search, what to tell, what is a find; NULL = no search for leaks */
	const struct leaks_job *leaks;
	/* how to look for heap errors, what to tell; NULL = not at all */
	const struct check_job *check;
	const char *output;		/* captures, as `pmm run -o`; NULL = none */
	FILE *report;			/* for what is told; NULL = stderr */
	bool json; /* its form */
	/* of several, which says nothing itself; NULL = there is no other */
	struct run_shared *one;
	/* exit code when there was a find; -1 = the program's own */
	int found_code;
	/*
	 * of a check, what is a find: heap errors; processes that were not checked, or not tracked
	 */
	bool fail_errors, fail_unchecked;
};

/* Run argv, which ends with NULL. The exit code. */
int run_for(const struct run_job *job, char **argv);

#endif
