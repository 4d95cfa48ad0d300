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
			sum[k] += h->sites[i].lifetime[k];
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
