/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process at one moment, as far as a search for pointers needs it: how to read it,
 * where roots are, what counts as reached.
 *
 * A root is memory that the program can get at without a pointer from the heap: data of objects,
 * stacks from their stack pointers up, thread-local storage, registers, mappings that are not the
 * heap's. Heap blocks (struct heap_block) are no roots and are in no root range, with one
 * exception: a block whose contents are of no interest may be covered by one. Addresses are those
 * of the process.
 */
#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/cancel.h"
#include "src/base/vec.h"

enum memory_kind {
	MEMORY_DATA,		/* data and bss of an object */
	MEMORY_STACK,		/* a thread's, from its red zone up */
	MEMORY_TLS,		/* thread-local storage and the thread's own record */
	MEMORY_REGISTER,	/* words only */
	MEMORY_BREAK,		/* between brk's ends, but none of the allocator's */
	/* private mapping without a file: coroutine stacks, arenas of other allocators */
	MEMORY_ANONYMOUS,
	MEMORY_SHARED,		/* shared mapping, memfd included */
	MEMORY_FILE,		/* private mapping of a file that is no object */
	/* heap memory of which is not known what is in it (blocks from before an attach) */
	MEMORY_UNKNOWN_BLOCKS,
	MEMORY_NR_KINDS,
};

struct memory_range {
	uint64_t start, end;
	uint32_t thread;	/* stacks and TLS: tid; else 0 */
	uint8_t kind;		/* enum memory_kind */
	/*
	 * Here are the allocator's lists of free chunks: a pointer to the last 16 bytes a block can
	 * use is one to the chunk behind it and counts for nothing (glibc: main_arena in libc's
	 * data).
	 */
	bool chunk_lists;
};

struct memory_word {
	uint64_t value;		/* a register's, or 8 bytes of one */
	uint32_t thread;
	uint32_t reserved;
};

struct memory_span {
	uint64_t start, end;
};

struct memory_ops {
	/*
	 * Read up to `bytes` at `address`; how many could be read from there on, 0 = none. From
	 * several threads at once.
	 */
	size_t (*read)(void *arg, uint64_t address, void *to, size_t bytes);
	/*
	 * How many of the `bytes` at `address` are zero as they were never touched; 0: not known,
	 * read them. From several threads at once. May be NULL.
	 */
	uint64_t (*untouched)(void *arg, uint64_t address, uint64_t bytes);
};

struct memory {
	const struct memory_ops *ops;
	void *arg;
	VEC(struct memory_range) roots;		/* by address, disjoint */
	VEC(struct memory_word) words;
	/* addresses in blocks that the C library owns: these blocks are reached */
	VEC(uint64_t) owned;
	/* executable mappings, by address: to recognise vtables */
	VEC(struct memory_span) code;
	/* asked while it is searched, by several threads at once */
	struct stop stop;
};

/* All zero is empty. Releases the lists; not what `arg` is. */
void memory_fini(struct memory *m);

/* Sort roots and code, cut overlaps (the first by address stays whole). 0 or -ENOMEM. */
int memory_order(struct memory *m);

#endif
