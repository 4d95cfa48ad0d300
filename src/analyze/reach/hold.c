/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds a block: every pointer in a root, and breadth first from there.
 *
 * The search goes rank by rank: what the most lasting roots lead to is found before others are
 * asked, so that a list hangs on the variable that names it and not on the thread that walks along
 * it. A second round then takes pointers into the middle too.
 */
#include "src/analyze/reach/hold.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "src/base/hash.h"

#define EDGE_BYTES	22		/* as src/analyze/reach/reach.c: kept for each block */
#define EDGE_FLOOR	(32 << 20)
#define AHEAD		16		/* blocks whose pointers are on their way from memory */

enum { RANK_DATA, RANK_THREAD, RANK_STACK, RANK_MEMORY, RANK_WORD, NR_RANKS };

static uint8_t rank_of(unsigned kind)
{
	switch (kind) {
	case MEMORY_DATA:
		return RANK_DATA;
	case MEMORY_TLS:
		return RANK_THREAD;
	case MEMORY_STACK:
		return RANK_STACK;
	default:
		return RANK_MEMORY;
	}
}

/* ---- pointers in roots ---- */

struct rooting {
	struct hold *h;
	const struct memory_range *range;
};

static void edge_add(struct hold *h, struct reach_hit hit, uint64_t at, enum hold_place place,
		     uint8_t rank)
{
	struct hold_edge e = { .at = at,
			       .block = hit.block,
			       .offset = hit.offset,
			       .place = (uint8_t)place,
			       .rank = rank };

	if (hit.block != REACH_NONE && vec_push(&h->edges, e))
		h->rc = -ENOMEM;
}

