/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of sampled figures: sums of the variance each sampled block adds.
 */
#include "src/analyze/estimate.h"

#include <math.h>

#include "src/base/real.h"

#define Z95 1.959964 /* two-sided 95 % of the normal distribution */
/* -ln(0.05): of so many times the distance between samples none is met in 5 % of cases */
#define NONE95 2.995732

static double probability(const struct heap *h, uint64_t size_bytes)
{
	uint64_t s = size_bytes ? size_bytes : 1; /* the agent samples empty blocks as one byte */

	return real_any((double)s / (double)h->sample_bytes);
}

static bool sampled(const struct heap *h)
{
	return h->mode == HEAP_SAMPLED && h->sample_bytes > 0;
}

double estimate_weight(const struct heap *h, uint64_t size_bytes)
{
	return sampled(h) ? 1 / probability(h, size_bytes) : 1;
}

static double variance(const struct heap *h, uint64_t size_bytes)
{
	double p = probability(h, size_bytes);
	double s = (double)size_bytes;

	return s * s * (1 - p) / (p * p);
}

/*
 * Of a site whose blocks are not known one by one: its samples (of other tools' profiles) have the
 * mean size.
 */
static double site_variance(const struct heap *h, const struct heap_site *s)
{
	if (s->live_blocks <= 0 || s->live_bytes <= 0)
		return 0;
	return (double)(s->samples_in - s->samples_out) *
	       variance(h, (uint64_t)(s->live_bytes / s->live_blocks));
}

static double variance_without_blocks(const struct heap *h)
{
	double sum = 0;

	for (uint32_t i = 0; h->import.tool && i < h->nr_sites; i++)
		sum += site_variance(h, &h->sites[i]);
	return sum;
}

double estimate_live_error(const struct heap *h)
{
	double sum;

	if (!sampled(h))
		return 0;
	sum = variance_without_blocks(h);
	if (!h->live_blocks && !h->nr_blocks)
		return NONE95 * (double)h->sample_bytes;
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		sum += variance(h, h->blocks[i].size_bytes);
	return Z95 * sqrt(sum);
}

void estimate_site_errors(const struct heap *h, double *error_bytes)
{
	for (uint32_t i = 0; i < h->nr_sites; i++)
		error_bytes[i] = sampled(h) && h->import.tool ? site_variance(h, &h->sites[i]) : 0;
	if (!sampled(h))
		return;
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		error_bytes[h->blocks[i].site] += variance(h, h->blocks[i].size_bytes);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		error_bytes[i] = Z95 * sqrt(error_bytes[i]);
}

uint64_t estimate_round(double x)
{
	if (!(x > 0))
		return 0;
	return x < 9.2e18 ? (uint64_t)(x + 0.5) : INT64_MAX;
}
