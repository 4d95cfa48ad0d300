/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program launched and tracked with its children, to its end: captures, searches for leaks and
 * checks at the end of each process, the summary.
 *
 * The launch makes pmm's own signals what the program needs (src/track/child.h): one run at a time.
 */
#ifndef SESSION_RUN_PROGRAM_H
#define SESSION_RUN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct check_job;
struct child;
struct child_signals;
struct kernel_source_ops;
struct leaks_job;
struct session_end;
struct session_sink;

/* One of several runs, in memory that is shared with who compares them. */
struct run_shared {
	pid_t pid; /* of the program, 0 = not yet there */
	int ended; /* how it ended, as wait() has it, -1 = not yet */
	bool unchecked; /* processes of it were not checked, or not tracked */
};

struct run_options {
	bool sampled, no_follow;
	/* 0 = as usual: the sample's distance, the least block, a huge request, a ledger's size */
	uint64_t sample_bytes, min_size_bytes, warn_size_bytes, limit_bytes;
	uint64_t interval_ns; /* between points of the time series; 0 = adaptive */
	uint32_t max_frames;
	const char *output; /* name of captures (src/store/output.h); NULL = none */
	/* how to search, what to report, what is a find; NULL = no search for leaks */
	const struct leaks_job *leaks;
	/* how to look for heap errors, what to report; NULL = not at all */
	const struct check_job *check;
	/* of a check, what is a find: heap errors; processes not checked, or not tracked */
	bool fail_errors, fail_unchecked;
	/* It is run for its verdict: what could not be looked at is in session_end.unseen. */
	bool for_verdict;
	/* run_wait() is for all processes of the tree; child_signals.heed() has signals end that */
	bool wait;
	/* kernel events are part of the heaps: their source, NULL = not; heap_trace_parse() */
	const struct kernel_source_ops *trace;
	uint32_t trace_classes;
	bool quiet; /* of the summary only what is missing */
	bool only_losses; /* no verdict on leaks where nothing is lost */
	bool apart; /* documents do not go where notes go */
	/* what is done with the caller's own signals; NULL = nothing, and none is passed on */
	const struct child_signals *signals;
	int keep_fd; /* stays open although the program does not have it; -1 = none */
	/* of several, which goes into no background; NULL = there is no other */
	struct run_shared *shared;
};

#define RUN_OPTIONS_DEFAULT                                                                        \
	{                                                                                          \
		.max_frames = 128, .keep_fd = -1                                                   \
	}

struct run;

/*
 * Start argv, which ends with NULL. All is borrowed until run_close(). 0, or -errno with `e`:
 * nothing runs.
 */
int run_open(struct run **out, const struct run_options *o, char **argv,
	     const struct session_sink *to, struct err *e);

/*
 * Until the program has ended, and what ends just after it, or all others where they are waited
 * for; where captures are written and other processes continue, a process of our own continues in
 * the background for them.
 */
void run_wait(struct run *r);

/* The program, and what pmm's signals were before. */
const struct child *run_child(const struct run *r);

/* Hand over the summary and the verdicts. After run_wait(). */
void run_finish(struct run *r, struct session_end *end);

/* NULL is fine. */
void run_close(struct run *r);

#endif
