/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger (include/pmm/ledger.h) read into a heap (src/model/heap.h), and the cheap looks at it
 * while it runs.
 */
#ifndef LEDGER_LEDGER_HEAP_H
#define LEDGER_LEDGER_HEAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/ledger/ledger_map.h"
#include "src/model/heap.h"

/* The block tables as they were at one moment (precopy.h): mids, leaves and the words in them. */
struct ledger_frozen {
	const unsigned char *arena;	/* copy of the arena as far as block tables are there ... */
	uint64_t arena_off;		/* ... from this offset in the slot on */
	uint64_t bytes;
	struct pmm_table table[PMM_NR_TABLES];
	const pmm_ref *guard_dir;	/* [PMM_MAX_GUARDS >> PMM_GUARD_SHIFT] of that moment */
	uint32_t tick;			/* that moment */
};

/* A thread that was seen in /proc: its number as it knows it itself, when last, its name then. */
struct ledger_seen {
	uint32_t tid;
	char name[17];
	uint64_t seen_ns;
};

struct ledger_options {
	bool running;			/* it continues: retry what changes, look into /proc */
	/*
	 * the kernel's figures of it now, by its pid: once, as the kernel goes through all its page
	 * tables for them
	 */
	bool usage;
	bool no_blocks;			/* blocks and mappings are left out: what costs most */
	pid_t pid;			/* as we see it; 0 = not known, heap.pid is the ledger's */
	const struct heap_point *points;	/* series, copied into the heap */
	const struct heap_site_point *site_points;	/* .site by the ledger's numbers */
	uint32_t nr_points, nr_site_points;
	/* threads that were seen, by tid; those seen at `seen_ns` were all there were then */
	const struct ledger_seen *seen;
	uint32_t nr_seen;
	uint64_t seen_ns;
	/* blocks are read from there; NULL = from the ledger */
	const struct ledger_frozen *frozen;
	uint64_t *damaged;		/* may be NULL: how many things made no sense */
};

/*
 * Read the whole ledger. *out is the caller's (heap_free()). heap.end is HEAP_EXITED (status -1),
 * HEAP_REPLACED or HEAP_RUNNING as the ledger says; a caller that knows more sets end, end_status
 * and taken_ns afterwards. Damage is left out and counted. 0 or -errno with `e`: -EBADMSG when
 * nothing can be believed, -EFBIG it takes more than m->max_bytes, -ENOMEM.
 */
int ledger_read(struct ledger_map *m, const struct ledger_options *o, struct heap **out,
		struct err *e);

/* Only what the process and its allocator are called. 0, -EBADMSG, -ENOMEM. */
int ledger_read_names(struct ledger_map *m, struct heap *h);

/*
 * The address in code of the C library or the program whose frame the agent's hooks stand behind
 * (pmm_ledger.hook_pc): in stacks it stands for nothing the program did. 0: there is none.
 */
uint64_t ledger_hook_pc(struct ledger_map *m);

/* When recording began, on the tree's clock. */
uint64_t ledger_began_ns(struct ledger_map *m);

/* Sums over contexts only; heap events, no mappings. */
struct ledger_totals {
	uint64_t time_ns;		/* the tree's clock */
	uint64_t live_bytes, live_blocks;
	uint64_t allocs, frees, bytes_in, bytes_out;
	uint64_t untracked_frees, skipped_allocs, temporary;
};

/* A few microseconds. 0 or -errno. */
int ledger_totals(struct ledger_map *m, struct ledger_totals *t);

/*
 * The same with no time (0): as the clock of the tree is a system call away.
 */
int ledger_totals_untimed(struct ledger_map *m, struct ledger_totals *t);

/*
 * Heap errors noted so far, complete or not; and how often complete ones were met, which takes
 * longer (`count` may be NULL). 0 where they are not looked for.
 */
uint32_t ledger_findings(struct ledger_map *m, uint64_t *count);

struct ledger_top_site {
	uint32_t site;			/* the ledger's number */
	int64_t live_bytes, live_blocks;
};

/* Remembers where the records are, so that each look reads only their counters. */
struct ledger_top;

/* For one ledger, which must outlive it. NULL when out of memory. */
struct ledger_top *ledger_top_new(struct ledger_map *m);
void ledger_top_free(struct ledger_top *t);

/*
 * The `n` heap sites with the most live bytes, largest first, into top[]. Their number, at most n,
 * or -ENOMEM.
 */
int ledger_top_sites(struct ledger_top *t, struct ledger_top_site *top, unsigned n);

/* What a site held at the last look, as ledger_top_sites() had it; nothing of one not known. */
struct ledger_top_site ledger_top_of(const struct ledger_top *t, uint32_t site);

#endif
