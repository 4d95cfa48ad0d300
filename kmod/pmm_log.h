/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of one process: what it has requested and not freed, oldest first.
 *
 * An entry is found by its pointer in a hash table that grows with the log, so that taking one in
 * and out costs the same in a log of any length. The caller locks; entries of all logs together are
 * counted atomically.
 */
#ifndef KMOD_PMM_LOG_H
#define KMOD_PMM_LOG_H

#include "pmm_os.h"
#include "pmm_sites.h"

#define PMM_LOG_NR_FREED	256	/* pointers freed last that are known, at most */
#define PMM_LOG_NR_SPARES	16	/* entries kept for the next ones, at most */
#define PMM_LOG_NR_WRONG	8	/* wrong frees that are shown */

/* Of all logs; changed while they are used. */
struct pmm_log_limits {
	u64 entries_per_process, entries_in_all;
	atomic_long_t entries;		/* there are */
};

/* On the log's list are entries and cursors. */
struct pmm_log_item {
	struct list_head list;
	bool is_cursor;
};

struct pmm_log_entry {
	struct pmm_log_item item;
	struct hlist_node node;
	struct pmm_site *site;		/* NULL: not known */
	u64 pointer, bytes, prev, caller, time_ns;
	u32 tid;
	u16 kind;			/* enum pmm_kmod_kind */
};

/* A request, checked: kind and pointer are valid. */
struct pmm_log_request {
	struct pmm_site *site;
	u64 pointer, bytes, prev, caller, time_ns;
	u32 tid;
	u16 kind, flags;
};

/* A free that matched nothing. */
struct pmm_log_wrong {
	struct pmm_site *site;
	u64 pointer, caller, time_ns;
	bool twice;			/* what it frees was freed shortly before */
};

/*
 * At any time
 *	allocations = entries of the log + frees + replaced + evicted + over_limit + no_memory
 *	allocated_bytes = bytes of these entries + freed_bytes + lost_bytes
 * Each allocation is outstanding, was freed, or is lost: its pointer was handed out again, its
 * entry gave way to others, or it never had one. What of a mapping was unmapped is freed.
 */
struct pmm_log_counts {
	u64 allocations, frees;
	u64 allocated_bytes, freed_bytes, lost_bytes;
	u64 peak_entries, peak_bytes;	/* the most that were outstanding, each by itself */
	u64 double_frees, foreign_frees;
	u64 evicted_frees;		/* maybe of what was evicted: at most as many as these */
	u64 replaced, evicted, over_limit, no_memory, bad, sites_lost;
};

struct pmm_log {
	struct pmm_log_limits *limits;
	struct hlist_head *buckets;
	u32 bits;
	u64 seed;			/* of the hash: pointers cannot be chosen to collide */
	u64 hashed;			/* the pointer hashed last; 0, no pointer: none yet */
	u32 hash;			/* of it */
	u64 grow_at;			/* so many entries need a larger table */
	u64 entries, bytes;
	bool nowait;			/* memory that takes waiting for is none; its user's */
	struct list_head items;
	struct pmm_log_entry *spares[PMM_LOG_NR_SPARES];
	u32 nr_spares;
	struct pmm_sites sites;
	struct pmm_log_counts counts;
	/* what was freed last, by hash: the pointer, or 0 */
	u64 freed[PMM_LOG_NR_FREED];
	/* those counted last: [i % PMM_LOG_NR_WRONG] */
	struct pmm_log_wrong wrong[PMM_LOG_NR_WRONG];
	u64 nr_wrong;
};

/* A place in a log at which reading goes on, whatever comes and goes. */
struct pmm_log_cursor {
	struct pmm_log_item item;
};

/* `seed` is random. */
void pmm_log_init(struct pmm_log *log, struct pmm_log_limits *limits, u64 seed);

/*
 * Take all entries and figures out. Places stay, since the program goes on using their numbers.
 * Cursors stay as well, before all that comes.
 */
void pmm_log_empty(struct pmm_log *log);

/* The same with the places, for another program or the end. */
void pmm_log_clear(struct pmm_log *log);

/* 0: kind and pointers make sense; -EINVAL */
int pmm_log_check(const struct pmm_log_request *r);

/*
 * Enter a request that pmm_log_check() takes. What could not be entered is counted. Where there is
 * no memory for an entry, the oldest ones give way: this one, and some more for the next.
 */
void pmm_log_enter(struct pmm_log *log, const struct pmm_log_request *r);

/* There are a table and memory for the entry of an allocation: nothing will give way for that. */
bool pmm_log_ready(struct pmm_log *log);

/*
 * Memory is short: the oldest entries go, at most `most`, and all else that gives way. How many.
 */
u64 pmm_log_evict(struct pmm_log *log, u64 most);

/* Put a cursor that is in no log before the first entry. */
void pmm_cursor_begin(struct pmm_log_cursor *c, struct pmm_log *log);
/* The entry behind the cursor, NULL: none. */
struct pmm_log_entry *pmm_cursor_look(struct pmm_log_cursor *c, struct pmm_log *log);
/* Go past an entry that pmm_cursor_look() gave. */
void pmm_cursor_pass(struct pmm_log_cursor *c, struct pmm_log_entry *entry);
/* Take a cursor out; one that was never put in has to be all zeros. */
void pmm_cursor_end(struct pmm_log_cursor *c);

#endif
