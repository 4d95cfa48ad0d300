/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a reader of the ledger of readers_victim has read, compared with the victim's own truth (readers_truth.h) of before and after.
 */
#ifndef TESTS_PROG_READERS_COMPARE_H
#define TESTS_PROG_READERS_COMPARE_H

#include <stdbool.h>

#include "src/ledger/ledger_heap.h"
#include "src/model/heap.h"
#include "tests/prog/readers_moment.h"

/* A case: a victim from its start on. What others than its groups hold does not change, but where threads come and go. */
struct readers_case {
	struct readers_truth *truth;
	struct ledger_map *map;
	bool signals;
	bool has_base;			/* of others: known since the first look while all were parked */
	struct readers_sums base;
	uint64_t base_calls[HEAP_NR_KINDS], base_maps;
	struct ledger_totals last;	/* the last ones read */
	unsigned wrong;			/* so far; the first ones are printed */
	/* what was compared, so that a test can see that it was */
	uint64_t nr_certain, nr_listed, nr_overrun, nr_peaks, nr_flights;
};

/* still: all threads were parked meanwhile. Blocks are compared unless it was read without. */
void readers_compare_heap(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after,
			  bool still);
void readers_compare_blocks(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after);
void readers_compare_totals(struct readers_case *c, const struct ledger_totals *t, const struct readers_moment *before,
			    const struct readers_moment *after);

/* `h` was read later, to know whose groups the sites are. */
void readers_compare_top(struct readers_case *c, const struct ledger_top_site *top, unsigned nr, const struct heap *h,
			 const struct readers_moment *before, const struct readers_moment *after);

#endif
