/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap over time: the sampled series completed with what is known exactly, its highest point
 * and its end.
 */
#ifndef ANALYZE_HISTORY_H
#define ANALYZE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "src/model/heap.h"

struct history {
	struct heap_point *point; /* in order of time */
	size_t nr;
	size_t peak; /* which one is the highest */
};

/*
 * Begins with nothing at the start of tracking. At the peak only live_bytes and time are known:
 * live_blocks and allocs are 0 there. 0 or -ENOMEM.
 */
int history_init(struct history *out, const struct heap *h);

void history_fini(struct history *y);

/* Composition of the peak. */
struct peak {
	uint64_t bytes, time_ns; /* the highest total, when */
	uint64_t sites_bytes;	 /* what the sites' shares add up to */
	uint64_t sites_blocks;
	uint32_t nr_sites; /* sites that held something then */
};

void peak_sum(const struct heap *h, struct peak *out);

#endif
