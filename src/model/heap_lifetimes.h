/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the blocks of a call site lived that were freed.
 *
 * There may be millions of sites, and most have none but blocks that were freed within a tick. What
 * was freed later is in a row of its own, which only sites that need it have.
 */
#ifndef MODEL_HEAP_LIFETIMES_H
#define MODEL_HEAP_LIFETIMES_H

#include "src/model/heap.h"

#define HEAP_NR_LIFETIMES	24	/* bucket 0: under tick_ns; k: [2^(k-1), 2^k) * tick_ns */

struct heap_lifetimes {
	uint64_t frees[HEAP_NR_LIFETIMES];	/* [0] is 0 */
};

/* How many of a site's blocks were freed with a lifetime of that bucket. */
static inline uint64_t heap_lifetime(const struct heap *h, const struct heap_site *s, unsigned k)
{
	if (!k)
		return s->at_once;
	return s->lifetimes ? h->lifetimes[s->lifetimes - 1].frees[k] : 0;
}

/* All of them. */
void heap_lifetimes_get(const struct heap *h, const struct heap_site *s,
			uint64_t to[HEAP_NR_LIFETIMES]);

/*
 * Where those of a bucket are counted, until the next call. NULL: no memory for a row, which the
 * site has not had yet.
 */
uint64_t *heap_lifetime_at(struct heap *h, struct heap_site *s, unsigned k);

#endif
