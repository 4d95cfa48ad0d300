/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building the compact graph: all threads read the heap's blocks, chunk by chunk, and write down
 * whom they point to.
 *
 * Memory is looked through without regard to where a block ends; each pointer found is then given
 * to the block, the owner, in which it is. A thread writes edges into segments that it claims
 * from the common room. A block's edges are one behind the other: when a segment ends, the owner's
 * edges so far move on.
 */
#include "src/analyze/reach/reach_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* bytes between blocks that are read rather than making one more call */
#define MAX_GAP		(8 << 10)
/* 128 GiB; large blocks beyond are read when they are reached */
#define MAX_PIECES	(1 << 20)
/* bytes between blocks that are looked at rather than skipped: the allocator's own, padding */
#define MAX_SEAM	128

/* Of one block or piece. */
struct owner {
	uint32_t *first;
	uint32_t block;
	uint64_t from, to;		/* its words */
};

static const struct owner nobody = { NULL, REACH_NONE, UINT64_MAX, UINT64_MAX };

struct builder {
	struct reach_graph *g;
	struct reach_scanner s;
	struct owner owner;		/* whose edges are being written */
	uint32_t end_block;		/* of the chunk */
	uint32_t *at, *end;		/* of the segment */
	/* of the owner: its first edge, its last (NULL = none yet) */
	uint32_t *start, *last;
	struct reach_hit before;	/* the owner's edge before, not kept twice */
	bool failed;			/* its edges found no room */
	bool full;			/* there is no more room at all */
	uint64_t pointers;
};

struct building {
	struct reach_graph *g;
	const struct reach_plan *plan;
	uint64_t next;			/* piece, then chunk */
	uint64_t stripped;		/* blocks looked at */
	bool stopped;
};

