/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that watches a process that was running already: the agent is put into it, its ledger is
 * looked at while it runs on, and the agent is taken out again. In steps, so that one thread can
 * watch several:
 *
 *	attach_open(pid, &options, &a, &e);	the functions are found; nothing is held
 *	attach_start(a, &e);			the agent is in the process, which runs on
 *	loop_add_fd(loop, attach_fd(a), EPOLLIN, on_attach, a, &source);
 *
 *	on_attach: attach_step(a, 0); while ((event = attach_next(a, &heap)) != ATTACH_NONE) ...
 *
 *	loop_del(loop, source);
 *	attach_detach(a, &final, &removed, &e);	the agent is out
 *	attach_close(a);
 *
 * Allowed calls: attach_close() always. Between open and start nothing else. From start until
 * detach all of them; then attach_info(), attach_totals(), attach_read(), attach_now_ns().
 *
 * Threads: one. attach_open(), attach_start() and attach_detach() stop threads of the process and
 * take milliseconds, as does a step after which libraries were loaded; they are bounded. A step
 * never waits longer than its argument says.
 *
 * Clock: the process's clock is ticked by the ticker of the options, while the loop of that is
 * stepped or its long work is marked; without one, by attach_step(). When it stops for long, the
 * agent records the time of events wrongly, and after a while takes pmm for dead.
 *
 * Signals: none is taken, blocked or ignored here. A pmm that a signal ends between start and
 * detach, SIGKILL included, leaves the agent to the watchdog (src/ptrace/watchdog.h), which takes
 * it out. When pmm is stopped, the process continues, its clock does not.
 *
 * A caller that has started must detach whatever happens (except by a signal that cannot be
 * caught); attach_close() detaches when that was not done. Prints nothing.
 */
#ifndef TRACK_TRACK_ATTACH_H
#define TRACK_TRACK_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/check.h"
#include "src/base/err.h"
#include "src/ledger/ledger_at.h"
#include "src/ledger/ledger_heap.h"
#include "src/entries/entries.h"
#include "src/model/heap.h"
#include "src/track/ticker.h"

struct attach;

struct attach_options {
	uint64_t sample_bytes;		/* mean bytes between samples; 0 = exact */
	uint64_t min_size_bytes;	/* smaller blocks are only counted */
	uint64_t warn_size_bytes;	/* a request of at least this is "huge"; 0 = none */
	/* memory the ledger may take; 0 = a quarter of RAM, at most 16 GiB */
	uint64_t limit_bytes;
	uint32_t max_frames;		/* deepest stack kept; 0 = 128 */
	const struct entries_custom *custom;	/* --alloc; borrowed until attach_close() */
	size_t nr_custom;
	/*
	 * Level PMM_CHECK_SAMPLED: some of the sampled blocks are guarded, and heap errors reported
	 * (ATTACH_FOUND). PMM_CHECK_NONE: no.
	 */
	struct pmm_check check;
	/* of the thread's loop, for all that it watches; NULL: one of its own */
	struct ticker *ticker;
};

/*
 * Descriptors that `pmm attach` opens at a time at most, but for those of names. What detaching
 * takes of them is kept for it from attach_open() on. tests/cli/attach_fds.bats measures it.
 */
#define ATTACH_NR_FDS	13

enum attach_event {
	ATTACH_NONE,		/* nothing (more) at present */
	ATTACH_FOUND,		/* heap errors were noted, or came again */
	ATTACH_ENDED,		/* the process has ended; the last event */
	ATTACH_EXECED,		/* it runs another program now, which is not watched; likewise */
};

/* The last attempt to patch what was loaded since has failed. */
struct attach_late {
	bool failed;
	/* functions that are not patched for that; 0: not even known which */
	unsigned nr;
	struct err why;
};

