/*
 * Building the compact graph: all threads read the heap's blocks, chunk by chunk, and write down whom they point to.
 *
 * The words of many blocks are resolved together (reach_resolve.c); marks say which of them are whose. A thread writes edges into segments
 * that it claims from the common room. A block's edges lie one behind the other: when a segment ends, the block's edges so far move on.
 */
#include "src/analyze/reach_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GAP		(8 << 10)	/* bytes between blocks that are read rather than making one more call */
#define MAX_PIECES	(1 << 20)	/* 128 GiB; large blocks beyond are read when they are reached */
#define MAX_MARKS	1024

/* Words up to `end` of the batch are those of one block or piece. */
struct mark {
	uint32_t *first;
	uint32_t self;
	uint16_t end;
	bool closes;			/* no more of it in the next batch */
};

struct builder {
	struct reach_graph *g;
	struct reach_scanner s;
	uint32_t *at, *end;		/* of the segment */
	uint32_t *start, *last;		/* of the block at hand: its first edge, its last (NULL = none yet) */
	struct reach_hit before;	/* the block's edge before, not kept twice */
	bool open;			/* the block at hand has words in batches already resolved */
	bool failed;			/* its edges found no room */
	bool full;			/* there is no more room at all */
	uint64_t pointers;
	unsigned nr_marks;
	struct mark marks[MAX_MARKS];
};

struct building {
	struct reach_graph *g;
	const struct reach_plan *plan;
	uint64_t next;			/* piece, then chunk */
};