static uint32_t *claim(struct reach_graph *g, uint64_t *nr)
{
	uint64_t at = __atomic_load_n(&g->claimed, __ATOMIC_RELAXED);

	do {
		*nr = g->room - at < REACH_SEGMENT ? g->room - at : REACH_SEGMENT;
		if (!*nr)
			return NULL;
	} while (!__atomic_compare_exchange_n(&g->claimed, &at, at + *nr, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	reach_count(g->space, (int64_t)*nr * 4);
	return g->edges + at;
}

/* A new segment; the edges of the owner move there. */
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

/* There are no more words of the owner. */
static void finish(struct builder *b)
{
	if (b->failed) {
		*b->owner.first = REACH_AGAIN;
		b->at = b->start;
	} else if (b->last) {
		*b->last |= REACH_LAST;
		*b->owner.first = (uint32_t)(b->start - b->g->edges);
	} else {
		*b->owner.first = REACH_EMPTY;
	}
	b->start = b->at;
	b->last = NULL;
	b->failed = false;
	b->before.block = REACH_NONE;
}

/*
 * Can its edges be written down with those of its neighbours? If not, and it is not cut into
 * pieces, it is read when it is reached.
 */
static bool is_plain(struct builder *b, uint32_t i)
{
	struct reach_graph *g = b->g;

	if (g->first[i] == REACH_PIECES)
		return false;
	if (!b->full && g->ix->blocks[i].size_bytes <= REACH_PIECE && !reach_has_inner(g->ix, i))
		return true;
	g->first[i] = REACH_AGAIN;
	return false;
}

/* The first from block i on that is plain. */
static void set_owner(struct builder *b, uint32_t i)
{
	const struct heap_block *blocks = b->g->ix->blocks;

	while (i < b->end_block && !is_plain(b, i))
		i++;
	if (i < b->end_block)
		b->owner = (struct owner){ &b->g->first[i], i, reach_words_from(&blocks[i]),
					   reach_words_to(&blocks[i]) };
	else
		b->owner = nobody;
}

static void next_owner(struct builder *b)
{
	finish(b);
	set_owner(b, b->owner.block + 1);
}

/* Each pointer to the owner of the word it was found in. */
static void give(void *arg, const struct reach_scanner *s)
{
	struct builder *b = arg;

	for (unsigned i = s->given; i < s->batch.found; i++) {
		struct reach_hit hit = s->batch.hits[i];

		if (hit.block == REACH_NONE)
			continue;
		while (s->place[i] >= b->owner.to)
			next_owner(b);
		if (s->place[i] >= b->owner.from && hit.block != b->owner.block)
			emit(b, hit);
	}
}

/*
 * Where reading may continue to from block i: over the blocks behind it as long as they are close
 * and a window holds them.
 */
static uint64_t run_end(const struct reach_index *ix, uint32_t i, uint32_t end)
{
	uint64_t start = ix->blocks[i].address & ~7ull, to = reach_block_end(&ix->blocks[i]);

	for (i++; i < end; i++) {
		const struct heap_block *next = &ix->blocks[i];

		if (next->address > to + MAX_GAP || next->size_bytes > REACH_PIECE ||
		    reach_block_end(next) - start > REACH_WINDOW)
			break;
		to = reach_block_end(next) > to ? reach_block_end(next) : to;
	}
	return to;
}

/* First block behind i that does not follow closely on the one before it. */
static uint32_t row_end(struct builder *b, uint32_t i)
{
	const struct heap_block *blocks = b->g->ix->blocks;

	for (i++; i < b->end_block; i++)
		if (blocks[i].address - reach_block_end(&blocks[i - 1]) > MAX_SEAM ||
		    !is_plain(b, i))
			break;
	return i;
}

/* Rows of blocks are looked at as one piece of memory; what is in the seams belongs to no block. */
static void build_chunk(struct builder *b, const struct reach_chunk *c)
{
	const struct reach_index *ix = b->g->ix;
	uint64_t ahead = 0;

	b->end_block = c[1].first;
	set_owner(b, c->first);
	for (uint32_t i = b->owner.block, next; i < b->end_block; i = next) {
		uint64_t to;

		next = i + 1;
		if (!is_plain(b, i))
			continue;
		next = row_end(b, i);
		to = reach_words_to(&ix->blocks[next - 1]);
		if (to > ahead)
			ahead = run_end(ix, i, b->end_block);
		reach_scan_words(&b->s, reach_words_from(&ix->blocks[i]), to, ahead, give, b);
	}
	reach_scan_end(&b->s, give, b);
	while (b->owner.first)
		next_owner(b);
}

static void build_piece(struct builder *b, struct reach_piece *p)
{
	if (b->full) {
		p->first = REACH_AGAIN;
		return;
	}
	b->owner = (struct owner){ &p->first, p->block, p->from, p->to };
	reach_scan_words(&b->s, p->from, p->to, 0, give, b);
	reach_scan_end(&b->s, give, b);
	finish(b);
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
	while (!reach_stopped(&b->s) &&
	       (i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < nr) {
		if (i < g->pieces.nr)
			build_piece(b, &g->pieces.v[i]);
		else
			build_chunk(b, &g->ix->chunks[i - g->pieces.nr]);
	}
	if (b->s.stopped)
		__atomic_store_n(&w->stopped, true, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g->pointers, b->pointers, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g->read_bytes, b->s.read_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&g->unread_bytes, b->s.unread_bytes, __ATOMIC_RELAXED);
	reach_scanner_fini(&b->s);
	reach_give(g->space, b, sizeof(*b));
}

/* Which blocks have no pointers. */
static void strip(void *arg, unsigned who)
{
	const uint64_t step = 1 << 16;
	struct building *w = arg;
	struct reach_graph *g = w->g;
	uint64_t at, nr = g->ix->nr;

	(void)who;
	while ((at = __atomic_fetch_add(&w->stripped, step, __ATOMIC_RELAXED)) < nr)
		for (uint64_t i = at; i < nr && i < at + step; i++)
			g->bare[i / 64] |= (uint64_t)(g->first[i] == REACH_EMPTY) << (i & 63);
}

/*
 * More than can be cut, and nothing shows that most of it was never touched: nonsense, as a rule.
 */
static bool is_endless(const struct reach_graph *g, const struct memory *m, uint64_t from,
		       uint64_t to)
{
	return (to - from) / REACH_PIECE >= MAX_PIECES - g->pieces.nr &&
	       !reach_untouched(m, from, to) && !reach_untouched(m, from + REACH_ASK, to);
}

/* What is there of a block in pieces, unless these would be too many. */
static int cut(struct reach_graph *g, const struct memory *m, uint32_t block)
{
	const struct heap_block *b = &g->ix->blocks[block];
	uint64_t to = reach_block_end(b) & ~7ull, from = (b->address + 7) & ~7ull, asked = from;
	const size_t before = g->pieces.nr;

	if (from < b->address || reach_has_inner(g->ix, block) || is_endless(g, m, from, to))
		return 0;
	while (from < to) {
		uint64_t end = to - from < REACH_PIECE ? to : from + REACH_PIECE,
			 none = from < asked ? 0 : reach_untouched(m, from, to);

		if (none) {
			asked = from += none;
			continue;
		}
		if (from >= asked)
			asked = from + REACH_ASK;
		if (g->pieces.nr == MAX_PIECES) {
			g->pieces.nr = before;
			return 0;
		}
		if (vec_push(&g->pieces, (struct reach_piece){ block, REACH_EMPTY, from, end }))
			return -ENOMEM;
		from = end;
	}
	g->first[block] = REACH_PIECES;
	return 0;
}

/* Cut large blocks into pieces. */
static int cut_all(struct reach_graph *g, const struct memory *m)
{
	for (uint32_t c = 0; c < g->ix->nr_chunks; c++) {
		const struct reach_chunk *chunk = &g->ix->chunks[c];

		if (chunk->largest <= REACH_PIECE)
			continue;
		for (uint32_t i = chunk->first; i < chunk[1].first; i++)
			if (g->ix->blocks[i].size_bytes > REACH_PIECE && cut(g, m, i))
				return -ENOMEM;
	}
	reach_count(g->space, (int64_t)(g->pieces.room * sizeof(*g->pieces.v)));
	return 0;
}

int reach_graph_init(struct reach_graph *g, const struct reach_index *ix,
		     const struct reach_plan *plan, struct reach_space *space)
{
	struct building w = { .g = g, .plan = plan };
	int rc;

	*g = (struct reach_graph){ .ix = ix, .space = space };
	g->room = plan->max_edges < REACH_MAX_EDGES ? plan->max_edges : REACH_MAX_EDGES;
	g->first = reach_take(space, (size_t)ix->nr * sizeof(*g->first));
	g->edges = reach_reserve(g->room * sizeof(*g->edges));
	g->bare = reach_take(space, reach_bits_bytes(ix->nr));
	if (!g->first || !g->edges || !g->bare)
		return -ENOMEM;
	rc = cut_all(g, plan->memory);
	if (rc)
		return rc;
	reach_team(plan->nr_threads, build, &w);
	if (w.stopped)
		return -EINTR;
	/* A thread that had no memory did nothing; what the others could not do was not done. */
	if (w.next < g->pieces.nr + ix->nr_chunks)
		return g->rc;
	reach_team(plan->nr_threads, strip, &w);
	return 0;
}
