/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A root for the blocks of each call site, where that is cheap to know: for reports that tell of
 * many sites at once.
 */
#ifndef ANALYZE_REACH_HOLD_FIRST_H
#define ANALYZE_REACH_HOLD_FIRST_H

#include "src/analyze/reach/reach.h"

/* Where a pointer is that one block of a site hangs on. All zero = not known. */
struct hold_first {
	uint64_t at;			/* address; of a register 0 */
	uint32_t thread;		/* stacks, registers; else 0 */
	uint8_t kind;			/* 1 + enum memory_kind; 0 = not known */
};

/*
 * By site; needs classes with parents. Where roots have more than `most_bytes` nothing is looked
 * for. NULL = nothing is known, or memory ran out. free() it.
 */
struct hold_first *hold_first(const struct heap *h, const struct memory *m, const struct reach *r,
			      uint64_t most_bytes);

#endif
