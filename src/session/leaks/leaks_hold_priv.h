/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the search for holders: which blocks are meant, names of roots, names of fields. For
 * leaks_hold*.c only.
 */
#ifndef SESSION_LEAKS_LEAKS_HOLD_PRIV_H
#define SESSION_LEAKS_LEAKS_HOLD_PRIV_H

#include "src/analyze/reach/hold.h"
#include "src/base/err.h"
#include "src/names/names.h"
#include "src/roots/roots.h"
#include "src/symbol/variables.h"
#include "src/view/hold_view.h"

struct process_copy_thread;

/* ---- which blocks (leaks_hold_target.c) ---- */

struct hold_target {
	uint64_t *wanted;		/* bit by block */
	struct hold_sum sum;
	char *asked;
};

/* 0 or -errno with `e`: -ENOENT nothing fits. hold_target_fini() in any case. */
int hold_target_find(struct hold_target *t, const char *what, const struct heap *h, struct names *n,
		     struct err *e);
void hold_target_fini(struct hold_target *t);

/* ---- roots (leaks_hold_root.c) ---- */

/* Where a root pointer is: all that are in one place have one line. */
struct hold_root {
	uint8_t kind;			/* enum hold_root_kind */
	uint32_t thread;
	uint64_t start, end;		/* addresses; of registers and the like 0 */
	uint32_t module;
	int reg;			/* a register's number; -1 = none, or not a general one */
	struct symbol_variable variable;	/* name NULL: none */
	const char *function;		/* a stack's frame; NULL = not known */
};

struct hold_walk { uint32_t thread; struct walk walk; };
/* a module's thread-local block */
struct hold_block_of { uint32_t thread, module; uint64_t start, end; };

struct hold_names {
	const struct roots *roots;
	const struct heap *heap;
	struct symbolizer *sym;		/* NULL = no names */
	const struct process_copy_thread *threads;
	size_t nr_threads;
	struct dwarf_memory memory;
	VEC(struct hold_walk) walks;
	VEC(struct hold_block_of) tls;
	bool tls_found;
};

void hold_names_init(struct hold_names *n, struct roots *s, struct symbolizer *sym);
void hold_names_fini(struct hold_names *n);

void hold_root_find(struct hold_names *n, const struct hold_edge *e, struct hold_root *r);
/*
 * Is an address in a block of the heap that of a thread-local variable? Such blocks are made for
 * libraries that are loaded later.
 */
bool hold_root_in_block(struct hold_names *n, uint64_t at, struct hold_root *r);

bool hold_root_same(const struct hold_root *a, const struct hold_root *b);

/*
 * Thread-local variables are in what the roots take for stacks and plain memory: make these parts
 * of its roots thread-local storage, which lasts longer. 0 or -ENOMEM.
 */
int hold_root_paint(struct hold_names *n, struct memory *m);

/* Put it into words. */
void hold_root_text(struct hold_names *n, const struct hold_root *r, struct hold_view_root *v);

/* The module that an address of a running process is in; 0 = none. */
uint32_t hold_module_at(const struct heap *h, uint64_t address);

/* ---- chains (leaks_hold_chain.c) ---- */

/*
 * A chain that leads through a thread-local variable begins there, whatever the C library keeps
 * that for: *r is that variable then, and the steps before it are dropped. Is it so?
 */
bool hold_chain_begin(struct hold_names *n, const struct hold *h, struct hold_chain *c,
		      struct hold_root *r);

/* Put the steps of a chain into words. 0 or -ENOMEM. */
int hold_chain_text(struct hold_names *n, const struct hold *h, const struct hold_chain *c,
		    const struct hold_root *r, struct hold_view_root *v);

#endif
