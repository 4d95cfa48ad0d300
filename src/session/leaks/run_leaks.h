/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm run --leaks`: each process searched for leaks at its end, what was found put into its
 * capture and reported when all is over.
 */
#ifndef SESSION_LEAKS_RUN_LEAKS_H
#define SESSION_LEAKS_RUN_LEAKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/analyze/coverage.h"
#include "src/analyze/leaks_tree.h"
#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/track/leaving.h"
#include "src/session/leaks/leaks_search.h"
#include "src/model/heap.h"

struct leaks_job;
struct leaks_report_options;
struct session_sink;

/* A search that failed. */
struct run_leaks_failed {
	pid_t pid;
	char *why;
};

struct run_leaks {
	struct leaks_search_options search;
	struct leaks_report_options *report;
	const struct session_sink *to; /* borrowed */
	bool apart; /* documents do not go where notes go */
	VEC(struct heap *) searched;	/* they wait for their process's end */
	VEC(struct run_leaks_failed) failed;	/* they, too */
	struct leaks_tree tree;		/* what was found in those that have ended */
	struct coverage coverage;	/* how many those are, and the others */
	/* the program itself became another one, which was not tracked */
	bool root_replaced;
	/* the program itself was not searched; NULL = it was, or this is not known */
	char *why_root;
	pid_t gone;			/* ended while it was to be searched; 0 = none */
};

/*
 * Search and report as `job` says; its suppressions are borrowed. 0 or -ENOMEM.
 */
int run_leaks_init(struct run_leaks *r, const struct leaks_job *job, const struct session_sink *to,
		   struct err *e);

/* The process waits at its end: search it. */
void run_leaks_search(struct run_leaks *r, pid_t pid, const struct leaving *l);

/*
 * The process has ended: what was found belongs into its heap, and into the report of all. Where
 * leaks are not searched for it does nothing. `replaced`: it was another program in the end, which
 * was not tracked.
 */
void run_leaks_ended(struct run_leaks *r, struct heap *h, bool is_root, bool replaced);

/*
 * Tell of all processes; of the program itself (NULL = it has no heap; `comm`: what it was called
 * at its end) also why it was not searched. `brief`: of nothing but losses. r->coverage is
 * complete. 1 = what fail_on asks for, 0 = none, -errno with `e`.
 */
int run_leaks_tell(struct run_leaks *r, const struct heap *root, const char *comm, bool brief,
		   struct err *e);

/* All zero is fine. */
void run_leaks_fini(struct run_leaks *r);

#endif
