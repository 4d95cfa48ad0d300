/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the truth of readers_victim (readers_truth.h) is before a reader of its ledger begins, and
 * when it has ended.
 */
#ifndef TESTS_PROG_READERS_MOMENT_H
#define TESTS_PROG_READERS_MOMENT_H

#include "src/ledger/ledger_map.h"
#include "tests/prog/readers_truth.h"

#define READERS_FLIGHTS	(READERS_WORKERS + READERS_LEFT)

/* The truth at some time, copied while it changes. */
struct readers_moment {
	uint64_t nr_logged[READERS_WORKERS];
	struct readers_slot slot[READERS_SLOTS];
	struct readers_flight flight[READERS_FLIGHTS];
	unsigned nr_flights, nr_left;
	struct readers_sums sums[READERS_GROUPS], worker[READERS_WORKERS];	/* done, or begun */
	uint64_t sure_peak, perhaps_peak;
	uint64_t total;			/* the ledger's, as it is there */
};

/* To be called before a reader begins, and when it has ended. */
void readers_before(const struct readers_truth *t, struct ledger_map *map,
		    struct readers_moment *m);
void readers_after(const struct readers_truth *t, struct ledger_map *map, struct readers_moment *m);

void readers_add_sums(struct readers_sums *to, const struct readers_sums *from);

#endif
