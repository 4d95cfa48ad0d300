/*
 * The machinery of `pmm run`, for `pmm leaks -- COMMAND`: launch, search each process at its end, tell.
 */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include <stdio.h>

struct leaks_job;

struct run_search {
	const struct leaks_job *job;	/* how to search, what to tell, what is a find */
	const char *output;		/* captures, as `pmm run -o`; NULL = none */
	FILE *report;			/* for the verdict; NULL = stderr */
	int found_code;			/* exit code when there was a find; -1 = the program's own */
};

/* Run argv, which ends with NULL. The exit code. */
int run_and_search(const struct run_search *search, char **argv);

#endif
