/*
 * Processes that wait at their end to be searched for leaks (include/pmm/ledger.h, enum pmm_leave_state): noticed, answered.
 *
 * A thread of its own makes a descriptor readable the moment a process asks. While the monitor's loop is at work, perhaps searching another
 * process, the thread keeps the tree's clock, which is what a waiting process takes for the monitor's life.
 */
#ifndef CAPTURE_LEAVING_H
#define CAPTURE_LEAVING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/ledger.h"
#include "src/base/err.h"
#include "src/capture/ledger_tree.h"

/* How a process ends, as its agent says; sound but perhaps not true. */
struct leaving {
	enum pmm_leave_cause cause;
	pid_t tid;			/* the thread that ends it, as we see it; 0 = not known */
	uint64_t sp;			/* its stack counts from here up and its registers not at all; 0 = all of it, registers too */
	uint32_t number;		/* exit status; of PMM_LEAVE_SIGNAL the signal */
	unsigned slot;
	uint64_t image;			/* that asked, as in its heap; another one may be in its place by now */
	/* [monitor] to be called once the process is no longer needed; else that is when the callback returns */
	void (*let_go)(void *arg);
	void *let_go_arg;
};

struct leaving_watch {
	struct ledger_tree *tree;	/* borrowed */
	int fd;				/* readable: some process has asked */
	bool on;			/* the thread runs */
	bool end;
	bool busy;			/* [monitor] the loop does not wait, so the clock is ours to keep */
	pthread_t thread;
};

/* The descriptor; nothing runs yet. 0 or -errno with `e`. */
int leaving_watch_init(struct leaving_watch *w, struct ledger_tree *t, struct err *e);

/* Begin; again in a forked child, which has no such thread. 0 or -errno: then the monitor's loop has to look at each of its steps. */
int leaving_watch_start(struct leaving_watch *w);

/* End here and leave it to another process that goes on with it. */
void leaving_watch_stop(struct leaving_watch *w);

/* End; nobody waits any more, and nobody will. All zero and fd -1 is fine. */
void leaving_watch_fini(struct leaving_watch *w);

/* Make the descriptor wait for the next one. */
void leaving_watch_drain(struct leaving_watch *w);

/* Does the process of slot k wait? Then nobody else may answer, and leaving_answer() must follow. */
bool leaving_take(struct ledger_tree *t, unsigned k);

/* How it ends; pid as we see it. 0 or -errno. */
int leaving_read(const struct ledger_tree *t, unsigned k, pid_t pid, struct leaving *out);

/* Let it go on. */
void leaving_answer(struct ledger_tree *t, unsigned k);

/* "exit()", "death by a signal": for messages. */
const char *leaving_cause_name(enum pmm_leave_cause cause);

#endif
