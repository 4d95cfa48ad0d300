/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was allocated in a stretch of time and is still there at its end. */
#include "src/analyze/time/window.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/estimate.h"

/* What is known of a site. */
struct known {
	double kept_bytes, kept_blocks;	/* born in the stretch, live at the end of the heap */
	double older_bytes;		/* born before it, likewise */
	/* held when the stretch began and ended; WINDOW_UNKNOWN: not in the series */
	uint64_t first_bytes, last_bytes;
};

static void add_births(struct known *known, const struct heap *h, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];
		struct known *k = &known[b->site];
		double weight = estimate_weight(h, b->size_bytes);

		if (b->birth_ns < from_ns) {
			k->older_bytes += weight * (double)b->size_bytes;
		} else if (b->birth_ns <= to_ns) {
			k->kept_bytes += weight * (double)b->size_bytes;
			k->kept_blocks += weight;
		}
	}
}

/* Where the last look that is no later begins and ends among the points; false: there is none. */
static bool find_look(const struct heap *h, uint64_t ns, uint32_t *first, uint32_t *end)
{
	uint32_t from = 0, to = h->nr_site_points;

	while (from < to) {
		const uint32_t middle = from + (to - from) / 2;

		if (h->site_points[middle].time_ns <= ns)
			from = middle + 1;
		else
			to = middle;
	}
	*end = from;
	while (from && h->site_points[from - 1].time_ns == h->site_points[*end - 1].time_ns)
		from--;
	*first = from;
	return *end;
}

/* What each site held at a moment, as far as the look before it has the site. */
static void add_held(struct known *known, const struct heap *h, uint64_t ns, bool at_end)
{
	uint32_t first, end;

	for (uint32_t i = 0; i < h->nr_sites; i++) {
		const struct heap_site *s = &h->sites[i];

		if (at_end)
			known[i].last_bytes = s->first_ns > ns || !s->allocs ? 0 : WINDOW_UNKNOWN;
		else
			known[i].first_bytes = s->first_ns >= ns || !s->allocs ? 0 : WINDOW_UNKNOWN;
	}
	if (!find_look(h, ns, &first, &end))
		return;
	for (uint32_t i = first; i < end; i++) {
		const struct heap_site_point *p = &h->site_points[i];

		if (at_end)
			known[p->site].last_bytes = p->live_bytes;
		else
			known[p->site].first_bytes = p->live_bytes;
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct window_row row_of(uint32_t site, const struct known *k, bool exact)
{
	const uint64_t older_bytes = estimate_round(k->older_bytes);
	/* the look was a little before */
	const uint64_t first_bytes = k->first_bytes > older_bytes ? k->first_bytes : older_bytes;
	struct window_row r = { .site = site,
				.least_bytes = estimate_round(k->kept_bytes),
				.most_bytes = estimate_round(k->kept_bytes),
				.kept_bytes = estimate_round(k->kept_bytes),
				.kept_blocks = estimate_round(k->kept_blocks) };

	if (exact)
		return r;
	r.most_bytes = WINDOW_UNKNOWN;
	if (k->last_bytes == WINDOW_UNKNOWN)
		return r;
	if (less(k->last_bytes, first_bytes) > r.least_bytes)
		r.least_bytes = less(k->last_bytes, first_bytes);
	r.most_bytes = less(k->last_bytes, older_bytes);
	/* likewise */
	if (r.most_bytes < r.least_bytes)
		r.most_bytes = r.least_bytes;
	return r;
}

static int by_size(const void *a, const void *b)
{
	const struct window_row *x = a, *y = b;

	if (x->least_bytes != y->least_bytes)
		return x->least_bytes < y->least_bytes ? 1 : -1;
	if (x->most_bytes != y->most_bytes)
		return x->most_bytes < y->most_bytes ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

/* A site of which nothing is known but that it had allocated before the end says nothing. */
static bool is_worth_a_row(const struct window_row *r)
{
	return r->least_bytes || r->kept_blocks ||
	       (r->most_bytes && r->most_bytes != WINDOW_UNKNOWN);
}

int window_init(struct window *out, const struct heap *h, uint64_t from_ns, uint64_t to_ns)
{
	struct known *known = calloc(h->nr_sites, sizeof(*known));

	*out = (struct window){ .row = calloc(h->nr_sites, sizeof(*out->row)),
				.exact = to_ns >= h->taken_ns };
	if (!known || !out->row) {
		free(known);
		window_fini(out);
		return -ENOMEM;
	}
	add_births(known, h, from_ns, to_ns);
	add_held(known, h, from_ns, false);
	add_held(known, h, to_ns, true);
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		const struct window_row r = row_of(i, &known[i], out->exact);

		if (is_worth_a_row(&r))
			out->row[out->nr++] = r;
	}
	qsort(out->row, out->nr, sizeof(*out->row), by_size);
	free(known);
	return 0;
}

void window_fini(struct window *w)
{
	free(w->row);
	*w = (struct window){ .row = NULL };
}
