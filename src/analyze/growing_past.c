/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growth from a single heap: out of the series that a capture holds, and out of births. What a site
 * held over time is known from the births of its live blocks alone if it frees nothing; where it
 * frees next to nothing the error is as small.
 */
#include "src/analyze/growing.h"

#include <errno.h>
#include <stdlib.h>

#define BINS		64	/* looks that births are made into */
#define MAX_FREED	20	/* one block and one byte in so many may have been freed */

/* ---- series ---- */

/* Frees of unknown blocks over time are not in a series: as if they had come evenly. */
static uint64_t gone_until(const struct heap *h, uint64_t time_ns)
{
	uint64_t from = h->attach_ns, to = h->taken_ns;

	if (time_ns <= from || to <= from)
		return 0;
	if (time_ns >= to)
		return h->untracked_frees;
	return (uint64_t)((unsigned __int128)h->untracked_frees * (time_ns - from) / (to - from));
}

/*
 * Without a series, so many looks at what is known of them. Where pmm was there from the beginning,
 * they are blocks that it left out.
 */
static int add_gone(struct growing *g, const struct heap *h)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i <= BINS && h->taken_ns > h->attach_ns; i++) {
		uint64_t time_ns = h->attach_ns + (h->taken_ns - h->attach_ns) / BINS * i;

		rc = growth_add(&g->gone, time_ns, (double)gone_until(h, time_ns));
	}
	return rc;
}

static int add_series(struct growing *g, const struct heap *h, const uint32_t *nr_points)
{
	int rc = h->nr_points || h->began == HEAP_BEGAN_EXEC ? 0 : add_gone(g, h);

	for (uint32_t i = 0; !rc && i < h->nr_points; i++) {
		const struct heap_point *p = &h->points[i];

		rc = growing_totals(g, p->time_ns, p->live_bytes, p->live_blocks,
				    gone_until(h, p->time_ns));
	}
	for (uint32_t i = 0; !rc && i < h->nr_site_points; i++) {
		const struct heap_site_point *p = &h->site_points[i];

		if (nr_points[p->site] >= GROWTH_MIN_POINTS)	/* else births may serve */
			rc = growing_add(g, h, p->site, p->time_ns, (double)p->live_bytes);
	}
	return rc;
}

/* ---- births ---- */

/*
 * Does the way its live blocks were born tell what the site held? Long enough to be judged, next to
 * nothing freed, no series.
 */
static bool births_tell(const struct heap *h, const uint32_t *nr_points, uint32_t site)
{
	const struct heap_site *s = &h->sites[site];

	if (h->mode == HEAP_SAMPLED && s->samples_in - s->samples_out < GROWTH_MIN_POINTS)
		return false;
	return s->live_blocks >= GROWTH_MIN_POINTS && s->live_bytes > 0 &&
	       nr_points[site] < GROWTH_MIN_POINTS &&
	       s->frees <= (uint64_t)s->live_blocks / MAX_FREED &&
	       s->bytes_out <= (uint64_t)s->live_bytes / MAX_FREED && h->taken_ns > s->first_ns &&
	       h->taken_ns - s->first_ns >= GROWTH_MIN_NS;
}

static unsigned bin_of(const struct heap *h, const struct heap_site *s, uint64_t birth_ns)
{
	uint64_t age = birth_ns > s->first_ns ? birth_ns - s->first_ns : 0;
	double bin = (double)age / (double)(h->taken_ns - s->first_ns) * BINS;

	return bin < BINS ? (unsigned)bin : BINS - 1;
}

static int add_bins(struct growing *g, const struct heap *h, uint32_t site, const double *bytes)
{
	const struct heap_site *s = &h->sites[site];
	double sum = 0, all = 0, scale = 1;
	int rc = 0;

	for (unsigned i = 0; i < BINS; i++)
		all += bytes[i];
	if (h->mode == HEAP_SAMPLED && all > 0)
		scale = (double)s->live_bytes /
			all; /* blocks are samples, the site's figures estimates of all */
	for (unsigned i = 0; !rc && i < BINS; i++) {
		sum += bytes[i] * scale;
		rc = growing_add(g, h, site,
				 s->first_ns + (h->taken_ns - s->first_ns) / BINS * (i + 1), sum);
	}
	return rc;
}

/*
 * Number the sites whose births tell something, the first GROWING_MAX_SITES; row[site] = number +
 * 1.
 */
static uint32_t choose_sites(struct growing *g, const struct heap *h, uint32_t *row,
			     const uint32_t *nr_points)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < h->nr_sites; i++) {
		if (!births_tell(h, nr_points, i))
			continue;
		if (nr + g->sites.nr < GROWING_MAX_SITES)
			row[i] = ++nr;
		else
			g->nr_left_out++;
	}
	return nr;
}

static int add_births(struct growing *g, const struct heap *h, const uint32_t *nr_points)
{
	uint32_t *row = calloc(h->nr_sites, sizeof(*row)),
		 nr = row ? choose_sites(g, h, row, nr_points) : 0;
	double (*bins)[BINS] = row ? calloc((size_t)nr + 1, sizeof(*bins)) : NULL;
	int rc = bins ? 0 : -ENOMEM;

	for (uint64_t i = 0; !rc && nr && i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];

		if (row[b->site])
			bins[row[b->site] - 1][bin_of(h, &h->sites[b->site], b->birth_ns)] +=
				(double)b->size_bytes;
	}
	for (uint32_t i = 0; !rc && i < h->nr_sites; i++)
		if (row[i])
			rc = add_bins(g, h, i, bins[row[i] - 1]);
	free(bins);
	free(row);
	return rc;
}

int growing_past(struct growing *g, const struct heap *h)
{
	uint32_t *nr_points = calloc(h->nr_sites, sizeof(*nr_points));
	int rc = nr_points ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < h->nr_site_points; i++)
		nr_points[h->site_points[i].site]++;
	if (!rc)
		rc = add_series(g, h, nr_points);
	if (!rc)
		rc = add_births(g, h, nr_points);
	free(nr_points);
	return rc;
}
