/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which block points to which: the compact graph of a heap.
 *
 * An edge is four bytes: the index of the block pointed to and two flags. REACH_INTERIOR: the
 * pointer is one into the block's middle, and the next four bytes say where. REACH_LAST: no further
 * edge of this block. `first` says where a block's edges begin. Blocks of more than REACH_PIECE
 * bytes have their edges by pieces, so that they are read by all threads. When the budget for edges
 * is used up, the blocks that are left are read again when they are reached; so are blocks with
 * others in them.
 */
#ifndef ANALYZE_REACH_REACH_GRAPH_H
#define ANALYZE_REACH_REACH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/reach/reach_scan.h"

#define REACH_MAX_BLOCKS	(1u << 30)
#define REACH_INTERIOR		(1u << 31)
#define REACH_LAST		(1u << 30)
#define REACH_INDEX		(REACH_LAST - 1)

#define REACH_PIECE		(128 << 10)	/* bytes */
/* edges a thread claims at once, more than a piece can have */
#define REACH_SEGMENT		(64 << 10)

/* Values of `first` that are no place in `edges`. */
#define REACH_EMPTY		UINT32_MAX	/* no pointers */
#define REACH_AGAIN		(UINT32_MAX - 1)	/* read it again */
#define REACH_PIECES		(UINT32_MAX - 2)	/* look among the pieces */
#define REACH_MAX_EDGES		(UINT32_MAX - 3)

struct reach_piece {
	uint32_t block;
	uint32_t first;			/* as of a block; never REACH_PIECES */
	uint64_t from, to;
};

struct reach_graph {
	const struct reach_index *ix;
	uint32_t *first;		/* by block */
	/* bit by block: first is REACH_EMPTY; a sixteenth of the memory to ask, for many blocks */
	uint64_t *bare;
	uint32_t *edges;
	uint64_t room, claimed;		/* edges: budget, part given to threads */
	VEC(struct reach_piece) pieces;	/* by address */
	uint64_t pointers, read_bytes, unread_bytes;
	struct reach_space *space;
	int rc;
};

struct reach_plan {
	const struct memory *memory;
	uint64_t tag_mask;
	unsigned nr_threads;
	uint64_t max_edges;		/* budget */
};

/* Read all blocks. 0 or -ENOMEM. Released with reach_graph_fini(). */
int reach_graph_init(struct reach_graph *g, const struct reach_index *ix,
		     const struct reach_plan *plan, struct reach_space *space);
void reach_graph_fini(struct reach_graph *g);

typedef void reach_edge_fn(void *arg, uint32_t to, uint32_t offset);

static inline bool reach_is_bare(const struct reach_graph *g, uint32_t block)
{
	return g->bare[block / 64] >> (block & 63) & 1;
}

static inline void reach_follow_edges(const uint32_t *edge, reach_edge_fn *fn, void *arg)
{
	uint32_t e;

	do {
		e = *edge++;
		fn(arg, e & REACH_INDEX, e & REACH_INTERIOR ? *edge++ : 0);
	} while (!(e & REACH_LAST));
}

/* The part of reach_follow() that is seldom needed. */
void reach_follow_other(const struct reach_graph *g, struct reach_scanner *s, uint32_t block,
			reach_edge_fn *fn, void *arg);

/*
 * Call fn for each pointer found in a block: the block pointed to, and where into it. The scanner
 * is the caller's, for reading again.
 */
static inline void reach_follow(const struct reach_graph *g, struct reach_scanner *s,
				uint32_t block, reach_edge_fn *fn, void *arg)
{
	uint32_t first = g->first[block];

	if (first < REACH_MAX_EDGES)
		reach_follow_edges(g->edges + first, fn, arg);
	else if (first != REACH_EMPTY)
		reach_follow_other(g, s, block, fn, arg);
}

#endif
