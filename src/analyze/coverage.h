/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a tree of processes was looked at: how many there were, and which were left out for
 * what reason.
 *
 * What was left out is merged by program and reason, and bounded.
 */
#ifndef ANALYZE_COVERAGE_H
#define ANALYZE_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/base/vec.h"

#define COVERAGE_MAX_GAPS	256	/* different programs and reasons that are kept */

enum coverage_kind {
	COVERAGE_MISSED,	/* tracked, but not looked at */
	COVERAGE_UNTRACKED,	/* nothing at all is known of them */
	COVERAGE_ATTACHABLE,	/* likewise; 'pmm attach' would have tracked them */
};

/* Processes that were not looked at. */
struct coverage_gap {
	enum coverage_kind kind;
	char *program, *why;	/* "" where there are too many to tell apart */
	uint64_t nr;
	uint32_t pid;		/* one of them; 0 = not known */
};

/* All zero is empty. */
struct coverage {
	/* that were looked at or have a heap, and those that were not tracked */
	uint64_t processes;
	uint64_t covered;	/* of them were looked at */
	/* that were not, but for some time; they are among the gaps */
	uint64_t partly;
	uint64_t killed;	/* of these a signal ended before anything was found in them */
	uint64_t idle;		/* of these never allocated anything */
	/* programs that exec replaced in a process: no processes, not looked at */
	uint64_t replaced;
	uint64_t blocks, bytes;	/* looked at */
	VEC(struct coverage_gap) gaps;
	bool failed;		/* out of memory: gaps are missing */
};

/* A process that was not looked at. */
void coverage_miss(struct coverage *c, const char *program, const char *why,
		   enum coverage_kind kind, uint32_t pid);

/* The same for `nr` of them. */
void coverage_miss_many(struct coverage *c, const char *program, const char *why,
			enum coverage_kind kind, uint64_t nr, uint32_t pid);

/* Add another one, of other processes. */
void coverage_add(struct coverage *c, const struct coverage *other);

/* Is nothing at all known of them? */
static inline bool coverage_untracked_gap(const struct coverage_gap *g)
{
	return g->kind != COVERAGE_MISSED;
}

/* How many were not tracked, or were but were not looked at. */
uint64_t coverage_missed(const struct coverage *c, bool untracked);

/* Append them, the most frequent first: "busybox (static), 3 of sudo (set-user-ID)". */
void coverage_names(struct str *s, struct coverage *c, bool untracked);

void coverage_fini(struct coverage *c);

#endif
