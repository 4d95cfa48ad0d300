/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compact graph of a heap: following it. Building: reach_build.c.
 */
#include "src/analyze/reach/reach_graph.h"

struct following {
	reach_edge_fn *fn;
	void *arg;
	uint32_t self;
};

static void follow_hits(void *arg, const struct reach_scanner *s)
{
	const struct following *f = arg;

	for (unsigned i = s->given; i < s->batch.found; i++) {
		struct reach_hit hit = s->batch.hits[i];

		if (hit.block != REACH_NONE && hit.block != f->self)
			f->fn(f->arg, hit.block, hit.offset);
	}
}

static size_t first_piece(const struct reach_graph *g, uint32_t block)
{
	return vec_while(&g->pieces, p, p->block < block);
}

void reach_follow_other(const struct reach_graph *g, struct reach_scanner *s, uint32_t block,
			reach_edge_fn *fn, void *arg)
{
	struct following f = { fn, arg, block };

	if (g->first[block] == REACH_AGAIN) {
		reach_scan_block(s, block, follow_hits, &f);
		return;
	}
	for (size_t i = first_piece(g, block); i < g->pieces.nr && g->pieces.v[i].block == block;
	     i++) {
		const struct reach_piece *p = &g->pieces.v[i];

		if (p->first < REACH_MAX_EDGES)
			reach_follow_edges(g->edges + p->first, fn, arg);
		else if (p->first == REACH_AGAIN)
			reach_scan(s, p->from, p->to, follow_hits, &f);
	}
}

void reach_graph_fini(struct reach_graph *g)
{
	if (g->first)
		reach_give(g->space, g->first, (size_t)g->ix->nr * sizeof(*g->first));
	if (g->bare)
		reach_give(g->space, g->bare, reach_bits_bytes(g->ix->nr));
	if (g->edges) {
		reach_unreserve(g->edges, g->room * sizeof(*g->edges));
		reach_count(g->space, -(int64_t)(g->claimed * sizeof(*g->edges)));
	}
	if (g->space)
		reach_count(g->space, -(int64_t)(g->pieces.room * sizeof(*g->pieces.v)));
	vec_fini(&g->pieces);
}
