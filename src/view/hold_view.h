/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds blocks, as a document: roots with how much hangs on each, the chain from the root to a
 * block, what each pointer holds alone.
 */
#ifndef VIEW_HOLD_VIEW_H
#define VIEW_HOLD_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/names/names.h"
#include "src/analyze/reach/reach.h"
#include "src/base/vec.h"
#include "src/model/heap.h"
#include "src/document/doc.h"

#define HOLD_SCHEMA "pmm-holds/1.1"

enum hold_root_kind {
	HOLD_ROOT_VARIABLE,
	HOLD_ROOT_SECTION,		/* of an object without a name for the place */
	HOLD_ROOT_THREAD_VARIABLE,
	HOLD_ROOT_THREAD,		/* thread-local storage or record */
	HOLD_ROOT_STACK,
	HOLD_ROOT_REGISTER,
	HOLD_ROOT_KERNEL,		/* a word that the program has entrusted to the kernel */
	HOLD_ROOT_LIBRARY,		/* counts as reached, as the C library owns it */
	HOLD_ROOT_MEMORY,		/* a mapping of which no more is known */
	HOLD_NR_ROOT_KINDS,
};

/* What would be lost if a pointer, or all of a root's, were cleared. */
struct hold_alone { bool known; uint64_t blocks, bytes; };

/* A pointer on a chain and the block that it leads to. Texts are owned; NULL: not known. */
struct hold_view_step {
	char *pointer;			/* "cache.table[3]", ".next", "offset 24" */
	char *type;			/* of the block, where a typed pointer leads to it */
	uint32_t block;			/* index into heap.blocks */
	uint32_t into;			/* where in the block it points */
	uint64_t offset;		/* of the pointer, in the root or the block before */
	uint64_t same;			/* pointers to this block in the one before */
	uint64_t skipped;		/* blocks of the chain that are left out before this step */
	struct hold_alone alone;
};

struct hold_view_root {
	uint8_t kind;			/* enum hold_root_kind */
	char *name;			/* "cache", ".bss+0x40", a register */
	char *text;			/* "variable cache (server.c:12)" */
	char *function, *module, *file;
	uint32_t line, thread;
	uint64_t address;		/* of the pointer on the chain; 0 = none */
	uint64_t blocks, bytes;		/* of those asked for, that hang on it */
	struct hold_alone alone;	/* all of its pointers cleared */
	/*
	 * the root that would hold the last block of the chain then; NULL = none would, or it was
	 * not looked for
	 */
	char *otherwise;
	uint64_t chain_blocks;
	VEC(struct hold_view_step) steps;
};

struct hold_sum { uint64_t blocks, bytes; };

struct hold_answer {
	struct heap *heap;		/* freed with it */
	char *asked;			/* "blocks allocated in make_entry" */
	char *verdict;			/* of blocks that nothing holds; NULL = there are none */
	struct hold_sum sum, by_class[REACH_NR_CLASSES];
	struct hold_sum rest;		/* held by roots beyond --top */
	/* counts as reached, but not over pointers that were found */
	struct hold_sum unreported;
	uint64_t nr_rest;
	VEC(struct hold_view_root) roots;
};

void hold_answer_fini(struct hold_answer *a);

/* Fill a document that is empty; answer and names must outlive it. 0 or -ENOMEM. */
int hold_view(struct doc *d, const struct hold_answer *a, struct names *n);

#endif
