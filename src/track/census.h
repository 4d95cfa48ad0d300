/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that processes of a tree have executed, against the agents that started in them:
 * those left over were not tracked.
 *
 * A message before an exec is an expectation by process number. The agent of the new image answers
 * it when it hands in its ledger, or says that it has none. Messages may be heard in another order
 * than they were sent, so times count, which both sides read from one clock.
 */
#ifndef TRACK_CENSUS_H
#define TRACK_CENSUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/channel.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

#define CENSUS_MAX_UNTRACKED	4096	/* programs and reasons that are distinguished */
#define CENSUS_MAX_PROCESSES	(1u << 20)	/* numbers: a process of the tree may name any */
/* from so many on those are forgotten that nothing can be said of any more */
#define CENSUS_FORGETS		(1u << 14)

/* One process number, whichever process has it. */
struct census_process {
	uint64_t expected_ns;		/* 0 = nothing is expected */
	uint64_t here_ns;		/* the last agent of a new image */
	pid_t pid;
	uint32_t why;			/* enum pmm_exec */
	bool old;			/* nothing was said of it since room was made */
	char name[PMM_EXEC_NAME];
};

struct census_untracked {
	char name[PMM_EXEC_NAME];
	uint32_t why;
	pid_t pid;			/* one of them; 0 = not known */
	uint64_t nr;
};

/* All zero is empty. */
struct census {
	struct hash_map by_pid;		/* -> index into processes */
	VEC(struct census_process) processes;
	size_t room;			/* when there are so many, room is made ... */
	size_t nr_refused;		/* ... and where none was, after so many times again */
	VEC(struct census_untracked) untracked;
	uint64_t nr_more;		/* untracked ones that there was no room or memory for */
};

/* A message PMM_SAY_EXEC of process `from`. */
void census_exec(struct census *c, const struct pmm_message *m, pid_t from);

/* The agent of a new image in process `pid` has said at this time that it is there. */
void census_here(struct census *c, pid_t pid, uint64_t time_ns);

/* Is a program expected in this process whose agent has not turned up? */
bool census_expects(const struct census *c, pid_t pid);

/* Since when, on CLOCK_MONOTONIC; 0: none is. */
uint64_t census_expects_since(const struct census *c, pid_t pid);

/* All that is still expected was not tracked. */
void census_close(struct census *c);

/* What is in the way of tracking, in words: "static". */
const char *census_why(uint32_t why);

/* Is it nothing that keeps 'pmm attach' from tracking such a program? */
bool census_can_be_attached(uint32_t why);

void census_fini(struct census *c);

#endif
