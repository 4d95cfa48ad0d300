/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live blocks of a running process exactly as they were at one moment, though reading them
 * takes longer than that moment may last.
 *
 *     precopy_begin(&f, map, &e);  the process runs: copies the block tables, and asks the agent to
 *                                  mark what it changes from then on
 *     ... all threads are stopped ...
 *     precopy_now(&f, &e);  copies again what was marked: as much as changed in some milliseconds
 *     ... the threads run ...
 *     precopy_heap(&f, &o, &h, &e);  the heap, its blocks as of precopy_now()
 *     precopy_end(&f);
 *
 * As migration of virtual machines does it (pre-copy). How, and why nothing is missed:
 * doc/ledger.md, "The pre-copy". The moment is that of the tables: a thread stopped in the middle
 * of malloc() or free() may have its block in the program's hands already and not yet in the table,
 * or no longer, which is harmless (doc/leaks.md), and in the middle of realloc() a block is in no
 * table: `moves` has these.
 */
#ifndef LEDGER_PRECOPY_H
#define LEDGER_PRECOPY_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/ledger/ledger_heap.h"

/* a thread may know a new block by what its allocator keeps before it, at most so far */
#define PRECOPY_HEADER_BYTES	64

/*
 * Memory that a thread was moving, all of which counts as reached: what is there of [from, from +
 * bytes) outside of known blocks; and for each word of that thread's registers and stack below `sp`
 * that leads to heap memory outside of known blocks, the `to_bytes` from there on, for there is
 * where the contents may be by now. Why that is enough: doc/leaks.md.
 */
struct precopy_move {
	/* where the block was, and as much of it as the new one will hold */
	uint64_t from, bytes;
	uint64_t to_bytes;		/* the same and PRECOPY_HEADER_BYTES */
	uint64_t sp;			/* of the hook's caller */
	uint32_t tid;			/* as in the process's pid namespace; 0 = not known */
};

struct precopy {
	struct ledger_map *map;		/* borrowed */
	uint64_t copied_bytes;		/* in precopy_begin(), all rounds */
	uint64_t late_bytes;		/* in precopy_now() */
	VEC(struct precopy_move) moves;	/* by precopy_now() */
	struct precopy_state *state;
};

/*
 * 0 or -errno with `e`: -EROFS the ledger cannot be written (then nothing can be marked), -EBUSY
 * another pmm is at it, -ENOMEM.
 */
int precopy_begin(struct precopy *f, struct ledger_map *map, struct err *e);

/* With all threads of the process stopped (or ended). 0 or -errno with `e`. */
int precopy_now(struct precopy *f, struct err *e);

/*
 * In place of both where the threads are stopped until precopy_heap() is done: nothing is marked,
 * copied or waited for. 0 or -errno with `e`.
 */
int precopy_still(struct precopy *f, struct ledger_map *map, struct err *e);

/*
 * As ledger_read(), but blocks and mappings are those of precopy_now(); counters, sites and threads
 * may be newer. Once.
 */
int precopy_heap(struct precopy *f, const struct ledger_options *o, struct heap **out,
		 struct err *e);

/* Release; what was copied may still be read in `f`. All zero is fine. */
void precopy_end(struct precopy *f);

#endif
