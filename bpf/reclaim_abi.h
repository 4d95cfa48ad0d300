/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the group reclaim: shrinkers and lists of pages, counted in the kernel. */
#ifndef BPF_RECLAIM_ABI_H
#define BPF_RECLAIM_ABI_H

#include <linux/types.h>

#define RECLAIM_SLOTS	32	/* powers of two of ns: [k] from 2^k, below 2^(k+1); the last: more */

/* reclaim_shrinkers: address of the shrinker's function -> this, for each processor. */
struct reclaim_shrinker {
	__u64 calls, ns;
	__u64 asked;		/* objects it was to look at */
	__u64 freed;		/* by its own count; a huge page that it splits is one */
	__u64 slots[RECLAIM_SLOTS];
};

enum reclaim_list_kind {
	RECLAIM_ANON,
	RECLAIM_FILE,
	RECLAIM_NR_LISTS
};

/* reclaim_lists: enum reclaim_list_kind -> this, for each processor. Pages but for `scans`. */
struct reclaim_list {
	__u64 scans;		/* of the inactive list */
	__u64 scanned, reclaimed;
	__u64 dirty;		/* of the scanned ones: not written yet */
	__u64 writeback;	/* being written */
	__u64 referenced;	/* kept: used since the last look */
	__u64 written;		/* that reclaim itself began to write */
	__u64 active_scanned, deactivated;
};

#endif
