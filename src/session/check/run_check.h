/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm check -- COMMAND`: heap errors reported as they are recorded, canary scans, what
 * remains to be reported at the end.
 */
#ifndef SESSION_CHECK_RUN_CHECK_H
#define SESSION_CHECK_RUN_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/check.h"
#include "src/analyze/coverage.h"
#include "src/analyze/findings_tree.h"
#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/ledger/canary_scanner.h"
#include "src/model/heap.h"

struct check_report_options;
struct session_sink;
struct table;

struct check_job {
	struct pmm_check check;		/* what the agent is to do; the secret is filled in later */
	uint64_t sample_bytes;		/* of PMM_CHECK_SAMPLED */
	uint64_t scan_every_ns;	/* 0 = at the end only */
	bool no_follow;			/* children are not checked */
	uint64_t limit_bytes;		/* of a ledger; 0 = as usual */
	const struct check_report_options *report;	/* borrowed */
};

/* One process, while it lives. */
struct run_check_process {
	uint32_t pid;			/* as in its heap */
	uint64_t image;			/* likewise */
	uint64_t nr_told;		/* findings of its agent */
	uint64_t serial;		/* of all processes no other has it */
	VEC(uint64_t) times;		/* of those findings, when they were reported */
};

/* One process that is swept. */
struct run_check_swept {
	pid_t pid;			/* as we see it */
	uint64_t next_ns;		/* when it is to be swept again */
	struct canary_scan scan;
	/*
	 * of the last canary scan; findings of all from index `from` on, to go into its capture;
	 * NULL = none
	 */
	struct heap *heap;
	uint64_t from;
};

struct run_check {
	const struct check_job *job;	/* borrowed; NULL = nothing is checked */
	const struct session_sink *to; /* borrowed */
	bool apart; /* documents do not go where notes go */
	/* as those of check_report_options, for what is reported at once */
	void (*entry)(void *ctx, const struct heap *h, struct table *t, uint64_t group);
	void *entry_ctx;
	VEC(struct run_check_process) processes;
	VEC(struct run_check_swept) swept;
	size_t most_swept;		/* when there are so many, those that have ended go */
	struct canary_scanner canary_scanner;		/* at work for one of them, or at rest */
	uint64_t nr_found;		/* all processes */
	uint64_t nr_processes;		/* that were ever distinguished */
	uint64_t nr_written;		/* documents of what was reported at once */
	struct findings_tree tree;	/* what was found in all of them */
	struct coverage coverage;	/* how many those are, and the others */
	uint64_t nr_unreported;		/* findings that could not be reported */
	struct err unreported;		/* why the first of them could not */
	unsigned nr_unswept;		/* processes that could not be swept at their end */
};

/* Its agent has noted something new: tell it. */
void run_check_found(struct run_check *r, const struct heap *h);

/*
 * It lives: is it time to canary scan it? Returns at once; what an earlier canary scan found is
 * told.
 */
void run_check_alive(struct run_check *r, pid_t pid, uint64_t now_ns);

/* Before fork(): no canary scan is under way any more. */
void run_check_rest(struct run_check *r);

/*
 * The process waits at its end: a last canary scan. Its ledger is in the file `fd`, its
 * clock on the board.
 */
void run_check_leaving(struct run_check *r, pid_t pid, int fd, int board_fd);

/*
 * It has ended: tell the rest, put findings of canary scans into its heap. Before its capture is
 * written. `replaced`: it was another program in the end, which was not tracked.
 */
void run_check_ended(struct run_check *r, struct heap *h, bool replaced);

/* Is it one that was tracked and not checked? Then it is entered as such. */
bool run_check_missed(struct coverage *c, const struct heap *h);

/*
 * Is there more to tell of than the program itself (NULL = it has no heap)? Asked when r->coverage
 * is complete.
 */
bool run_check_is_tree(const struct run_check *r, const struct heap *root);

/*
 * What was looked at and found, over all; `root`: the program's heap, NULL = none. r->coverage is
 * complete. 1 = heap errors were found, 0 = none, -errno with `e`.
 */
int run_check_tell(struct run_check *r, const struct heap *root, struct err *e);

/* Will that say on stderr, too, what was not recorded of the program? */
bool run_check_reports_losses(const struct run_check *r, const struct heap *root);

/* All zero is fine. */
void run_check_fini(struct run_check *r);

#endif
