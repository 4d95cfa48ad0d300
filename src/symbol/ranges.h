/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address ranges that may overlap, each with a number: which is the narrowest around an address?
 */
#ifndef SYMBOL_RANGES_H
#define SYMBOL_RANGES_H

#include <stdint.h>

#include "src/base/vec.h"

struct range {
	uint64_t lo, hi;
	uint64_t reach;		/* highest hi so far in the sorted list */
	uint64_t value;
};

struct ranges {
	VEC(struct range) list;
};

/* Add [lo, hi). Empty ones are skipped. 0 or -ENOMEM. */
int ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t value);

/* To be called after the last ranges_add() and before ranges_find(). */
void ranges_sort(struct ranges *r);

/* The narrowest range around an address, the first of equals. NULL = none. */
const struct range *ranges_find(const struct ranges *r, uint64_t address);

void ranges_fini(struct ranges *r);

#endif
