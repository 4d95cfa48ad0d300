/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large made-up heaps: as many sites and blocks as asked for, the same ones for the same numbers
 * everywhere.
 *
 * Shaped like real ones where it matters for size and speed: stacks share their outer frames,
 * neighbours in memory often come from the same site and time, few functions make up most frames.
 */
#include "tests/fake/fake_heap.h"

#include <errno.h>
#include <stdio.h>

#include "include/pmm/ledger.h"

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Below n, small numbers more often. */
static uint64_t draw_skewed(uint64_t *state, uint64_t n)
{
	uint64_t a = draw(state) % n, b = draw(state) % n;

	return (uint64_t)((unsigned __int128)a * b / n);
}

static int grow_tree(struct fake_heap *f, const struct fake_plan *p, uint32_t first_module,
		     uint64_t *state, uint32_t node, uint64_t levels)
{
	while (levels--) {
		uint32_t module = first_module + (uint32_t)draw_skewed(state, p->modules);
		struct heap_node n = {.parent = node, .module = module};

		n.pc = f->modules.v[module].start + 0x1000 + draw_skewed(state, 4000) * 0xb0 + 5;
		if (vec_push(&f->nodes, n))
			return -ENOMEM;
		node = (uint32_t)f->nodes.nr - 1;
	}
	return 0;
}

/* Each stack leaves an earlier one a few frames before its end. */
static int make_sites(struct fake_heap *f, const struct fake_plan *p, uint32_t first_module,
		      uint64_t *state)
{
	uint32_t first_site = (uint32_t)f->sites.nr;

	for (uint64_t i = 0; i < p->sites; i++) {
		uint64_t levels = p->depth;
		uint32_t node = 0;

		if (i) {
			node = f->sites.v[first_site + draw_skewed(state, i)].node;
			levels = 1 + draw_skewed(state, 8);
			for (uint64_t k = 0; k < levels && f->nodes.v[node].parent; k++)
				node = f->nodes.v[node].parent;
		}
		if (grow_tree(f, p, first_module, state, node, levels) ||
		    vec_push(&f->sites, (struct heap_site){.node = (uint32_t)f->nodes.nr - 1}))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t size_of_site(uint64_t seed, uint64_t site)
{
	uint64_t state = seed ^ site * 0x2545f4914f6cdd1dull;
	uint64_t r = draw(&state);

	if (r % 16 == 0)
		return 4096 + (r >> 8) % 100000;
	return 8 + (r >> 8) % ((r >> 4) % 4 ? 120 : 2000);
}

static int record_run(struct fake_heap *f, const struct fake_plan *p, struct fake_record *r,
		      uint32_t site, uint64_t *state)
{
	struct heap_site *s = &f->sites.v[site];
	uint64_t extra = draw_skewed(state, 2000);

	r->size_bytes = r->max_bytes = size_of_site(p->seed, site);
	r->allocs = r->blocks + extra;
	r->frees = extra;
	r->bytes_in = r->allocs * r->size_bytes;
	r->bytes_out = r->frees * r->size_bytes;
	r->peak_blocks = r->blocks + extra / 8;
	r->peak_bytes = r->peak_blocks * r->size_bytes;
	r->temporary = extra / 3;
	r->life_ns = PMM_TICK_NS << draw(state) % 8;
	r->node = s->node;
	r->kind = draw(state) % 8 ? PMM_KIND_MALLOC : PMM_KIND_CALLOC;
	return fake_heap_record_at(f, r, site);
}

/* Runs of blocks of one site, later ones younger on the whole; each site gets a record. */
static int make_blocks(struct fake_heap *f, const struct fake_plan *p, uint32_t first_site,
		       uint64_t *state)
{
	uint64_t left = p->blocks;

	for (uint64_t i = 0; i < p->sites || left; i++) {
		uint32_t site =
			first_site + (uint32_t)(i < p->sites ? i : draw_skewed(state, p->sites));
		struct fake_record r = {.blocks = 1 + draw_skewed(state, 20)};
		uint64_t done = p->blocks - left;

		if (r.blocks > left)
			r.blocks = left;
		left -= r.blocks;
		r.thread = (uint16_t)draw_skewed(state, p->threads);
		r.first_ns = (done / 64 + draw_skewed(state, 500)) * PMM_TICK_NS;
		r.last_ns = r.first_ns;
		if (!(draw(state) % 4))
			f->next_address += 16 * draw_skewed(state, 200);
		if (record_run(f, p, &r, site, state))
			return -ENOMEM;
	}
	return 0;
}

static int make_points(struct fake_heap *f, const struct fake_plan *p, uint64_t *state)
{
	struct heap_point pt = {0};
	struct heap_site_point sp = {0};

	for (uint64_t i = 0; i < p->points; i++) {
		pt.time_ns = sp.time_ns = (i + 1) * 10 * PMM_TICK_NS;
		pt.live_blocks = p->blocks * (i + 1) / p->points;
		pt.live_bytes = pt.live_blocks * 100 + draw(state) % 1000;
		pt.allocs += pt.live_blocks + draw(state) % 1000;
		pt.rss_bytes = (pt.live_bytes + (1 << 20)) & ~4095ull;
		if (vec_push(&f->points, pt))
			return -ENOMEM;
		for (uint32_t k = 0; k < 10 && k < f->sites.nr; k++) {
			sp.site = k;
			sp.live_blocks = pt.live_blocks / (k + 2);
			sp.live_bytes = sp.live_blocks * size_of_site(p->seed, k);
			if (vec_push(&f->site_points, sp))
				return -ENOMEM;
		}
	}
	return 0;
}

int fake_generate(struct fake_heap *f, const struct fake_plan *plan)
{
	struct fake_plan p = *plan;
	uint64_t state = p.seed;
	uint32_t first_module = (uint32_t)f->modules.nr, first_site = (uint32_t)f->sites.nr;
	char name[32];

	for (uint64_t i = 0; i < p.modules; i++) {
		snprintf(name, sizeof(name), "/usr/lib/fake/lib%u.so", (unsigned)i);
		if (fake_heap_module(f, name) < 0)
			return -ENOMEM;
	}
	for (uint64_t i = 0; i < p.threads; i++) {
		snprintf(name, sizeof(name), i ? "worker-%u" : "main", (unsigned)i);
		if (fake_heap_thread(f, name) < 0)
			return -ENOMEM;
	}
	if (make_sites(f, &p, first_module, &state) || make_blocks(f, &p, first_site, &state) ||
	    make_points(f, &p, &state))
		return -ENOMEM;
	return 0;
}
