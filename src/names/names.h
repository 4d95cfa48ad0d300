/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of a heap's call tree are called, looked up on demand and remembered.
 *
 * analyze/ sees names only through this: the owner gives a `resolve` function (symbol/ behind it in
 * pmm, a plain table in tests). Each address is resolved at most once, and only on request.
 */
#ifndef NAMES_NAMES_H
#define NAMES_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/heap.h"

/* Whose code a frame is; see role.c for how that is decided. */
enum frame_role {
	FRAME_PROGRAM, /* the program and its own libraries */
	/* C and language run-time libraries: asks for memory on its caller's behalf */
	FRAME_RUNTIME,
	FRAME_ALLOCATOR, /* malloc itself and wrappers that only hand memory on */
	FRAME_MARK,	 /* no frame: says why the stack ends here */
};
#define FRAME_NR_ROLES (FRAME_MARK + 1)

/* "program", "runtime", "allocator", "mark". */
const char *frame_role_name(enum frame_role role);

struct frame_name {
	const char *function; /* demangled, NULL: not known */
	const char *linkage;  /* the same as the object file has it, NULL: not known */
	const char *file;     /* NULL: not known */
	const char *module;   /* path, NULL: not known */
	uint64_t address;     /* in the process, inside the call instruction */
	uint64_t offset;      /* the same as the ELF file counts */
	uint32_t line;	      /* 0: not known */
	bool inlined;	      /* has no frame of its own: the next entry called it inline */
	enum frame_role role;
};

/*
 * Fill out[0..max) with what `node` of `h` stands for, innermost inlined function first, function,
 * linkage name, file and line set; module where the heap names none for it. Strings must outlive
 * the names. Returns how many (at least 0; 0: not known).
 */
typedef unsigned names_resolve(void *ctx, const struct heap *h, uint32_t node,
			       struct frame_name *out, unsigned max);

struct names {
	const struct heap *heap;
	names_resolve *resolve; /* NULL: no symbols */
	void *ctx;
	struct names_entry *entry; /* hash by address */
	uint32_t nr_entries, nr_slots;
	const char *const *skip; /* patterns of functions that only hand memory on */
	unsigned nr_skip;
	const struct frame_name *lost; /* stands in when memory is out */
	bool failed;	  /* memory was out at some time */
	/* by node: the nearest that is the program's, or a run-time library's; NULL: none yet */
	uint32_t *of_program, *of_runtime;
	/* by module: an address in it was asked for and has no name; NULL: none yet */
	uint8_t *unnamed;
};

/* Names of `h`, which must outlive them. */
void names_init(struct names *n, const struct heap *h, names_resolve *resolve, void *ctx);

/*
 * Functions that match one of these are FRAME_ALLOCATOR: shell patterns on the name, with or
 * without what is in parentheses. Before the first name is asked for; the patterns must outlive the
 * names.
 */
void names_skip(struct names *n, const char *const *pattern, unsigned nr);

void names_fini(struct names *n);

/* The frames of a node, innermost first; *nr >= 1. Valid until names_fini(). Never NULL. */
const struct frame_name *names_find(struct names *n, uint32_t node, unsigned *nr);

/*
 * The innermost frame of a node that is FRAME_PROGRAM and no part of pmm.h's monitor; NULL: the
 * node belongs to a library only.
 */
const struct frame_name *names_of_program(struct names *n, uint32_t node);

/*
 * The frame that answers for a stack: the innermost that is FRAME_PROGRAM, else the innermost that
 * is no allocator. *node (may be NULL) gets its node. NULL for an unknown stack.
 */
const struct frame_name *names_responsible(struct names *n, uint32_t stack, uint32_t *node);

/*
 * Are both frames of the same line of the source, or both NULL? A number that is equal for equal
 * lines; others may have it, too.
 */
bool names_same_line(const struct frame_name *a, const struct frame_name *b);
uint64_t names_line_key(const struct frame_name *f);

/* Was a name in this module asked for in vain? */
bool names_unnamed(const struct names *n, uint32_t module);

/*
 * May the function be a part of pmm.h's monitor? It is, where one of pmm.h's functions or operator
 * new is not far outside.
 */
bool role_in_monitor(const char *function);

/*
 * Is the source file one of a language's own library? (Rust's are at /rustc/HASH/library/ or below
 * rustlib/src.)
 */
bool role_runtime_source(const char *file);

/* Does a function's name match a shell pattern, as it is or without its arguments? */
bool role_matches(const char *pattern, const char *function);

/* Role of a frame by its module's path (NULL: unknown) and function (NULL: unknown). */
enum frame_role role_of(const char *module, const char *function);

#endif
