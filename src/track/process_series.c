/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time series of one process. */
#include "src/track/process_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/thread.h"

int series_init(struct series *s, uint64_t now_ns, uint64_t interval_ns)
{
	memset(s, 0, sizeof(*s));
	s->interval_ns = interval_ns ? interval_ns : SERIES_FIRST_NS;
	s->scan_interval_ns = s->interval_ns;
	s->next_ns = now_ns;
	s->next_scan_ns = now_ns + s->interval_ns;
	s->points = calloc(SERIES_MAX_POINTS, sizeof(*s->points));
	s->sites = calloc(SERIES_MAX_SCANS * SERIES_SCAN_SITES, sizeof(*s->sites));
	if (!s->points || !s->sites) {
		series_fini(s);
		return -ENOMEM;
	}
	return 0;
}

void series_fini(struct series *s)
{
	free(s->points);
	free(s->sites);
	ledger_top_free(s->top);
	memset(s, 0, sizeof(*s));
}

bool series_due(const struct series *s, uint64_t now_ns)
{
	return s->points && (now_ns >= s->next_ns || now_ns >= s->next_scan_ns);
}

void series_add(struct series *s, const struct heap_point *p)
{
	if (s->nr_points == SERIES_MAX_POINTS) {
		for (uint32_t i = 0; i < SERIES_MAX_POINTS / 2; i++)
			s->points[i] = s->points[2 * i + (2 * i + 1 == s->largest)];
		s->largest /= 2;
		s->nr_points = SERIES_MAX_POINTS / 2;
		s->interval_ns *= 2;
	}
	if (!s->nr_points || p->rss_bytes > s->points[s->largest].rss_bytes)
		s->largest = s->nr_points;
	s->points[s->nr_points++] = *p;
	s->next_ns = p->time_ns + s->interval_ns;
}

/* Drop every second scan. Scans are runs of equal time. */
static void thin_scans(struct series *s)
{
	uint32_t to = 0, scan = 0;

	for (uint32_t i = 0; i < s->nr_sites; i++) {
		if (i && s->sites[i].time_ns != s->sites[i - 1].time_ns)
			scan++;
		if (scan % 2 == 0)
			s->sites[to++] = s->sites[i];
	}
	s->nr_sites = to;
	s->nr_scans = scan / 2 + 1;
	s->scan_interval_ns *= 2;
}

void series_add_scan(struct series *s, uint64_t now_ns, const struct ledger_top_site *top,
		     unsigned n, uint64_t cost_ns)
{
	uint64_t rest = cost_ns * SERIES_REST * (s->share ? s->share : 1);

	s->next_scan_ns = now_ns + (rest > s->scan_interval_ns ? rest : s->scan_interval_ns);
	if (n > SERIES_SCAN_SITES)
		n = SERIES_SCAN_SITES;
	if (!n)
		return;
	if (s->nr_scans == SERIES_MAX_SCANS)
		thin_scans(s);
	s->nr_scans++;
	for (unsigned i = 0; i < n; i++)
		s->sites[s->nr_sites++] = (struct heap_site_point){
			.time_ns = now_ns,
			.site = top[i].site,
			.live_bytes = top[i].live_bytes > 0 ? (uint64_t)top[i].live_bytes : 0,
			.live_blocks = top[i].live_blocks > 0 ? (uint64_t)top[i].live_blocks : 0,
		};
}

static bool is_among(const struct ledger_top_site *top, unsigned n, uint32_t site)
{
	for (unsigned i = 0; i < n; i++)
		if (top[i].site == site)
			return true;
	return false;
}

/* One that held so much: it takes the place of the one that never held as much, if there is one. */
static void consider(struct series *s, const struct ledger_top_site *of)
{
	struct series_most *least = NULL;

	for (unsigned i = 0; i < s->nr_followed; i++) {
		struct series_most *f = &s->followed[i];

		if (f->site == of->site) {
			if (of->live_bytes > f->bytes)
				f->bytes = of->live_bytes;
			return;
		}
		if (!least || f->bytes < least->bytes)
			least = f;
	}
	if (s->nr_followed < SERIES_FOLLOWED)
		s->followed[s->nr_followed++] =
			(struct series_most){ of->site, of->live_bytes };
	else if (of->live_bytes > least->bytes)
		*least = (struct series_most){ of->site, of->live_bytes };
}

unsigned series_follow(struct series *s, const struct ledger_top_site *top, unsigned n,
		       uint32_t *rest)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < n; i++)
		consider(s, &top[i]);
	for (unsigned i = 0; i < s->nr_followed; i++)
		if (!is_among(top, n, s->followed[i].site))
			rest[nr++] = s->followed[i].site;
	return nr;
}

/* The largest sites into s->last. */
static void look_at_sites(struct series *s, struct ledger_map *m)
{
	uint32_t rest[SERIES_FOLLOWED];
	unsigned nr_rest;
	int n = 0;

	if (!s->top)
		s->top = ledger_top_new(m);
	if (s->top)
		n = ledger_top_sites(s->top, s->last, SERIES_TOP_SITES);
	if (n >= 0) {		/* of none that holds anything it is known that they are empty */
		nr_rest = series_follow(s, s->last, (unsigned)n, rest);
		for (unsigned i = 0; i < nr_rest; i++)
			s->last[n++] = ledger_top_of(s->top, rest[i]);
	}
	s->nr_last = n > 0 ? (unsigned)n : 0;
}

/*
 * Would a scan find what the last one did? t: the totals now; NULL = they cannot be read. What an
 * event had counted but not yet noted at its site when the last one was made, another one finds.
 */
static bool is_settled(struct series *s, const struct ledger_totals *t)
{
	const struct ledger_totals before = s->last_totals;
	const bool settled = s->last_settled;

	if (!t)
		return false;
	s->last_totals = *t;
	s->last_settled = s->nr_last && t->allocs == before.allocs && t->frees == before.frees &&
			  t->bytes_in == before.bytes_in && t->bytes_out == before.bytes_out;
	return s->last_settled && settled;
}

static void scan(struct series *s, struct ledger_map *m, const struct ledger_totals *t,
		 uint64_t now_ns)
{
	uint64_t start, cost_ns = 0;

	if (!is_settled(s, t)) {
		start = thread_cpu_ns();
		look_at_sites(s, m);
		cost_ns = thread_cpu_ns() - start;
	}
	series_add_scan(s, now_ns, s->last, s->nr_last, cost_ns);
}

void series_take(struct series *s, struct ledger_map *m, uint64_t now_ns, uint64_t rss_bytes)
{
	struct ledger_totals t;
	bool known;

	if (now_ns < s->next_ns && now_ns < s->next_scan_ns)
		return;
	known = !ledger_totals_untimed(m, &t);
	if (now_ns >= s->next_ns) {
		if (known)
			series_add(s, &(struct heap_point){
					      .time_ns = now_ns,
					      .live_bytes = t.live_bytes,
					      .live_blocks = t.live_blocks,
					      .allocs = t.allocs,
					      .rss_bytes = rss_bytes,
				      });
		else
			s->next_ns = now_ns + s->interval_ns;
	}
	if (now_ns >= s->next_scan_ns)
		scan(s, m, known ? &t : NULL, now_ns);
}
