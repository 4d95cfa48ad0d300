/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By how much most lines of a function have moved.
 *
 * All distances between n old and n new lines are found once, n * n of them, and each has how many
 * lines fit. What is matched takes itself off those, so that all distances of a function, one after
 * the other, take n * n * log(n) steps together, whatever the lines are.
 */
#ifndef ANALYZE_DIFF_DIFF_SHIFT_H
#define ANALYZE_DIFF_DIFF_SHIFT_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/vec.h"

/* Of this many different lines of each side at most. */
#define DIFF_SHIFT_LINES	100u

struct diff_shift_number {
	uint32_t number, nr;	/* a line's; how many there are, of earlier heaps as well */
};

struct diff_shift {
	int64_t by;
	uint32_t nr;		/* lines that fit */
};

struct diff_shift_pair {
	int64_t by;
	uint32_t pair;
};

struct diff_shift_rank {
	uint32_t shift, nr;
};

/* All zero: empty. */
struct diff_shifts {
	VEC(struct diff_shift_number) theirs, ours;	/* by number */
	VEC(struct diff_shift) shifts;			/* by distance */
	VEC(uint32_t) of_pair;	/* [theirs * ours.nr + ours]: its number in `shifts` */
	VEC(struct diff_shift_pair) pairs;
	/* a heap of numbers in `shifts`: the best first, by as many as fitted when it was put in */
	VEC(struct diff_shift_rank) ranks;
};

void diff_shifts_fini(struct diff_shifts *s);

/* Begin with the numbers of both sides, each in order; equal ones may be there. 0 or -ENOMEM. */
int diff_shifts_begin(struct diff_shifts *s, const uint32_t *theirs, size_t nr_theirs,
		      const uint32_t *ours, size_t nr_ours);

/*
 * The distance by which most lines fit; of several the shortest; of forward and back the one whose
 * first two lines have the lesser sum, or forward. 0 where none is left.
 */
int64_t diff_shifts_best(struct diff_shifts *s);

/* Take off the lines that fit at a distance. */
void diff_shifts_take(struct diff_shifts *s, int64_t by);

#endif
