/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process holds of its heap, by call site, beside the look before: the rows of class `heap`,
 * which has the columns of class `kernel`.
 */
#ifndef ANALYZE_TRACE_HEAP_ROWS_H
#define ANALYZE_TRACE_HEAP_ROWS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

struct heap_site_sum {
	uint32_t site;			/* index into sites */
	uint64_t bytes, objects;
	int64_t grown_bytes, grown_objects;	/* since the look before */
	uint64_t old_bytes, old_objects;
	uint64_t allocated, freed;
};

/* All zero is empty: nothing was there at the look before. */
struct heap_rows {
	VEC(struct heap_site_sum) rows;	/* most bytes first */
	struct heap_site_sum all;	/* .site means nothing */
	struct hash_map before_at;	/* site number -> index into before */
	VEC(struct heap_site_sum) before;
};

/*
 * Make the rows of a heap: each site that holds something or has changed. Blocks born before
 * `old_before_ns` (on the heap's axis; 0: not asked for) count as old; the heap must have its
 * blocks then. Sites below min_bytes are in the sums alone. 0 or -ENOMEM.
 */
int heap_rows_look(struct heap_rows *r, const struct heap *h, uint64_t old_before_ns,
		   uint64_t min_bytes);

void heap_rows_fini(struct heap_rows *r);

#endif
