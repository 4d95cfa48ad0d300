/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What grows in a process that is watched since some moment of its life: the heap as a whole, and
 * each call site.
 *
 * Blocks from before that moment are unknown, so a heap that only replaces old blocks by new ones
 * seems to grow until the old ones are used up. Their frees are counted, though. For the whole each
 * is taken for a block of mean size and subtracted; a site that grows while at least half as many
 * unknown blocks are freed anywhere is not said to.
 */
#ifndef ANALYZE_GROWING_H
#define ANALYZE_GROWING_H

#include "src/analyze/growth.h"
#include "src/base/hash.h"
#include "src/model/heap.h"

#define GROWING_MAX_SITES 4096		/* followed; 3 KiB each */

/* All zero is empty. */
struct growing {
	struct growth_series heap;	/* live bytes less what may have replaced unknown blocks */
	struct growth_series gone;	/* frees of unknown blocks so far */
	struct hash_map by_site;	/* heap_site.number -> index into sites */
	VEC(struct growth_series) sites;
	uint64_t nr_left_out;		/* sites that were too many, at the last look */
};

/* Add totals, at rising times. 0 or -ENOMEM. */
int growing_totals(struct growing *g, uint64_t time_ns, uint64_t live_bytes, uint64_t live_blocks,
		   uint64_t untracked_frees);

/* Add a snapshot's sites. 0 or -ENOMEM. */
int growing_look(struct growing *g, const struct heap *h);

/* Add what a site of a heap held at a time, at rising times for each. 0 or -ENOMEM. */
int growing_add(struct growing *g, const struct heap *h, uint32_t site, uint64_t time_ns,
		double live_bytes);

/*
 * What one heap shows of its past: the series it holds; and of a site without one that gave back
 * next to nothing (one block in twenty), the births of its live blocks. `g` is empty before. 0 or
 * -ENOMEM.
 */
int growing_past(struct growing *g, const struct heap *h);

/* The verdict on the whole heap. 0 or -ENOMEM. */
int growing_judge(const struct growing *g, struct growth *out);

/* On a site of the heap looked at last. 0 or -ENOMEM. */
int growing_judge_site(const struct growing *g, const struct heap *h, uint32_t site,
		       struct growth *out);

void growing_fini(struct growing *g);

#endif
