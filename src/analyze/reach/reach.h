/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability: which live blocks can the program still get at?
 *
 * In the terms of Valgrind's memcheck. From the roots (src/model/memory.h) pointers are followed
 * through blocks:
 *     reached   over pointers to starts of blocks only (or to what a heuristic knows to be as good)
 *     possible  else, over a chain with at least one pointer into a block's middle
 *     indirect  not reached from a root, but from a lost block
 *     definite  the others; of a cycle of lost blocks that nothing else lost points to, exactly one
 *               (the one at the lowest address)
 *
 * A pointer is an aligned word whose value is in [start, start + size) of a block, or at the
 * start of a block of size 0. Of blocks that are in one another (pools) the innermost counts, and
 * the bytes of the inner ones are not the outer one's. A block's pointers to itself say nothing.
 *
 * Passes: the blocks' memory is read once, in order of address, in large pieces by all threads, and
 * every pointer found is kept as four bytes (a compact graph); what follows runs on the graph. No
 * recursion; extra memory per block is bounded (see reach_stats).
 */
#ifndef ANALYZE_REACH_REACH_H
#define ANALYZE_REACH_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/model/heap.h"
#include "src/model/memory.h"

enum reach_class {
	REACH_REACHED,
	REACH_POSSIBLE,
	REACH_INDIRECT,
	REACH_DEFINITE,
	REACH_NR_CLASSES
};

/*
 * Pointers into the middle of a block that are as good as pointers to its start (memcheck manual,
 * --leak-check-heuristics).
 */
enum reach_heuristic {
	/* the characters of an old-style std::string: length, capacity, count before them */
	REACH_STDSTRING		= 1 << 0,
	/* behind a first word that holds the size of the rest */
	REACH_LENGTH64		= 1 << 1,
	/* behind the number of elements that new[] put first */
	REACH_NEWARRAY		= 1 << 2,
	/* a second vtable pointer within an object that begins with one */
	REACH_MULTIPLE_INHERITANCE = 1 << 3,
	/*
	 * behind a header of one size, throughout a call site or many (reach_habit.h; not
	 * memcheck's)
	 */
	REACH_HEADER		= 1 << 4,
	/* several of them: parts of a pool are in use (likewise) */
	REACH_POOL		= 1 << 5,
	REACH_MEMCHECKS		= 15,
	REACH_ALL_HEURISTICS	= 63,
};

struct reach_options {
	unsigned heuristics;		/* enum reach_heuristic */
	/* these bits of a word are no part of a pointer; 0 = none */
	uint64_t tag_mask;
	unsigned nr_threads;		/* 0 = one for each processor */
	bool want_parents;		/* see reach.parent */
	/*
	 * kept; the pointers of blocks beyond are read again when needed. 0 = as memory allows
	 * (doc/leaks.md)
	 */
	uint64_t max_edges;
};

struct reach_stats {
	uint64_t read_bytes;		/* of blocks and roots */
	uint64_t pointers;		/* found in blocks */
	uint64_t unread_bytes;		/* could not be read */
	/* largest amount of memory taken, without the heap's own arrays */
	uint64_t extra_bytes;
	/* time for reading and finding pointers; for following them */
	uint64_t build_ns, mark_ns;
};

/* A block that is reached by a habit of the program only: REACH_HEADER, REACH_POOL. */
struct reach_habit {
	uint32_t block;
	uint32_t header_bytes;		/* before what is pointed to; 0 = a pool */
};

struct reach {
	uint8_t *class;			/* enum reach_class, by index into heap.blocks */
	/*
	 * Of an indirect block the definite one it is counted with (the lowest that reaches it); of
	 * a reached or possible one the block that was first found to point to it, if want_parents;
	 * else, and from a root, UINT32_MAX.
	 */
	uint32_t *parent;
	uint64_t nr;			/* blocks */
	VEC(struct reach_habit) habits;	/* by block */
	struct reach_stats stats;
};

/*
 * Classify every block of a heap. `r` is released with reach_fini(). 0 or -errno with `e`: -ENOMEM,
 * -E2BIG more than 2^30 blocks.
 */
int reach_run(const struct heap *h, const struct memory *m, const struct reach_options *o,
	      struct reach *r, struct err *e);
void reach_fini(struct reach *r);

#endif
