/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaptrack's events twice more: what each site held at the peak, whose moment the first reading
 * has found; then how those sites changed over time that were the largest at the peak or the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"

#define TOP_SITES	16u
#define MAX_POINTS	256u
#define NO_TOP		UINT8_MAX

struct replaying {
	struct import *m;
	const struct replay *r;
	VEC(int64_t) bytes, blocks;	/* live, by site */
	VEC(uint8_t) top;		/* by site: its number among the top ones, or NO_TOP */
	uint32_t site[TOP_SITES];
	unsigned nr_top;
	int64_t told[TOP_SITES];	/* what the last point of each says */
	uint64_t event, point_step, next_ms;
};

/* ---- the peak ---- */

static void keep_peak(struct replaying *p)
{
	for (size_t i = 0; i < p->m->sites.nr; i++) {
		p->m->sites.v[i].peak_bytes = p->bytes.v[i];
		p->m->sites.v[i].peak_blocks = p->blocks.v[i];
	}
}

/* Between two readings. */
static int changed(struct replaying *p)
{
	return import_damaged(p->m, "it changed while it was read");
}

static int count_event(struct replaying *p, const char *line)
{
	uint64_t kind = strtoull(line + 1, NULL, 16);
	bool freed = line[0] == '-';
	int64_t size;
	uint32_t site;

	if (kind >= p->r->sizes.nr || p->event == p->r->nr_events)
		return changed(p);
	size = (int64_t)p->r->sizes.v[kind];
	site = p->r->sites.v[kind];
	if (__builtin_add_overflow(p->bytes.v[site], freed ? -size : size, &p->bytes.v[site]))
		return changed(p);
	p->blocks.v[site] += freed ? -1 : 1;
	if (p->bytes.v[site] < 0 || p->blocks.v[site] < 0)
		return changed(p);
	if (++p->event == p->r->peak_event)
		keep_peak(p);
	return 0;
}

/* ---- the largest sites over time ---- */

static void choose_top(struct replaying *p)
{
	memset(p->top.v, NO_TOP, p->top.nr);
	for (; p->nr_top < TOP_SITES; p->nr_top++) {
		uint32_t best = 0;
		int64_t most = 0;

		for (uint32_t i = 0; i < p->m->sites.nr; i++) {
			const struct heap_site *s = &p->m->sites.v[i];
			int64_t weight = s->live_bytes > s->peak_bytes ? s->live_bytes
								       : s->peak_bytes;

			if (p->top.v[i] == NO_TOP && weight > most) {
				best = i;
				most = weight;
			}
		}
		if (!most)
			return;
		p->top.v[best] = (uint8_t)p->nr_top;
		p->site[p->nr_top] = best;
	}
}

static int add_points(struct replaying *p, uint64_t time_ns)
{
	for (unsigned i = 0; i < p->nr_top; i++) {
		const struct heap_site_point new = {
			.time_ns = time_ns, .site = p->site[i],
			.live_bytes = (uint64_t)p->bytes.v[p->site[i]],
			.live_blocks = (uint64_t)p->blocks.v[p->site[i]],
		};

		if (p->told[i] == p->bytes.v[p->site[i]])
			continue;
		p->told[i] = p->bytes.v[p->site[i]];
		if (import_take(p->m, sizeof(new)))
			return -EFBIG;
		if (vec_push(&p->m->site_points, new))
			return import_no_memory(p->m);
	}
	return 0;
}

static int time_line(struct replaying *p, const char *line)
{
	uint64_t ms = strtoull(line + 1, NULL, 16);

	if (ms > p->r->end_ns / NS_PER_MS)
		return changed(p);
	if (!p->nr_top || ms < p->next_ms)
		return 0;
	p->next_ms = ms + p->point_step;
	return add_points(p, ms * NS_PER_MS);
}

/* ---- readings ---- */

static int read_again(struct replaying *p)
{
	struct import_input *in;
	int rc = import_open(p->m->path, &in), got = 0;
	char *line;

	if (rc)
		return import_unreadable(p->m, rc);
	memset(p->bytes.v, 0, p->bytes.nr * sizeof(*p->bytes.v));
	memset(p->blocks.v, 0, p->blocks.nr * sizeof(*p->blocks.v));
	p->event = p->next_ms = 0;
	while (!rc && (got = import_line(in, &line)) > 0) {
		if (line[0] == '+' || line[0] == '-')
			rc = count_event(p, line);
		else if (line[0] == 'c')
			rc = time_line(p, line);
	}
	import_close(in);
	if (!rc && got < 0)
		return import_unreadable(p->m, got);
	return !rc && p->event != p->r->nr_events ? changed(p) : rc;
}

int import_replay(struct import *m, const struct replay *r)
{
	struct replaying p = { .m = m, .r = r };
	int rc = 0;

	if (vec_resize(&p.bytes, m->sites.nr) || vec_resize(&p.blocks, m->sites.nr) ||
	    vec_resize(&p.top, m->sites.nr))
		rc = import_no_memory(m);
	if (!rc)
		rc = read_again(&p);
	if (!rc) {
		choose_top(&p);
		if (m->points.nr)
			p.point_step = vec_last(&m->points)->time_ns / NS_PER_MS / MAX_POINTS + 1;
		rc = read_again(&p);
	}
	vec_fini(&p.bytes);
	vec_fini(&p.blocks);
	vec_fini(&p.top);
	return rc;
}
