/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the search for what is a root (doc/leaks.md), and what they hand to one another. For
 * roots*.c, figures*.c and their tests only.
 *
 * The mappings give ranges that may be roots, each of a kind. The parts then paint over them
 * (stacks, records of threads), and note which memory is covered: the allocator's own, where no
 * program keeps anything. Ranges without what is covered and without live blocks are the roots.
 */
#ifndef ROOTS_ROOTS_PRIV_H
#define ROOTS_ROOTS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/regs_arch.h"
#include "src/base/str.h"
#include "src/ledger/precopy.h"
#include "src/roots/roots.h"
#include "src/model/heap.h"
#include "src/model/memory.h"
#include "src/proc/proc.h"
#include "src/ptrace/process_copy.h"

#define ROOTS_PAGE	4096ull
#define ROOTS_NONE	MEMORY_NR_KINDS	/* kind of a mark: no root */
/* of smaller ranges it is not worth asking which pages are there */
#define ROOTS_TRIM_BYTES (1ull << 20)

struct roots_spans { struct memory_span *v; size_t nr, room; };		/* by address, disjoint */
struct roots_ranges { struct memory_range *v; size_t nr, room; };	/* the same */

/* An ELF object as its program headers in memory tell. */
struct roots_object {
	const char *path;		/* borrowed from the mappings */
	uint64_t start, end;		/* of its segments, whole pages */
	uint64_t relro_start, relro_end;
	uint64_t ino;
	uint32_t dev_major, dev_minor;
};

/* Which pages a process has of its own in a range, as far as the kernel can be asked. */
struct roots_pages {
	/*
	 * Append what is there of [start, end); `changed`: only what the process has written to
	 * since it mapped a file. 0 or -errno.
	 */
	int (*there)(void *arg, uint64_t start, uint64_t end, bool changed, struct roots_spans *to);
	/* The same of a shared mapping: what the file has. */
	int (*shared)(void *arg, const struct proc_map *map, struct roots_spans *to);
	void *arg;
};

/* Pages that lists lead to (roots_page_cache.c). All zero is empty. */
struct roots_page_cache {
	unsigned char *bytes;
	bool none;			/* there is no memory for it */
	size_t nr_slots;		/* for a page each, a power of 2 */
	uint64_t *tag;			/* of each slot: its page's number plus 1, 0 = none */
	uint64_t start, end;		/* numbers of the pages that were read last */
};

struct roots_find {
	/* given */
	struct memory *memory;		/* how to read; its lists are filled in */
	const struct heap *heap;
	const struct proc_maps *maps;
	const struct process_copy_thread *threads;
	size_t nr_threads;
	const struct precopy_move *moves;
	size_t nr_moves;
	struct roots_ranges own;	/* pmm's mappings in the process, kind ROOTS_NONE */
	struct memory_span pool;	/* of guarded blocks; 0, 0 = none */
	const struct roots_pages *pages;	/* NULL = whole mappings */
	uint64_t leave_sp;
	pid_t leave_tid;
	/* heap, to take blocks out of that were freed unseen; NULL = it stays as it is */
	struct heap *forget;
	bool complete;			/* (not after such blocks were found) */
	bool names_break;		/* the mappings do: "[heap]" */
	bool any_arena;			/* also arenas in which no block is known */
	bool has_chunks;		/* blocks are chunks of glibc's */
	bool asks_usable;		/* some object may call malloc_usable_size() */
	/* other code gets blocks from the allocator that pmm does not see */
	bool has_other_ways;
	/* found */
	struct roots_ranges ranges;
	struct roots_spans covered;
	VEC(struct roots_object) objects;
	struct roots_page_cache cache;	/* of memory that does not change meanwhile */
};

/*
 * All of it: fills memory->roots, words, owned, code. 0 or -ENOMEM. Release with roots_find_fini()
 * in any case.
 */
int roots_join(struct roots_find *f);
void roots_find_fini(struct roots_find *f);

/* ---- parts, in this order; 0 or -ENOMEM ------------------------------------------------------ */

int roots_objects_find(struct roots_find *f);
int roots_maps_find(struct roots_find *f);	/* ranges, code; without what is pmm's */
/* stacks, thread-local storage, registers, blocks of the C library */
int roots_threads_find(struct roots_find *f);
int roots_libc_find(struct roots_find *f);	/* blocks that the C library points into */
int glibc_chunk_map_find(struct roots_find *f);	/* covered */
int roots_pages_trim(struct roots_find *f);	/* leave out what has no memory behind it */

/* Is every block there is in the heap? */
bool roots_complete(const struct heap *h);

/* ---- ranges and spans ------------------------------------------------------------------------ */

int roots_ranges_order(struct roots_ranges *r);
/*
 * Parts of ranges under a mark take its kind, or go (ROOTS_NONE). Marks are ordered first; of two
 * that overlap the first counts.
 */
int roots_paint(struct roots_ranges *ranges, struct roots_ranges *marks);
int roots_cut(struct roots_ranges *ranges, const struct roots_spans *spans);
int roots_keep(struct roots_ranges *ranges, const struct roots_spans *spans);
int roots_cut_blocks(struct roots_ranges *ranges, const struct heap *h);
/* Append; not below the last one's start. Joined with it where they touch. */
int roots_span_add(struct roots_spans *s, uint64_t start, uint64_t end);
/* The span that ends behind an address: s->nr = none. */
size_t roots_span_at(const struct roots_spans *s, uint64_t address);
/* The range that ends behind an address. */
size_t roots_range_at(const struct roots_ranges *r, uint64_t address);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The first block at or behind an address: heap.nr_blocks = none. */
uint64_t roots_block_from(const struct heap *h, uint64_t address);
/* The live block that an address is in, of several the innermost: heap.nr_blocks = none. */
uint64_t roots_block_at(const struct heap *h, uint64_t address);
/* Is an address in a live block of the allocator's? */
bool roots_in_block(const struct heap *h, uint64_t address);

/* ---- memory ---------------------------------------------------------------------------------- */

size_t roots_read(const struct roots_find *f, uint64_t address, void *to, size_t bytes);
bool roots_word(const struct roots_find *f, uint64_t address, uint64_t *word);

/*
 * Of all pages that are held, at most: a million chunks of fast bins, which have up to 128 bytes,
 * where they touch each other. Of those that are read at once.
 */
#define ROOTS_CACHE_BYTES	(128ull << 20)
#define ROOTS_CACHE_PIECE	(64ull << 10)

/*
 * A word, in whatever order, of memory that does not change as long as `f` is there. No page is
 * read twice while it is held.
 */
bool roots_cached_word(struct roots_find *f, uint64_t address, uint64_t *word);
void roots_page_cache_fini(struct roots_page_cache *c);

#define ROOTS_WINDOW_BYTES	(256u << 10)

/*
 * Words read in order of address, in large pieces where that pays. All zero but `f` is fine;
 * window.bytes is released by free().
 */
struct roots_window {
	const struct roots_find *f;
	unsigned char *bytes;
	uint64_t start, held;
};

bool roots_window_word(struct roots_window *w, uint64_t address, uint64_t *word);

static inline uint64_t roots_page_down(uint64_t n) { return n & ~(ROOTS_PAGE - 1); }
static inline uint64_t roots_page_up(uint64_t n) { return roots_page_down(n + ROOTS_PAGE - 1); }

#endif
