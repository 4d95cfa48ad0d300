/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers into blocks that are a program's habit: a header before what it keeps a pointer to, and
 * pools that are cut into parts.
 *
 * While pointers are followed, each one into the middle of a block that is not reached otherwise is
 * noted: the lowest offset, and a set of bits for the offsets that there are. What is noted is the
 * same in whatever order pointers are met. When all are followed,
 *     header  several blocks of one site, or those of several sites, are pointed to at one and the
 *             same small offset each: the program keeps pointers to what is behind a header
 *             (Python's objects, strings with a length)
 *     pool    a large block is pointed to at several places: its parts are in use (an allocator of
 *             the program's own)
 * A number that looks like a pointer, or a pointer that was left behind, hits one block at any
 * offset, and is none of it.
 */
#ifndef ANALYZE_REACH_REACH_HABIT_H
#define ANALYZE_REACH_REACH_HABIT_H

#include "src/analyze/reach/reach.h"
#include "src/analyze/reach/reach_space.h"

#define HABIT_MAX_HEADER	256	/* bytes */
#define HABIT_SITE_BLOCKS	8	/* of one site with a header of that size */
/* that have blocks with a header of that size, and none with another */
#define HABIT_SITES		5
#define HABIT_POOL_PLACES	4	/* pointed to; offsets that are multiples of 8 */
#define HABIT_POOL_BYTES	512

struct reach_note {
	/* offset + 1 of the lowest pointer into its middle; 0 = there is none */
	uint32_t low;
	uint32_t places;	/* bit by hash of the offset */
};

struct reach_habits {
	struct reach_note *notes;	/* by block; NULL = nothing is noted */
	uint64_t nr;
};

/* `nr` blocks, nothing noted yet. 0 or -ENOMEM. */
int reach_habits_init(struct reach_habits *x, uint64_t nr, struct reach_space *space);
void reach_habits_fini(struct reach_habits *x, struct reach_space *space);

/* There is a pointer into a block's middle. From all threads. */
static inline void reach_note(struct reach_habits *x, uint32_t block, uint32_t offset)
{
	struct reach_note *n;
	uint32_t low, bit;

	if (!x->notes || !offset || offset == UINT32_MAX)
		return;
	n = &x->notes[block];
	bit = (uint32_t)1 << (offset * 0x9e3779b1u >> 27);
	if (!(__atomic_load_n(&n->places, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&n->places, bit, __ATOMIC_RELAXED);
	low = __atomic_load_n(&n->low, __ATOMIC_RELAXED);
	while ((!low || offset + 1 < low) &&
	       !__atomic_compare_exchange_n(&n->low, &low, offset + 1, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/*
 * The blocks of class REACH_POSSIBLE that a habit (of the heuristics asked for) explains, by index,
 * into r->habits. 0 or -ENOMEM. Serial.
 */
int reach_habits_judge(const struct reach_habits *x, const struct heap_block *blocks,
		       unsigned heuristics, struct reach *r);

#endif
