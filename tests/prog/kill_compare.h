/* SPDX-License-Identifier: GPL-2.0-or-later
 * The truth of kill_victim (kill_truth.h) and what pmm has recorded, compared.
 */
#ifndef TESTS_PROG_KILL_COMPARE_H
#define TESTS_PROG_KILL_COMPARE_H

#include "src/model/heap.h"
#include "tests/prog/kill_truth.h"

struct kill_figures {
	uint64_t events, blocks, flights;	/* flights: operations under way */
	uint64_t half;		/* of them, where bytes and counts of a group tell that the record was half changed */
};

/*
 * Blocks, sums of each group, kinds, threads and the peak: exact but for operations under way, each of which is in a figure or is not. Adds to
 * *f. Returns how many figures are wrong; the first ones are printed.
 */
unsigned kill_compare(const struct kill_truth *truth, const struct heap *h, struct kill_figures *f);

#endif