static void root_hits(void *arg, const struct reach_scanner *s)
{
	const struct rooting *r = arg;

	for (unsigned i = s->given; i < s->batch.found; i++) {
		struct reach_hit hit = s->batch.hits[i];

		if (hit.block == REACH_NONE ||
		    (r->range->chunk_lists &&
		     reach_is_chunk_behind(&s->ix->blocks[hit.block], hit.offset)))
			continue;
		edge_add(r->h, hit, s->place[i], HOLD_MEMORY, rank_of(r->range->kind));
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct hold_edge *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int find_edges(struct hold *h, uint64_t tag_mask)
{
	const struct memory *m = h->memory;

	for (size_t i = 0; i < m->roots.nr && !h->rc && !reach_stopped(&h->scanner); i++) {
		struct rooting r = { h, &m->roots.v[i] };

		reach_scan(&h->scanner, r.range->start, r.range->end, root_hits, &r);
	}
	for (size_t i = 0; i < m->words.nr && !h->rc; i++)
		edge_add(h, reach_find(&h->index, m->words.v[i].value & ~tag_mask), i, HOLD_WORD,
			 RANK_WORD);
	for (size_t i = 0; i < m->owned.nr && !h->rc; i++) {
		struct reach_hit hit = reach_find(&h->index, m->owned.v[i]);

		hit.offset = 0;
		edge_add(h, hit, i, HOLD_OWNED, RANK_THREAD);
	}
	vec_sort(&h->edges, by_rank);
	return h->rc ? h->rc : h->scanner.stopped ? -EINTR : h->edges.nr >= HOLD_NONE ? -E2BIG : 0;
}

/* ---- breadth first ---- */

static bool counts(struct hold *h, uint32_t block, uint32_t offset)
{
	return !offset || h->any ||
	       (reach_guess_worth(&h->guess, block, offset) &&
		reach_guess(&h->guess, block, offset));
}

static void enter(struct hold *h, uint32_t block, uint32_t from, uint32_t origin)
{
	h->from[block] = from;
	h->origin[block] = origin;
	h->order[h->nr_order++] = block;
}

struct spreading {
	struct hold *h;
	uint32_t from;
};

static void spread(void *arg, uint32_t to, uint32_t offset)
{
	struct spreading *s = arg;

	if (s->h->origin[to] == HOLD_NONE && counts(s->h, to, offset))
		enter(s->h, to, s->from, s->h->origin[s->from]);
}

/* Follow all that is reached, from place `at` of the order on. */
static void run(struct hold *h, uint32_t at)
{
	for (; at < h->nr_order && !reach_stopped(&h->scanner); at++) {
		struct spreading s = { h, h->order[at] };

		if (at + AHEAD < h->nr_order)
			__builtin_prefetch(&h->graph.first[h->order[at + AHEAD]]);
		if (at + AHEAD / 2 < h->nr_order &&
		    h->graph.first[h->order[at + AHEAD / 2]] < REACH_MAX_EDGES)
			__builtin_prefetch(
				&h->graph.edges[h->graph.first[h->order[at + AHEAD / 2]]]);
		reach_follow(&h->graph, &h->scanner, h->order[at], spread, &s);
	}
}

static void search(struct hold *h)
{
	size_t i = 0;

	for (unsigned rank = 0; rank < NR_RANKS; rank++) {
		uint32_t at = h->nr_order;

		for (; i < h->edges.nr && h->edges.v[i].rank == rank; i++) {
			const struct hold_edge *e = &h->edges.v[i];

			if (h->origin[e->block] == HOLD_NONE && counts(h, e->block, e->offset))
				enter(h, e->block, HOLD_NONE, (uint32_t)i);
		}
		run(h, at);
	}
	h->nr_firm = h->nr_order;
	h->any = true;
	for (i = 0; i < h->edges.nr; i++)
		if (h->origin[h->edges.v[i].block] == HOLD_NONE)
			enter(h, h->edges.v[i].block, HOLD_NONE, (uint32_t)i);
	run(h, 0);
}

/* ---- all ---- */

static unsigned threads_for(const struct reach_options *o)
{
	long nr = o->nr_threads ? (long)o->nr_threads : sysconf(_SC_NPROCESSORS_ONLN);

	return nr < 1 ? 1 : nr > 64 ? 64 : (unsigned)nr;
}

static int take_results(struct hold *h)
{
	size_t bytes = (size_t)h->index.nr * sizeof(*h->order);

	h->order = reach_take(&h->space, bytes);
	h->from = reach_take(&h->space, bytes);
	h->origin = reach_take(&h->space, bytes);
	if (!h->order || !h->from || !h->origin)
		return -ENOMEM;
	memset(h->origin, 0xff, bytes);
	return 0;
}

static int open_all(struct hold *h, const struct heap *heap, const struct memory *m,
		    const struct reach_options *o)
{
	unsigned nr_threads = threads_for(o);
	struct reach_plan plan = { m, o->tag_mask, nr_threads,
				   (heap->nr_blocks * EDGE_BYTES + EDGE_FLOOR) / 4 };
	int rc = reach_index_init(&h->index, heap, &h->space, nr_threads);

	if (!rc)
		rc = reach_graph_init(&h->graph, &h->index, &plan, &h->space);
	if (!rc)
		rc = reach_scanner_init(&h->scanner, &h->index, m, o->tag_mask, &h->space);
	if (!rc)
		rc = take_results(h);
	if (!rc)
		rc = find_edges(h, o->tag_mask);
	if (rc)
		return rc;
	search(h);
	return h->scanner.stopped ? -EINTR : 0;
}

int hold_open(struct hold *h, const struct heap *heap, const struct memory *m,
	      const struct reach_options *o, struct err *e)
{
	int rc = -E2BIG;

	*h = (struct hold){ .heap = heap, .memory = m };
	h->guess =
		(struct reach_guess){ .ix = &h->index, .memory = m, .heuristics = o->heuristics };
	if (heap->nr_blocks <= REACH_MAX_BLOCKS)
		rc = open_all(h, heap, m, o);
	if (rc == -EINTR)
		return err_set(e, rc, "the search was interrupted");
	if (rc == -E2BIG)
		return err_set(e, rc,
			       "%" PRIu64 " live blocks and %zu pointers to them are more than a "
					  "search for holders can take",
			       heap->nr_blocks, h->edges.nr);
	if (rc) {
		err_set(e, rc, "out of memory for a search for holders among %" PRIu64 " blocks",
			heap->nr_blocks);
		err_hint(e,
			 "it needs about 100 bytes for each block, %" PRIu64
			 " MiB here, and 64 MiB",
			 heap->nr_blocks * 100 >> 20);
	}
	return rc;
}

void hold_close(struct hold *h)
{
	size_t bytes = (size_t)h->index.nr * sizeof(*h->order);

	if (h->order)
		reach_give(&h->space, h->order, bytes);
	if (h->from)
		reach_give(&h->space, h->from, bytes);
	if (h->origin)
		reach_give(&h->space, h->origin, bytes);
	vec_fini(&h->edges);
	if (h->scanner.window)
		reach_scanner_fini(&h->scanner);
	reach_graph_fini(&h->graph);
	reach_index_fini(&h->index);
	*h = (struct hold){ 0 };
}

int hold_sources(const struct hold *h, const uint64_t *wanted, struct hold_sources *out)
{
	struct hash_map by_edge = { 0 };
	int rc = 0;

	*out = (struct hold_sources){ 0 };
	for (uint32_t i = 0; !rc && i < h->nr_order; i++) {
		uint32_t block = h->order[i], *at;
		bool added;

		if (!(wanted[block / 64] >> (block & 63) & 1))
			continue;
		at = hash_add(&by_edge, h->origin[block], (uint32_t)out->nr, &added);
		rc = !at      ? -ENOMEM
		     : !added ? 0
			      : vec_push(out, (struct hold_source){ .edge = h->origin[block],
								    .nearest = block });
		if (rc)
			break;
		out->v[*at].blocks++;
		out->v[*at].bytes += h->heap->blocks[block].size_bytes;
	}
	hash_fini(&by_edge);
	return rc;
}
