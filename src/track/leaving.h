/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that wait at their end to be searched for leaks (include/pmm/ledger.h, enum
 * pmm_leave_state): noticed, answered.
 */
#ifndef TRACK_LEAVING_H
#define TRACK_LEAVING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/ledger.h"

struct watched;

/* How a process ends, as its agent says; sound but perhaps not true. */
struct leaving {
	enum pmm_leave_cause cause;
	pid_t tid;			/* the thread that ends it, as we see it; 0 = not known */
	/*
	 * its stack counts from here up and its registers not at all; 0 = all of it, registers too
	 */
	uint64_t sp;
	uint32_t number;		/* exit status; of PMM_LEAVE_SIGNAL the signal */
	int fd;				/* its ledger file, open as long as the callback runs */
	/* that asked, as in its heap; another one may be in its place by now */
	uint64_t image;
	/*
	 * [monitor] to be called once the process is no longer needed; else that is when the
	 * callback returns
	 */
	void (*let_go)(void *arg);
	void *let_go_arg;
};

/* A process that said it waits. */
struct leaving_asked {
	pid_t pid;
	uint64_t rss_bytes;		/* about what there is to search */
};

/*
 * Which of them (nr > 0, by the order in which they said so) is searched as number `turn` from 0:
 * the smallest, which so waits for one large one at most; each eighth time the first, so that none
 * waits for ever.
 */
size_t leaving_pick(const struct leaving_asked *asked, size_t nr, unsigned turn);

/* Does it wait? Then no other code may answer, and leaving_answer() must follow. */
bool leaving_take(struct watched *w);

/*
 * Has it said that it does, or was about to? Not once it was answered: who says so then is another
 * copy of the agent in the same process, of which we do not know the word (an emulator's program
 * has one, too).
 */
bool leaving_waits(const struct watched *w);

/* How it ends. 0 or -errno. */
int leaving_read(const struct watched *w, struct leaving *out);

/* Let it continue. */
void leaving_answer(struct watched *w);

/* "exit()", "death by a signal": for messages. */
const char *leaving_cause_name(enum pmm_leave_cause cause);

#endif