static uint32_t *claim(struct reach_graph *g, uint64_t *nr)
{
	uint64_t at = __atomic_load_n(&g->claimed, __ATOMIC_RELAXED);

	do {
		*nr = g->room - at < REACH_SEGMENT ? g->room - at : REACH_SEGMENT;
		if (!*nr)
			return NULL;
	} while (!__atomic_compare_exchange_n(&g->claimed, &at, at + *nr, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	reach_count(g->space, (int64_t)*nr * 4);
	return g->edges + at;
}

/* A new segment; the edges of the block at hand move there. */
static bool next_segment(struct builder *b)
{
	size_t held = (size_t)(b->at - b->start);
	uint64_t nr;
	uint32_t *to = b->full ? NULL : claim(b->g, &nr);

	if (!to || nr < held + 2) {
		b->full |= !to;
		return false;
	}
	if (held)
		memcpy(to, b->start, held * sizeof(*to));
	if (b->last)
		b->last = to + (b->last - b->start);
	b->start = to;
	b->at = to + held;
	b->end = to + nr;
	return true;
}

static void emit(struct builder *b, struct reach_hit hit)
{
	if (b->failed || (hit.block == b->before.block && hit.offset == b->before.offset))
		return;
	b->before = hit;
	b->pointers++;
	if (b->end - b->at < 2 && !next_segment(b)) {
		b->failed = true;
		return;
	}
	b->last = b->at;
	*b->at++ = hit.block | (hit.offset ? REACH_INTERIOR : 0);
	if (hit.offset)
		*b->at++ = hit.offset;
}

static void finish(struct builder *b, uint32_t *first)
{
	if (b->failed) {
		*first = REACH_AGAIN;
		b->at = b->start;
	} else if (b->last) {
		*b->last |= REACH_LAST;
		*first = (uint32_t)(b->start - b->g->edges);
	} else {
		*first = REACH_EMPTY;
	}
	b->start = b->at;
	b->last = NULL;
	b->failed = false;
	b->before.block = REACH_NONE;
}

static void flush(struct builder *b)
{
	const struct reach_hit *hit = b->s.hits;

	reach_sieved(&b->s);
	for (const struct mark *m = b->marks; m < b->marks + b->nr_marks; m++) {
		for (; hit < b->s.hits + m->end; hit++)
			if (hit->block != REACH_NONE && hit->block != m->self)
				emit(b, *hit);
		if (m->closes)
			finish(b, m->first);
	}
	b->s.nr = b->nr_marks = 0;
}

static void mark(struct builder *b, uint32_t *first, uint32_t self, bool closes)
{
	b->marks[b->nr_marks++] = (struct mark){ first, self, (uint16_t)b->s.nr, closes };
	b->open = !closes;
	if (b->nr_marks == MAX_MARKS || b->s.nr == REACH_BATCH)
		flush(b);
}

/* The words of [from, to), both multiples of 8, are those of block `self`, or of a piece of it. */
static void take(struct builder *b, uint32_t *first, uint32_t self, uint64_t from, uint64_t to, uint64_t ahead)
{
	unsigned before = b->s.nr;

	while (from < to) {
		uint64_t bytes;
		const uint64_t *words = reach_window(&b->s, from, to, ahead, &bytes);
		size_t nr = words ? bytes / 8 : 0;

		for (size_t done = 0; done < nr;) {
			done += reach_sieve(&b->s, words + done, nr - done);
			if (b->s.nr == REACH_BATCH)
				mark(b, first, self, false);
		}
		from += bytes;
	}
	if (b->s.nr == before && !b->open)
		*first = REACH_EMPTY;
	else
		mark(b, first, self, true);
}

/* Where reading may go on to from block i: over the blocks behind it as long as they lie close and a window holds them. */
static uint64_t run_end(const struct reach_index *ix, uint32_t i, uint32_t end)
{
	uint64_t start = ix->blocks[i].address & ~7ull, to = reach_block_end(&ix->blocks[i]);

	for (i++; i < end; i++) {
		const struct heap_block *next = &ix->blocks[i];

		if (next->address > to + MAX_GAP || next->size_bytes > REACH_PIECE || reach_block_end(next) - start > REACH_WINDOW)
			break;
		to = reach_block_end(next) > to ? reach_block_end(next) : to;
	}
	return to;
}

static void build_chunk(struct builder *b, const struct reach_chunk *c)
{
	struct reach_graph *g = b->g;
	const struct reach_index *ix = g->ix;
	uint64_t ahead = 0;

	for (uint32_t i = c->first; i < c[1].first; i++) {
		const struct heap_block *block = &ix->blocks[i];
		uint64_t from, to;

		if (g->first[i] == REACH_PIECES)
			continue;
		if (b->full || block->size_bytes > REACH_PIECE || reach_has_inner(ix, i)) {
			g->first[i] = REACH_AGAIN;
			continue;
		}
		from = (block->address + 7) & ~7ull;
		to = reach_block_end(block) & ~7ull;
		if (to > ahead)
			ahead = run_end(ix, i, c[1].first);
		if (from > block->address + 7 || from >= to)
			g->first[i] = REACH_EMPTY;
		else
			take(b, &g->first[i], i, from, to, ahead);
	}
}

static void build_piece(struct builder *b, struct reach_piece *p)
{
	if (b->full)
		p->first = REACH_AGAIN;
	else
		take(b, &p->first, p->block, p->from, p->to, 0);
}

static void build(void *arg, unsigned who)
{
	struct building *w = arg;
	struct reach_graph *g = w->g;
	struct builder *b = reach_take(g->space, sizeof(*b));
	uint64_t i, nr = g->pieces.nr + g->ix->nr_chunks;

	(void)who;
	if (!b || reach_scanner_init(&b->s, g->ix, w->plan->memory, w->plan->tag_mask, g->space)) {
		__atomic_store_n(&g->rc, -ENOMEM, __ATOMIC_RELAXED);
		reach_give(g->space, b, sizeof(*b));
		return;
	}
	b->g = g;
	b->before.block = REACH_NONE;
	while ((i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < nr) {
		if (i < g->pieces.nr)
			build_piece(b, &g->pieces.v[i]);
		else
			build_chunk(b, &g->ix->chunks[i - g->pieces.nr]);
	}
	flush(b);
	__atomic_fetch_add(&g->pointers, b->pointers, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g->read_bytes, b->s.read_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g->unread_bytes, b->s.unread_bytes, __ATOMIC_RELAXED);
	reach_scanner_fini(&b->s);
	reach_give(g->space, b, sizeof(*b));
}

static int cut(struct reach_graph *g, uint32_t block)
{
	const struct heap_block *b = &g->ix->blocks[block];
	uint64_t to = reach_block_end(b) & ~7ull, from = (b->address + 7) & ~7ull;

	if (from < b->address || reach_has_inner(g->ix, block) || (to - from) / REACH_PIECE >= MAX_PIECES - g->pieces.nr)
		return 0;
	for (; from < to; from += REACH_PIECE) {
		uint64_t end = to - from < REACH_PIECE ? to : from + REACH_PIECE;

		if (vec_push(&g->pieces, (struct reach_piece){ block, REACH_EMPTY, from, end }))
			return -ENOMEM;
		if (end == to)
			break;
	}
	g->first[block] = REACH_PIECES;
	return 0;
}

/* Cut large blocks into pieces. */
static int cut_all(struct reach_graph *g)
{
	for (uint32_t c = 0; c < g->ix->nr_chunks; c++) {
		const struct reach_chunk *chunk = &g->ix->chunks[c];

		if (chunk->largest <= REACH_PIECE)
			continue;
		for (uint32_t i = chunk->first; i < chunk[1].first; i++)
			if (g->ix->blocks[i].size_bytes > REACH_PIECE && cut(g, i))
				return -ENOMEM;
	}
	reach_count(g->space, (int64_t)(g->pieces.room * sizeof(*g->pieces.v)));
	return 0;
}

int reach_graph_init(struct reach_graph *g, const struct reach_index *ix, const struct reach_plan *plan, struct reach_space *space)
{
	struct building w = { .g = g, .plan = plan };
	int rc;

	*g = (struct reach_graph){ .ix = ix, .space = space };
	g->room = plan->max_edges < REACH_MAX_EDGES ? plan->max_edges : REACH_MAX_EDGES;
	g->first = reach_take(space, (size_t)ix->nr * sizeof(*g->first));
	g->edges = reach_reserve(g->room * sizeof(*g->edges));
	if (!g->first || !g->edges)
		return -ENOMEM;
	rc = cut_all(g);
	if (rc)
		return rc;
	reach_team(plan->nr_threads, build, &w);
	/* A thread that had no memory did nothing; what the others could not do, nobody did. */
	return w.next < g->pieces.nr + ix->nr_chunks ? g->rc : 0;
}
