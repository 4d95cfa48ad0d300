/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm leaks PID`: search a running process once or again and again.
 */
#ifndef SESSION_LEAKS_LEAKS_LIVE_H
#define SESSION_LEAKS_LEAKS_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/session/leaks/leaks_report.h"
#include "src/session/leaks/leaks_search.h"

struct leaks_job {
	struct leaks_search_options search;
	struct leaks_report_options report;
	bool no_copy;			/* search with the threads stopped */
	uint64_t every_ns;		/* 0 = once */
	uint64_t count;			/* searches; 0 = any number */
	/* exit code when something is found: for a signal that ends it */
	int found_code;
};

/*
 * Search and write to `out`; again every `every_ns`, then only what is new, until `count`, a signal
 * (SIGINT, SIGTERM, SIGHUP) or the process's end. 1 = found what is asked for, 0 = not, -errno with
 * `e`.
 */
int leaks_live(pid_t pid, const struct leaks_job *job, FILE *out, struct err *e);

/* Fill in why a process that pmm does not track cannot be searched. */
void leaks_untracked(pid_t pid, struct err *e);

/* Search a core file with the process's capture. As leaks_live(). */
int leaks_core(const char *core, const char *capture, const struct leaks_job *job, FILE *out,
	       struct err *e);

#endif
