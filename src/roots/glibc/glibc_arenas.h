/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc's malloc as seen from outside: its arenas, found by their shape, and its chunks.
 *
 * What is known of its layout (malloc/malloc.c, malloc/arena.c; the same from 2.26 on) is checked
 * on the process's own memory before it is believed: bins that point to themselves, a ring of
 * arenas that closes, sizes that lead from one chunk to the next.
 */
#ifndef ROOTS_GLIBC_GLIBC_ARENAS_H
#define ROOTS_GLIBC_GLIBC_ARENAS_H

#include "src/roots/roots_priv.h"

/* Memory of an arena other than the main one. */
struct glibc_heap {
	uint64_t start, end;
	uint64_t first;			/* its first chunk */
};

struct glibc_arena {
	uint64_t state;
	uint64_t before;		/* bytes of the state before its bins */
};

struct glibc {
	/* every struct malloc_state in data, of all C libraries there are */
	VEC(struct memory_span) states;
	VEC(struct glibc_arena) arenas;
	VEC(uint64_t) tops;		/* the topmost chunks of the arenas, by address */
	VEC(struct glibc_heap) heaps;	/* by address */
};

/*
 * Find the arenas of the C library whose blocks are known. No arena: the allocator is another one,
 * or of another shape. 0 or -ENOMEM.
 */
int glibc_find(struct roots_find *f, struct glibc *g);
void glibc_fini(struct glibc *g);

/*
 * Go through the chunks of [lo, hi): from live block to live block, from `first` (0 = not known) to
 * the first one, from the last one to the top. Where the sizes lead where they must, what is
 * between blocks is covered: all of it when every block is known, else what is free.
 */
int glibc_cover(struct roots_find *f, const struct glibc *g, uint64_t lo, uint64_t hi,
		uint64_t first);

/*
 * When not every block is known: cover what the lists of freed chunks say that are kept as if used,
 * in threads' caches and in fast bins. What has been covered so far stays.
 */
int glibc_cached(struct roots_find *f, const struct glibc *g);

/*
 * What these lists say to be free, whatever blocks are said to be live: what each chunk gave its
 * owner, in no order. 0 or -ENOMEM.
 */
int glibc_cached_chunks(struct roots_find *f, const struct glibc *g, struct roots_spans *to);

/*
 * Are the blocks chunks of glibc's as they are? Not where another library is before it, which
 * may put something of its own before each block; nor where pmm does.
 */
bool glibc_gives_blocks(const struct heap *h);

/*
 * Can a request for so many bytes have got a chunk of this size? Remainders that are too small for
 * a chunk stay with it.
 */
bool glibc_fits(const struct heap_block *b, uint64_t bytes);

/*
 * Take blocks out of f->forget that have been freed unseen: glibc has their memory free, or in a
 * chunk that cannot be theirs, or it is not mapped any more. Then not every block is known. 0 or
 * -ENOMEM.
 */
int glibc_forget(struct roots_find *f, const struct glibc *g);

#endif
