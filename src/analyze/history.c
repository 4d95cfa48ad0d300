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

/*
 * The peak's place is among the points of its tick, which may have been taken before it or after:
 * beside the highest of them and of their neighbours. So no fall is shown but one that was. Where
 * that leaves two places the later one: points are taken when a tick begins.
 */
static uint32_t place_of_peak(const struct heap *h)
{
	const uint64_t tick_ns = heap_whole_ticks(h, h->peak_ns);
	uint64_t most = 0, before = 0;
	uint32_t first = 0, at;

	while (first < h->nr_points && heap_whole_ticks(h, h->points[first].time_ns) < tick_ns)
		before = h->points[first++].live_bytes;
	at = first;
	for (uint32_t i = first;; i++) {
		uint64_t next = i < h->nr_points ? h->points[i].live_bytes : h->live_bytes;
		uint64_t beside = before > next ? before : next;

		if (beside >= most) {
			most = beside;
			at = i;
		}
		if (i == h->nr_points || heap_whole_ticks(h, h->points[i].time_ns) > tick_ns)
			return at;
		before = next;
	}
}

/* Is there a point that is the peak? */
static bool is_seen(const struct heap *h)
{
	for (uint32_t i = 0; i < h->nr_points; i++)
		if (h->points[i].live_bytes == h->peak_bytes &&
		    heap_whole_ticks(h, h->points[i].time_ns) == heap_whole_ticks(h, h->peak_ns))
			return true;
	return false;
}

int history_init(struct history *out, const struct heap *h)
{
	struct heap_point peak = { .time_ns = h->peak_ns, .live_bytes = h->peak_bytes };
	struct heap_point end = { h->taken_ns, h->live_bytes, h->live_blocks, h->allocs, 0 };
	const struct heap_point *last;
	uint32_t at = h->peak_bytes && !is_seen(h) ? place_of_peak(h) : UINT32_MAX;

	memset(out, 0, sizeof(*out));
	out->point = malloc(((size_t)h->nr_points + 3) * sizeof(*out->point));
	if (!out->point)
		return -ENOMEM;
	put(out, &(struct heap_point){ .time_ns = h->attach_ns });
	for (uint32_t i = 0; i < h->nr_points; i++) {
		if (i == at)
			put(out, &peak);
		put(out, &h->points[i]);
	}
	if (at == h->nr_points)
		put(out, &peak);
	last = &out->point[out->nr - 1];
	if (last->time_ns < end.time_ns ||
	    (at == h->nr_points && peak.live_bytes != end.live_bytes))
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
