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

#endif
