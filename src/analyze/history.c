/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap over time: points merged with the peak and the end.
 */
#include "src/analyze/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put(struct history *y, const struct heap_point *p)
{
	struct heap_point *last = y->nr ? &y->point[y->nr - 1] : NULL;

	/* outside data: keep time from running backwards */
	y->point[y->nr] = *p;
	if (last && p->time_ns < last->time_ns)
		y->point[y->nr].time_ns = last->time_ns;
	y->nr++;
}

int history_init(struct history *out, const struct heap *h)
{
	struct heap_point peak = { .time_ns = h->peak_ns, .live_bytes = h->peak_bytes };
	struct heap_point end = { h->taken_ns, h->live_bytes, h->live_blocks, h->allocs, 0 };
	bool peak_done = h->peak_bytes == 0;

	memset(out, 0, sizeof(*out));
	out->point = malloc(((size_t)h->nr_points + 3) * sizeof(*out->point));
	if (!out->point)
		return -ENOMEM;
	put(out, &(struct heap_point){ .time_ns = h->attach_ns });
	for (uint32_t i = 0; i < h->nr_points; i++) {
		const struct heap_point *p = &h->points[i];

		if (!peak_done && p->time_ns >= h->peak_ns) {
			if (p->time_ns != h->peak_ns || p->live_bytes != h->peak_bytes)
				put(out, &peak);
			peak_done = true;
		}
		put(out, p);
	}
	if (!peak_done)
		put(out, &peak);
	if (out->point[out->nr - 1].time_ns < end.time_ns)
		put(out, &end);
	for (size_t i = 1; i < out->nr; i++)
		if (out->point[i].live_bytes > out->point[out->peak].live_bytes)
			out->peak = i;
	return 0;
}

void history_fini(struct history *y)
{
	free(y->point);
	y->point = NULL;
	y->nr = 0;
}

void peak_sum(const struct heap *h, struct peak *out)
{
	*out = (struct peak){ .bytes = h->peak_bytes, .time_ns = h->peak_ns };
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		const struct heap_site *s = &h->sites[i];

		if (s->peak_bytes <= 0 && s->peak_blocks <= 0)
			continue;
		out->nr_sites++;
		out->sites_bytes += s->peak_bytes > 0 ? (uint64_t)s->peak_bytes : 0;
		out->sites_blocks += s->peak_blocks > 0 ? (uint64_t)s->peak_blocks : 0;
	}
}
