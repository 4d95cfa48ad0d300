/*
 * How long freed blocks lived: histograms with doubling buckets.
 */
#ifndef ANALYZE_LIFETIMES_H
#define ANALYZE_LIFETIMES_H

#include <stdint.h>

#include "src/model/heap.h"

/* Sum over all heap sites into sum[HEAP_NR_LIFETIMES]; the number of blocks in it. */
uint64_t lifetimes_sum(const struct heap *h, uint64_t sum[HEAP_NR_LIFETIMES]);

/* Shortest lifetime in a bucket, in ns; the bucket after the last gives UINT64_MAX. */
uint64_t lifetime_from_ns(const struct heap *h, unsigned bucket);

/* The bucket that `percent` of the blocks reach at most; HEAP_NR_LIFETIMES when there are none. */
unsigned lifetime_quantile(const uint64_t lifetime[HEAP_NR_LIFETIMES], unsigned percent);

#endif
