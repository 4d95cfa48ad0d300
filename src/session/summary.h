/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few lines that `pmm run` leaves when the program has ended: what ran, what it held, who holds
 * it, where the captures are.
 */
#ifndef SESSION_SUMMARY_H
#define SESSION_SUMMARY_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/analyze/coverage.h"
#include "src/base/vec.h"
#include "src/model/heap.h"
#include "src/session/session.h"

/* A capture written, and whose it is. */
struct summary_capture {
	char *name;
	pid_t pid;
	uint64_t peak_bytes;
	bool is_root;
};

struct summary {
	const struct heap *heap; /* of the program itself; NULL = the agent never started in it */
	/* of the other process with the highest peak; NULL = there is none */
	const struct heap *largest;
	char *const *argv;	 /* the command */
	int status;		 /* wait status */
	uint64_t run_ns;
	/* where SIGKILL ended it, or what a shell started: processes that the kernel killed ... */
	uint64_t nr_oom_kills;
	uint64_t group_bytes;	/* ... what pmm's control groups may take; UINT64_MAX = any */
	VEC(struct summary_capture) captures;	/* as they were written */
	unsigned nr_replaced, nr_lost; /* images replaced by exec; processes without a ledger */
	unsigned nr_living;	       /* processes that continue, watched in the background ... */
	pid_t living;		       /* ... the first one */
	struct coverage *untracked;    /* programs that were not seen; borrowed, NULL = none */
	bool searched;		/* for leaks, where hints on programs not seen are given */
	bool losses_reported;   /* what was not recorded of the program is reported elsewhere */
	/* on data, which could not be raised for the agent; 0 = there is none */
	uint64_t data_limit_bytes;
	bool shrunk; /* a resource limit left less room for the ledger than asked for */
};

/* The name of the program's own capture; NULL: there is none. */
const char *summary_root_capture(const struct summary *s);

void summary_fini(struct summary *s);

/* Note it, line by line. `brief`: only what the user must know even with --quiet. */
void summary_note(struct summary *s, bool brief, const struct session_sink *to);

#endif
