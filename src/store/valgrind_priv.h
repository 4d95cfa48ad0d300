/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Valgrind's XML: what is known of it while it is read (valgrind.c), and an error into the heap
 * (valgrind_error.c).
 */
#ifndef STORE_VALGRIND_PRIV_H
#define STORE_VALGRIND_PRIV_H

#include <expat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/store/valgrind.h"

#define MAX_DEPTH	32
#define MAX_STACKS	4		/* of one error */

/* The elements that matter; all others are OTHER. */
enum element {
	OTHER,
	OUTPUT,
	ARGV,
	EXE,
	ARG,
	PID,
	STATUS,
	STATE,
	ERROR,
	UNIQUE,
	TID,
	KIND,
	WHAT,
	XWHAT,
	TEXT,
	AUXWHAT,
	STACK,
	FRAME,
	IP,
	OBJ,
	FN,
	DIR,
	FILE_,
	LINE,
	ERRORCOUNTS,
	PAIR,
	COUNT,
	PPID,
	THREADNAME,
	NR_ELEMENTS,
};

struct frame {
	uint64_t ip;
	struct valgrind_frame name;
};

/* One stack, with what was said before it. */
struct stack {
	VEC(struct frame) frames;
	char *before;			/* "" = nothing */
};

struct node_names {
	uint32_t first, nr;		/* in v->names */
};

struct valgrind {
	XML_Parser parser;
	struct heap *heap;
	struct arena text;		/* strings of names */
	VEC(struct valgrind_frame) names;
	VEC(struct node_names) by_node;
	struct hash_map nodes;		/* parent and address, scrambled -> node */
	struct hash_map sites;		/* node -> site */
	struct hash_map errors;		/* unique -> finding */
	struct str cmdline, exe;
	uint64_t now_ns;
	int rc;				/* trouble with memory */
	bool ended, seen_root;

	enum element open[MAX_DEPTH];	/* the elements we are in; the first is the outermost */
	unsigned depth;
	struct str chars;		/* of the innermost */

	/* the error being read */
	struct str kind, what, aux, thread_name;
	uint64_t unique;
	uint32_t tid;
	struct stack stack[MAX_STACKS];
	unsigned nr_stacks;
	struct frame frame;
	struct str dir;
	uint64_t count;
};

/* The error that was read becomes a finding; v->rc is set when memory runs out. */
void valgrind_add_error(struct valgrind *v);

/* Nothing of it was read yet. */
void valgrind_forget_error(struct valgrind *v);

#endif
