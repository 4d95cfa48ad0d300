/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long freed blocks lived: histograms with doubling buckets.
 */
#ifndef ANALYZE_LIFETIMES_H
#define ANALYZE_LIFETIMES_H

#include <stdint.h>

#include "src/model/heap_lifetimes.h"

/* Sum over all heap sites into sum[HEAP_NR_LIFETIMES]; the number of blocks in it. */
uint64_t lifetimes_sum(const struct heap *h, uint64_t sum[HEAP_NR_LIFETIMES]);

/* Shortest lifetime in a bucket, in ns; the bucket after the last gives UINT64_MAX. */
uint64_t lifetime_from_ns(const struct heap *h, unsigned bucket);

/*
 * How long freed blocks lived, as far as buckets tell: each value is at least `from` and at most
 * `to`.
 */
struct lifetime_range {
	uint64_t nr; /* blocks that it is about; 0: the rest is 0 */
	struct {
		uint64_t from_ns, to_ns;
	} min, mean, max;
};

/* Of one site's freed blocks. None can have lived for longer than its site has been known. */
void lifetime_range(const struct heap *h, const struct heap_site *s, struct lifetime_range *out);

/* The bucket that `percent` of the blocks reach at most; HEAP_NR_LIFETIMES when there are none. */
unsigned lifetime_quantile(const uint64_t lifetime[HEAP_NR_LIFETIMES], unsigned percent);

#endif
