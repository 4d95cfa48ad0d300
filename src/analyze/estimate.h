/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How sure a figure of a sampled capture is.
 *
 * A block of s bytes is sampled with probability p = 1 - exp(-s/R), R the mean distance, and then
 * stands for 1/p blocks. The variance of a sum of such estimates is itself estimated without bias
 * by the sum of s^2 (1-p) / p^2 over the samples (Horvitz and Thompson 1952, for independent
 * draws). Errors here are half-widths of 95 % intervals.
 */
#ifndef ANALYZE_ESTIMATE_H
#define ANALYZE_ESTIMATE_H

#include <stdint.h>

#include "src/model/heap.h"

/* Blocks that a block of this size in the capture stands for: 1 in an exact capture. */
double estimate_weight(const struct heap *h, uint64_t size_bytes);

/* Error of the heap's live bytes, from its sampled live blocks; 0 in an exact capture. */
double estimate_live_error(const struct heap *h);

/* The same for each site, into error_bytes[0..nr_sites). */
void estimate_site_errors(const struct heap *h, double *error_bytes);

/*
 * The nearest number that fits: what is below 0 or not a number gives 0, what is too large
 * INT64_MAX.
 */
uint64_t estimate_round(double x);

#endif