struct attach_info {
	/* functions; refused ones say why in entries.v[].refused */
	unsigned nr_patched;
	/* the allocator's functions as found, also in libraries loaded since */
	struct entries entries;
	/* its limit on address space could not be raised: what the ledger takes of it */
	uint64_t space_taken_bytes;
	uint64_t space_bytes;		/* address space that the ledger takes */
	uint64_t prepare_ns;		/* one thread was stopped for that long at attach */
	uint64_t pause_ns;		/* all threads were stopped for that long at attach */
	uint64_t detach_pause_ns;	/* ... and at detach, known after attach_detach() */
	/* guarded blocks that the program has yet to release, known after attach_detach() */
	int nr_guarded_left;
	struct attach_late late;
	/*
	 * the process runs another program now; it has ended. At the latest known after
	 * attach_detach()
	 */
	bool execed, ended;
};

/*
 * Find the functions to be patched; takes a while, and the process is left alone but for a look at
 * whether it may be stopped. *out is the caller's. 0 or -errno with `e`; -EAGAIN: try again later.
 */
int attach_open(pid_t pid, const struct attach_options *o, struct attach **out, struct err *e);

/*
 * Put the agent into the process; the program runs on. On failure it is as it was, and
 * attach_close() is all that is left to do. 0 or -errno with `e`; -EAGAIN as above.
 */
int attach_start(struct attach *a, struct err *e);

/* Readable when a step has something to do. Stays its own. */
int attach_fd(const struct attach *a);

/*
 * Look at what is due: the clock every 10 ms (in sampled mode 50 ms), heap errors, libraries that
 * were loaded since, which are patched, again and again where that fails for a while; the end.
 * Waits at most `wait_ns` for something to be due, 0: not at all. 0 or positive, or -errno.
 */
int attach_step(struct attach *a, int64_t wait_ns);

/*
 * The next event. Of ATTACH_FOUND *found is the heap without its blocks, the caller's; else NULL.
 * What is noted while one waits to be taken comes with the next. An end is reported once.
 */
enum attach_event attach_next(struct attach *a, struct heap **found);

/* ATTACH_ENDED or ATTACH_EXECED since a step has seen that; else ATTACH_NONE. */
enum attach_event attach_end(const struct attach *a);

/* For a caller with nothing else to do: step until `until_ns` on the tree's clock or the end. */
enum attach_event attach_wait(struct attach *a, uint64_t until_ns);

/* Nanoseconds on the tree's clock: the time axis of totals, points and heaps. */
uint64_t attach_now_ns(const struct attach *a);

/* When recording began, on that clock. */
uint64_t attach_began_ns(const struct attach *a);

/* Sums over the process's contexts, a few microseconds. 0 or -errno. */
int attach_totals(struct attach *a, struct ledger_totals *t);

/* Has it ceased to guard blocks, and why? Kept also after the process has ended. */
enum pmm_check_stop attach_check_stopped(struct attach *a);

/*
 * The whole heap of what was allocated since the attach; *out is the caller's. The program is not
 * stopped. 0 or -errno with `e`.
 */
int attach_read(struct attach *a, struct heap **out, struct err *e);

/* The block that has this address now, as ledger_at_find(). -EAGAIN: there is no ledger. */
int attach_block_at(struct attach *a, uint64_t address, struct ledger_at_block *out);

/* ledger_hook_pc() */
uint64_t attach_hook_pc(struct attach *a);

/* What was found and done; valid until attach_close(). Never NULL. */
const struct attach_info *attach_info(const struct attach *a);

/*
 * Take the agent out. *final (caller's) is the heap after the last event, NULL when it could not be
 * read; when the process has ended it is the last state of its ledger. *removed is false when the
 * code is restored but the agent's memory had to stay for a thread that is inside it, or for
 * guarded blocks (harmless; `pmm detach PID` takes it out later). 0 or -errno with `e`; nothing
 * happens when it was called before.
 */
int attach_detach(struct attach *a, struct heap **final, bool *removed, struct err *e);

/* Release; detaches first if that has not been done. NULL is fine. */
void attach_close(struct attach *a);

#endif
