/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One process under watch: its ledger file, its series, and how it ends up as a heap.
 *
 * The file is the process's own and it may write anything there at any time: words are copied once
 * and checked, and nothing is done twice as often because it says so.
 */
#ifndef TRACK_WATCHED_H
#define TRACK_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/track/figures_last.h"
#include "src/ledger/ledger_at.h"
#include "src/ledger/ledger_heap.h"
#include "src/ledger/ledger_tree.h"
#include "src/proc/proc.h"
#include "src/track/mark_series.h"
#include "src/track/peak_look.h"
#include "src/track/process_series.h"
#include "src/track/thread_looks.h"
#include "src/track/usage_series.h"

struct loop_source;

#define WATCHED_NR_FDS 3	/* pidfd, rss_fd, fd; peak_fd is none where there are many */

struct watched {
	pid_t pid;	 /* as we see it */
	int pidfd;	 /* -1: cannot be had */
	/* for struct monitor, which is woken by its end: the source, and itself */
	struct { struct loop_source *source; void *monitor; } heard;
	bool unheard;	 /* its end is asked for: the monitor is not woken by it */
	int rss_fd;	 /* see proc_rss() */
	int peak_fd;	 /* see proc_peak_rss() */
	/* the most that was resident, when last looked at; when that is looked at again */
	uint64_t peak_rss_bytes;
	struct peak_look peak_look;
	/* its ledger file, with an offset and locks of its own where that can be had */
	int fd;
	uint64_t ino;	 /* ... which is this one */
	/* of that file, mapped for the words that both write; NULL = not */
	struct pmm_tree *head;
	struct watched *next_same;	/* for struct roll, ... */
	size_t at;			/* ... as well */
	bool is_root;
	bool ended;
	unsigned nr_asked;	/* how often it asked to be searched at its end */
	/* ... and when, as it was heard; 0 = it does not wait, or that was not heard */
	uint64_t asked_ns;
	uint64_t held_ns;	/* for how long it waited */
	uint64_t launched_ns; /* when the monitor started it; 0 = it did not */
	uint64_t heard_ns;    /* when it was first heard of */
	uint64_t ended_ns;    /* when we noticed */
	bool end_counted;     /* in monitor.nr_ended */
	bool end_heard;	      /* ... which was at once */
	int status;	   /* wait status, when status_known */
	bool status_known;
	struct ledger_map *map; /* NULL until the header is complete; reads through fd */
	struct ledger_at *blocks; /* by address; NULL until one is asked for */
	bool series_begun;
	struct series series;
	struct usage_series usage;
	struct mark_series marks;
	struct thread_looks threads;
	uint64_t interval_ns; /* of the series; 0 = adaptive */
	uint64_t code_hash;   /* of executable file mappings; 0 = not looked yet */
	uint64_t next_code_ns;
	struct watched_noted {
		uint64_t nr, count;	/* heap errors of the last look */
		uint64_t next_ns;	/* look again not before */
		uint64_t next_again_ns;	/* ... and for those that came again */
	} noted;
	struct figures_last figures;
};

/*
 * Begin to watch a process; both descriptors are its own from now on, also on failure. NULL: out of
 * memory. The head is not mapped yet.
 */
struct watched *watched_new(pid_t pid, int pidfd, int fd, uint64_t interval_ns, uint64_t now_ns);

/*
 * Is its file such a one as a process of this tree makes: a memfd in memory, sealed against
 * resizing alone, of the tree's size and version? `whole`: with a ledger begun in it. Then the head
 * is mapped. 0, -EBADMSG, -ENOMEM.
 */
int watched_accept(struct watched *w, const struct ledger_tree *t, bool whole);

void watched_free(struct watched *w);

/*
 * What its ledger says of who made it, and its name when it began. 0; -ENOENT: there is none yet,
 * or it counts processes in another way than we do.
 */
int watched_origin(const struct watched *w, pid_t *parent, char comm[PROC_COMM_BYTES]);

/* What it says of its limit on address space. */
enum pmm_limit watched_limit(const struct watched *w);

/* Another image is in its place: for who has its file open. */
void watched_replace(struct watched *w);

/* Is it over, as the kernel says? */
bool watched_has_ended(const struct watched *w);

/*
 * Are both of one process, which may have ended? Before Linux 6.9 that is not known of two with the
 * same number: then `otherwise`.
 */
bool watched_same(const struct watched *a, const struct watched *b, bool otherwise);

/* Its process has ended. The first call counts. */
void watched_end(struct watched *w, uint64_t now_ns);

/* Take what is due of the series; false when nothing was. */
bool watched_tick(struct watched *w, uint64_t now_ns);

/*
 * Have executable file mappings come or gone since the last call? Looks once a second at most,
 * and not at all costs.
 */
bool watched_code_changed(struct watched *w, uint64_t now_ns);

/*
 * Has its agent noted heap errors that were not there at the call before, or did some come again
 * (looked for once a second at most)? Then its heap, blocks left out, is in *out, the caller's.
 * `last`: there will be no other call, so look at all costs; else rarely where looking is dear.
 */
bool watched_found(struct watched *w, uint64_t now_ns, bool last, struct heap **out);

/*
 * Its heap at the end, or as it is now when it lives, with series and status; the caller's. 0 or
 * -errno with `e`.
 */
int watched_read(struct watched *w, struct heap **out, struct err *e);

/* ledger_at_find() of its ledger; -EAGAIN: it has none yet. */
int watched_block_at(struct watched *w, uint64_t address, struct ledger_at_block *out);

/* Did anything happen in this heap that is worth a capture? */
bool watched_has_events(const struct heap *h);

#endif
