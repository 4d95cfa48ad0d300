/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside a comparison: what functions, lines, modules and stacks of all heaps so far are, and what
 * a heap that is being added has.
 *
 * Rows 0 of all lists are the unknown stack, rows 1 what no site accounts for.
 */
#ifndef ANALYZE_DIFF_DIFF_PRIV_H
#define ANALYZE_DIFF_DIFF_PRIV_H

#include "src/analyze/diff/diff.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

#define DIFF_UNKNOWN	0u
#define DIFF_RESIDUE	1u
#define DIFF_NONE	UINT32_MAX
#define DIFF_NO_SIDE	UINT32_MAX

/* What identifies a function: numbers of texts, 0 = not known. */
struct diff_identity {
	uint32_t name, file, module;	/* as they compare */
	uint32_t build;			/* of its module, hexadecimal */
	uint64_t offset;		/* without a name */
};

/* What is shown of it: numbers of texts, 0 = not known. */
struct diff_shown {
	uint32_t function, file, module;
	bool mark;
};

struct diff_function {
	struct diff_identity id;
	struct diff_shown shown;
	uint32_t side;		/* the latest that has it; DIFF_NO_SIDE: none */
	uint32_t nr_sides;
	uint32_t first_line;	/* chain over diff_line.next */
	uint32_t module_row;
};

struct diff_line {
	uint32_t function, number;
	uint32_t side;		/* the latest that has it */
	uint32_t next;		/* of the same function; DIFF_NONE: none */
};

struct diff_module {
	uint32_t key, build;	/* texts; of the latest heap that has it */
	uint32_t shown;
	uint32_t side, nr_sides;
};

/* By what stacks count as the same, the strictest first. */
enum diff_level { LEVEL_EXACT, LEVEL_LINES, LEVEL_NAMES, LEVEL_REAL, LEVEL_PROGRAM };
#define NR_LEVELS (LEVEL_PROGRAM + 1)

struct diff_trie_node {
	uint32_t parent, key;
};

/* Sequences of numbers, outermost first, as nodes of a tree. Node 0: the empty one. */
struct diff_trie {
	VEC(struct diff_trie_node) nodes;
	struct hash_map child;
};

struct diff_stack {
	uint32_t at[NR_LEVELS];	/* nodes; of LEVEL_EXACT 0: a module has no build ID */
	uint32_t line;		/* that answers for it, in the latest heap */
	uint32_t side;		/* the latest that has it */
	bool inlined;		/* that line is in an inlined function */
	bool gone;		/* joined to another one */
};

struct diff_figures {
	VEC(int64_t) value;	/* [row * DIFF_NR_METRICS + metric] */
};

struct diff {
	struct intern texts;			/* number + 1 in all fields above */
	VEC(struct diff_function) functions;
	VEC(struct diff_line) lines;
	VEC(struct diff_module) modules;
	VEC(struct diff_stack) stacks;
	struct diff_trie trie[NR_LEVELS];
	/* keys of LEVEL_EXACT: build and offset */
	struct hash_map places;
	VEC(uint32_t) place_build;		/* by place: text */
	/* modules' builds that a heap has: text, above it the side; of any earlier: DIFF_NO_SIDE */
	struct hash_map builds;
	VEC(struct diff_figures) figures[DIFF_NR_LISTS];	/* by side */
	VEC(int64_t) totals;			/* [side * DIFF_NR_METRICS + metric] */
	unsigned nr_sides;
};

/* A function and a line of it in the heap that is being added. */
struct diff_local_function {
	struct diff_identity id;
	struct diff_shown shown;
	uint32_t function;		/* of the comparison; DIFF_NONE: not matched yet */
	uint32_t first_line;		/* chain over diff_local_line.next */
	uint32_t module_row;
};

struct diff_local_line {
	uint32_t function, number;	/* of the local ones */
	uint32_t line;			/* of the comparison */
	uint32_t next;
};

struct diff_local {
	struct diff *d;
	unsigned side;
	VEC(struct diff_local_function) functions;
	VEC(struct diff_local_line) lines;
	struct intern function_of;	/* identity as text -> local function */
	struct hash_map line_of;	/* function and number -> local line */
	struct hash_map frame_of;	/* address of a frame_name -> local line */
	uint32_t *module_row;		/* by module of the heap */
	uint32_t *module_build, *module_key;	/* by module of the heap: texts */
};

/* The number of a text, + 1; 0 = NULL. -ENOMEM, -ENOSPC. */
int64_t diff_text(struct diff *d, const char *text);
int64_t diff_textn(struct diff *d, const char *text, size_t bytes);

/* Does a side (DIFF_NO_SIDE: any of those before the latest) have a build of a module? */
static inline bool diff_has_build(const struct diff *d, uint32_t side, uint32_t build)
{
	return hash_find(&d->builds, (uint64_t)side << 32 | build) != NULL;
}

/* Rows of all modules of a heap: fills the tables of `l`. 0, -ENOMEM, -ENOSPC. */
int diff_match_modules(struct diff_local *l, const struct heap *h);

/* The local line of a frame. -ENOMEM, -ENOSPC. */
int64_t diff_local_frame(struct diff_local *l, const struct heap *h, uint32_t node,
			 const struct frame_name *f);

/* Say which functions, and which of their lines, are those of the comparison. */
int diff_match_functions(struct diff_local *l);
int diff_match_lines(struct diff_local *l);

/* The child of a node by key, made if there is none. -ENOMEM, -ENOSPC. */
int64_t diff_trie_step(struct diff_trie *t, uint32_t node, uint32_t key);

/* A stack of the heap that is being added: its nodes, and the row that it turns out to be. */
struct diff_local_stack {
	uint32_t at[NR_LEVELS];
	uint32_t line;		/* that answers for it; of the local ones */
	bool inlined;
	uint32_t row;
};

/* Fill in the rows of the stacks of the heap. */
int diff_match_stacks(struct diff_local *l, struct diff_local_stack *stack, size_t nr);

/*
 * An inlined function of the heap is one that the comparison knows by another name. Only while no
 * figures were added. 0 or -ENOMEM.
 */
int diff_rename(struct diff_local *l, uint32_t local, uint32_t function);

#endif
