/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What could not be charged to its stack, in words: it comes before all figures.
 */
#ifndef VIEW_LOST_H
#define VIEW_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/model/heap.h"

/* What PMM_OFF_NO_CHILDREN means. */
#define CONFINED_CHILDREN                                                                          \
	"the program put itself under seccomp, and its filter does not allow what a ledger "       \
	"takes: processes that it began "                                                          \
	"since, and programs that it or they executed, are not tracked"

/* Do the figures lack stacks or blocks for want of room? */
bool lost_any(const struct heap *h);

/*
 * Allocations that are charged to '[stack unknown]' for want of room (0: other events only), and
 * the sentence that says so.
 */
uint64_t lost_stacks(const struct heap *h);
void lost_stacks_text(const struct heap *h, struct str *to);

/* Who reads what follows: a report of many lines, or the summary at the end of a run. */
enum lost_reader { LOST_REPORT, LOST_SUMMARY, LOST_NR_READERS };

/*
 * What `count` events of a kind that was dropped were, and why: "3 blocks were not recorded: ...".
 * Not of PMM_DROP_SITE_FULL, which is lost_stacks_text()'s. `confined`: the process's own filter
 * kept the ledger from growing, which is said elsewhere.
 */
void lost_drop_text(struct str *to, unsigned drop, uint64_t count, bool confined,
		    enum lost_reader reader);

/* JSON's word for a kind of drop: "blocks_dropped". */
const char *lost_drop_code(unsigned drop);

/* Why tracking turned itself off (enum pmm_off_reason); NULL: not known, or not in a few words. */
const char *lost_off_text(unsigned reason, enum lost_reader reader);

#endif
