/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds a block: the chain of pointers that leads to it from a root, and what would become
 * unreachable if one of them were cleared.
 *
 *     hold_open()      the graph of blocks (reach_graph.h), every pointer in a root, and the
 *                      shortest chain to each block
 *     hold_sources()   the blocks asked for by the root they hang on
 *     hold_chain()     the chain of one block, place by place
 *     hold_dominate()  what each of some pointers holds alone
 *
 * All of these read the process's memory; hold_close() ends that. Names of roots and fields are not
 * known here.
 *
 * A chain is the shortest from the most lasting root that leads to the block: objects' data first,
 * then thread-local storage, stacks, other memory, registers. Pointers to starts (and what a
 * heuristic takes for such) count before those into the middle, as in reach.h.
 */
#ifndef ANALYZE_REACH_HOLD_H
#define ANALYZE_REACH_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/reach/reach.h"
#include "src/analyze/reach/reach_graph.h"
#include "src/analyze/reach/reach_guess.h"

#define HOLD_NONE	UINT32_MAX
#define HOLD_MAX_CUTS	4096u		/* pointers and sets of pointers cut at a time */

enum hold_place {
	HOLD_MEMORY,			/* in memory.roots: `at` is the address of the pointer */
	HOLD_WORD,			/* `at` is the index into memory.words */
	HOLD_OWNED,			/* no pointer: memory.owned[at] is in the block */
};

/* A pointer out of a root. */
struct hold_edge {
	uint64_t at;
	uint32_t block, offset;		/* where it points */
	uint8_t place;			/* enum hold_place */
	uint8_t rank;			/* how lasting the root is; 0 = most */
	/* of hold_dominate(): the set it is in, the cut that it is by itself; 0 = none */
	uint16_t set;
	uint16_t cut;
};

struct hold {
	const struct heap *heap;
	const struct memory *memory;
	struct reach_space space;
	struct reach_index index;
	struct reach_graph graph;
	struct reach_scanner scanner;
	struct reach_guess guess;
	VEC(struct hold_edge) edges;	/* by rank, then place and address */
	/* blocks that are reached, in the order in which they were */
	uint32_t *order;
	/* by block: the block before it on its chain; HOLD_NONE = a root */
	uint32_t *from;
	uint32_t *origin;		/* by block: index into edges; HOLD_NONE = not reached */
	/* the first nr_firm are reached, the others possibly lost */
	uint32_t nr_order, nr_firm;
	bool any;			/* while searching: pointers into the middle count */
	int rc;
};

/* Search a heap's memory. 0 or -errno with `e`; hold_close() in any case. */
int hold_open(struct hold *h, const struct heap *heap, const struct memory *m,
	      const struct reach_options *o, struct err *e);
void hold_close(struct hold *h);

/* What a root pointer leads to of the blocks asked for. */
struct hold_source {
	uint32_t edge;			/* index into edges */
	uint32_t nearest;		/* of these blocks, the one with the shortest chain */
	uint64_t blocks, bytes;
};
struct hold_sources { struct hold_source *v; size_t nr, room; };

/*
 * The blocks whose bit is set in `wanted` (by block) by root pointer. *out by first find;
 * vec_fini() it. 0 or -ENOMEM.
 */
int hold_sources(const struct hold *h, const uint64_t *wanted, struct hold_sources *out);

/* steps kept of a long chain, at its beginning and at its end */
#define HOLD_HEAD	12u
#define HOLD_TAIL	8u
#define HOLD_SLACK	4u		/* it is not worth leaving out so few */

/* A block on a chain, and the pointer that leads to it. */
struct hold_step {
	uint32_t block;
	uint32_t into;			/* where into the block it points */
	/* pointers to this block in the one before; of the first step 1 */
	uint32_t same;
	uint32_t before;		/* block that the pointer is in; HOLD_NONE = the root */
	uint64_t field;			/* where in that one: its offset; of the first step 0 */
	uint64_t skipped;		/* blocks of the chain that are left out before this step */
};

struct hold_chain {
	uint32_t edge;
	uint64_t nr;			/* blocks on it */
	/* the first begins at the root, the last is the block asked for */
	VEC(struct hold_step) steps;
};

/* The chain to a block that is reached. 0 or -ENOMEM. */
int hold_chain(struct hold *h, uint32_t block, struct hold_chain *c);
void hold_chain_fini(struct hold_chain *c);

/*
 * Which root pointer would lead to a block if all those of a set (hold_edge.set) were cleared: its
 * index, HOLD_NONE = none would. 0 or -errno.
 */
int hold_otherwise(struct hold *h, unsigned set, uint32_t block, uint32_t *edge);

enum hold_cut_kind {
	/* every root pointer whose `set` is the number of this cut, counted from 1 */
	HOLD_CUT_SET,
	HOLD_CUT_EDGE,			/* one root pointer */
	/* the pointer in block `from` to block `to`, where there is one only */
	HOLD_CUT_POINTER,
};

struct hold_cut {
	uint8_t kind;			/* enum hold_cut_kind */
	uint32_t from, to;		/* HOLD_CUT_EDGE: `from` is the index into edges */
	uint64_t blocks, bytes;		/* found: what nothing would lead to any more */
};

/*
 * Fill in what each of the cuts, made alone, would cut off: the subtrees of a dominator tree in
 * which each cut is a vertex of its own. At most HOLD_MAX_CUTS; a root pointer is in one set at
 * most. Time grows with the number of pointers but for a logarithm, memory with blocks and
 * pointers. 0; -ENOMEM, -E2BIG, -EINTR with `e`.
 */
int hold_dominate(struct hold *h, struct hold_cut *cuts, size_t nr, struct err *e);

#endif
