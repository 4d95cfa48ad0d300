/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing: series of the heap, of its sites, and of frees that tell nothing but their number.
 */
#include "src/analyze/growing.h"

#include <errno.h>

#define TURNOVER	0.5	/* unknown blocks freed per block that a site grew by */

static uint64_t key_of(const struct heap *h, uint32_t site)
{
	return h->sites[site].number ? h->sites[site].number : 1ull << 32 | site;
}

int growing_totals(struct growing *g, uint64_t time_ns, uint64_t live_bytes, uint64_t live_blocks,
		   uint64_t untracked_frees)
{
	double mean = live_blocks ? (double)live_bytes / (double)live_blocks : 0;
	int rc = growth_add(&g->heap, time_ns, (double)live_bytes - mean * (double)untracked_frees);

	return rc ? rc : growth_add(&g->gone, time_ns, (double)untracked_frees);
}

int growing_add(struct growing *g, const struct heap *h, uint32_t site, uint64_t time_ns,
		double live_bytes)
{
	uint32_t *i = hash_find(&g->by_site, key_of(h, site));
	int rc;

	if (i)
		return growth_add(&g->sites.v[*i], time_ns, live_bytes);
	if (live_bytes <= 0)
		return 0;
	if (g->sites.nr >= GROWING_MAX_SITES) {
		g->nr_left_out++;
		return 0;
	}
	rc = vec_reserve(&g->sites, g->sites.nr + 1);
	if (!rc)
		rc = hash_put(&g->by_site, key_of(h, site), (uint32_t)g->sites.nr);
	if (!rc)
		rc = vec_push(&g->sites, (struct growth_series){ 0 });
	return rc ? rc : growth_add(vec_last(&g->sites), time_ns, live_bytes);
}

int growing_look(struct growing *g, const struct heap *h)
{
	int rc = 0;

	g->nr_left_out = 0;
	for (uint32_t i = 0; !rc && i < h->nr_sites; i++)
		rc = growing_add(g, h, i, h->taken_ns, (double)h->sites[i].live_bytes);
	return rc;
}

int growing_judge(const struct growing *g, struct growth *out)
{
	return growth_judge(&g->heap, out);
}

/* A series' value about a time. */
static double value_at(const struct growth_series *s, uint64_t time_ns)
{
	double value = s->points.nr ? s->points.v[0].bytes : 0;

	vec_each(&s->points, p)
		if (p->time_ns <= time_ns)
			value = p->bytes;
	return value;
}

int growing_judge_site(const struct growing *g, const struct heap *h, uint32_t site,
		       struct growth *out)
{
	const struct heap_site *s = &h->sites[site];
	uint32_t *i = hash_find(&g->by_site, key_of(h, site));
	double mean, grown, gone;
	int rc;

	*out = (struct growth){ 0 };
	if (!i || s->live_blocks <= 0 || s->live_bytes <= 0)
		return 0;
	rc = growth_judge(&g->sites.v[*i], out);
	if (rc || out->verdict != GROWTH_STEADY)
		return rc;
	mean = (double)s->live_bytes / (double)s->live_blocks;
	grown = out->slope * (double)(out->until_ns - out->since_ns) / 1e9 / mean;
	gone = value_at(&g->gone, out->until_ns) - value_at(&g->gone, out->since_ns);
	if (gone < TURNOVER * grown)
		return 0;
	out->verdict = GROWTH_NONE;
	out->reason = GROWTH_TURNOVER;
	return 0;
}

void growing_fini(struct growing *g)
{
	growth_fini(&g->heap);
	growth_fini(&g->gone);
	vec_each(&g->sites, s)
		growth_fini(s);
	vec_fini(&g->sites);
	hash_fini(&g->by_site);
}
