/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifetimes: sums and quantiles of log2 histograms.
 */
#include "src/analyze/lifetimes.h"

#include <string.h>

uint64_t lifetimes_sum(const struct heap *h, uint64_t sum[HEAP_NR_LIFETIMES])
{
	uint64_t all = 0;

	memset(sum, 0, HEAP_NR_LIFETIMES * sizeof(*sum));
	for (uint32_t i = 0; i < h->nr_sites; i++)
		for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++)
			sum[k] += heap_lifetime(h, &h->sites[i], k);
	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++)
		all += sum[k];
	return all;
}

uint64_t lifetime_from_ns(const struct heap *h, unsigned bucket)
{
	if (bucket == 0)
		return 0;
	if (bucket >= HEAP_NR_LIFETIMES)
		return UINT64_MAX;
	return h->tick_ns << (bucket - 1);
}

unsigned lifetime_quantile(const uint64_t lifetime[HEAP_NR_LIFETIMES], unsigned percent)
{
	uint64_t all = 0;
	double seen = 0;

	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++)
		all += lifetime[k];
	if (!all)
		return HEAP_NR_LIFETIMES;
	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++) {
		seen += (double)lifetime[k];
		if (seen * 100 >= (double)all * percent)
			return k;
	}
	return HEAP_NR_LIFETIMES - 1;
}

void lifetime_range(const struct heap *h, const struct heap_site *s, struct lifetime_range *out)
{
	uint64_t known_ns = h->taken_ns > s->first_ns ? h->taken_ns - s->first_ns : 0;
	double from = 0, to = 0;

	*out = (struct lifetime_range){ 0 };
	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++) {
		uint64_t least = lifetime_from_ns(h, k), most = lifetime_from_ns(h, k + 1);
		const uint64_t nr = heap_lifetime(h, s, k);

		if (!nr)
			continue;
		if (most > known_ns)
			most = known_ns > least ? known_ns : least;
		if (!out->nr) {
			out->min.from_ns = least;
			out->min.to_ns = most;
		}
		out->max.from_ns = least;
		out->max.to_ns = most;
		out->nr += nr;
		from += (double)nr * (double)least;
		to += (double)nr * (double)most;
	}
	if (!out->nr)
		return;
	out->mean.from_ns = (uint64_t)(from / (double)out->nr);
	out->mean.to_ns = (uint64_t)(to / (double)out->nr);
}
