/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that watches a process that was running already: the agent is put into it, its ledger is
 * looked at while it runs on, and the agent is taken out again.
 *
 *	attach_open(pid, &options, &a, &e);
 *	while (attach_wait(a, attach_now_ns(a) + 1000000000) == ATTACH_TICK) attach_totals(a, &t);
 *	attach_detach(a, &final, &removed, &e);
 *	attach_close(a);
 *
 * One thread. Whoever has opened must detach whatever happens (except by a signal that cannot be
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
#include "src/ledger/ledger_heap.h"
#include "src/entries/entries.h"
#include "src/model/heap.h"

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
	 * Level PMM_CHECK_SAMPLED: some of the sampled blocks are guarded, and heap errors told to
	 * found() as soon as they are noted, with the heap but its blocks. It may call
	 * attach_wait(). PMM_CHECK_NONE: no.
	 */
	struct pmm_check check;
	void (*found)(void *arg, const struct heap *h);
	void *arg;
};

enum attach_event {
	ATTACH_TICK,		/* the time asked for has come */
	ATTACH_SIGNAL,		/* SIGINT, SIGTERM or SIGHUP to us */
	ATTACH_ENDED,		/* the process has ended */
	ATTACH_EXECED,		/* the process runs another program now, which is not watched */
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
	unsigned nr_patched, nr_refused;
	/* the allocator's functions as found, also in libraries loaded since */
	struct entries entries;
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
 * Put the agent into a process; the program runs on. On failure it is as it was. SIGINT, SIGTERM
 * and SIGHUP are taken over until attach_close(). *out is the caller's. 0 or -errno with `e`.
 */
int attach_open(pid_t pid, const struct attach_options *o, struct attach **out, struct err *e);

/*
 * Wait until `until_ns` on the tree's clock or until something happens, whichever comes first.
 * Keeps the tree's clock ticking every 10 ms and patches libraries that were loaded since, again
 * and again where that fails for a while. The clock stands still for the agent while nobody waits:
 * return here within some 100 ms.
 */
enum attach_event attach_wait(struct attach *a, uint64_t until_ns);

/*
 * Has a signal come that attach_wait() will tell of, or has told of? For long work between two
 * calls of it; changes nothing.
 */
bool attach_signalled(const struct attach *a);

/* Nanoseconds on the tree's clock: the time axis of totals, points and heaps. */
uint64_t attach_now_ns(const struct attach *a);

/* Sums over the process's contexts, a few microseconds. 0 or -errno. */
int attach_totals(struct attach *a, struct ledger_totals *t);

/* Has it ceased to guard blocks, and why? Kept also after the process has ended. */
enum pmm_check_stop attach_check_stopped(struct attach *a);

/*
 * The whole heap of what was allocated since the attach; *out is the caller's. The program is not
 * stopped. 0 or -errno with `e`.
 */
int attach_read(struct attach *a, struct heap **out, struct err *e);

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
