/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the search for what is a root (doc/leaks.md), and what they hand to one another. For scene*.c, figures*.c and their tests only.
 *
 * The mappings give ranges that may be roots, each of a kind. The parts then paint over them (stacks, records of threads), and note which
 * memory is covered: the allocator's own, where no program keeps anything. Ranges without what is covered and without live blocks are
 * the roots.
 */
#ifndef ROOTS_SCENE_PARTS_H
#define ROOTS_SCENE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/ledger/freeze.h"
#include "src/roots/roots.h"
#include "src/model/heap.h"
#include "src/model/memory.h"
#include "src/proc/proc.h"
#include "src/ptrace/snapshot.h"

#define SCENE_PAGE	4096ull
#define SCENE_NONE	MEMORY_NR_KINDS	/* kind of a mark: no root */
#define SCENE_TRIM_BYTES (1ull << 20)	/* of smaller ranges it is not worth asking which pages are there */
#define SCENE_RED_ZONE	128u		/* bytes below the stack pointer that functions may use (x86-64 psABI 3.2.2) */

struct scene_spans { struct memory_span *v; size_t nr, room; };		/* by address, disjoint */
struct scene_ranges { struct memory_range *v; size_t nr, room; };	/* the same */

/* An ELF object as its program headers in memory tell. */
struct scene_object {
	const char *path;		/* borrowed from the mappings */
	uint64_t start, end;		/* of its segments, whole pages */
	uint64_t relro_start, relro_end;
	uint64_t ino;
	uint32_t dev_major, dev_minor;
};

/* Which pages a process has of its own in a range, as far as the kernel can be asked. */
struct scene_pages {
	/* Append what is there of [start, end); `changed`: only what the process has written to since it mapped a file. 0 or -errno. */
	int (*there)(void *arg, uint64_t start, uint64_t end, bool changed, struct scene_spans *to);
	/* The same of a shared mapping: what the file has. */
	int (*shared)(void *arg, const struct proc_map *map, struct scene_spans *to);
	void *arg;
};

struct scene_find {
	/* given */
	struct memory *memory;		/* how to read; its lists are filled in */
	const struct heap *heap;
	const struct proc_maps *maps;
	const struct snapshot_thread *threads;
	size_t nr_threads;
	const struct freeze_move *moves;
	size_t nr_moves;
	struct scene_ranges own;	/* pmm's mappings in the process, kind SCENE_NONE */
	struct memory_span pool;	/* of guarded blocks; 0, 0 = none */
	const struct scene_pages *pages;	/* NULL = whole mappings */
	uint64_t leave_sp;
	pid_t leave_tid;
	struct heap *forget;		/* heap, to take blocks out of that were freed unseen; NULL = it stays as it is */
	bool complete;			/* (not after such blocks were found) */
	bool names_break;		/* the mappings do: "[heap]" */
	bool any_arena;			/* also arenas in which no block is known */
	bool has_chunks;		/* blocks are chunks of glibc's */
	bool asks_usable;		/* some object may call malloc_usable_size() */
	bool has_other_ways;		/* somebody gets blocks from the allocator that pmm does not see */
	/* found */
	struct scene_ranges ranges;
	struct scene_spans covered;
	VEC(struct scene_object) objects;
};

/* All of it: fills memory->roots, words, owned, code. 0 or -ENOMEM. Release with scene_find_fini() in any case. */
int scene_find_roots(struct scene_find *f);
void scene_find_fini(struct scene_find *f);

/* ---- parts, in this order; 0 or -ENOMEM ------------------------------------------------------------------ */

int scene_objects_find(struct scene_find *f);
int scene_maps_find(struct scene_find *f);	/* ranges, code; without what is pmm's */
int scene_threads_find(struct scene_find *f);	/* stacks, thread-local storage, registers, blocks of the C library */
int scene_libc_find(struct scene_find *f);	/* blocks that the C library points into */
int scene_allocator_find(struct scene_find *f);	/* covered */
int scene_pages_trim(struct scene_find *f);	/* leave out what has no memory behind it */

/* Is every block there is in the heap? */
bool scene_complete(const struct heap *h);

/* ---- ranges and spans ------------------------------------------------------------------------------------ */

int scene_ranges_order(struct scene_ranges *r);
/* Parts of ranges under a mark take its kind, or go (SCENE_NONE). Marks are ordered first; of two that overlap the first counts. */
int scene_paint(struct scene_ranges *ranges, struct scene_ranges *marks);
int scene_cut(struct scene_ranges *ranges, const struct scene_spans *spans);
int scene_keep(struct scene_ranges *ranges, const struct scene_spans *spans);
int scene_cut_blocks(struct scene_ranges *ranges, const struct heap *h);
/* Append; not below the last one's start. Joined with it where they touch. */
int scene_span_add(struct scene_spans *s, uint64_t start, uint64_t end);
/* The span that ends behind an address: s->nr = none. */
size_t scene_span_at(const struct scene_spans *s, uint64_t address);
/* The range that ends behind an address. */
size_t scene_range_at(const struct scene_ranges *r, uint64_t address);

/* ---- blocks ---------------------------------------------------------------------------------------------- */

/* The first block at or behind an address: heap.nr_blocks = none. */
uint64_t scene_block_from(const struct heap *h, uint64_t address);
/* The live block that an address lies in, of several the innermost: heap.nr_blocks = none. */
uint64_t scene_block_at(const struct heap *h, uint64_t address);
/* Does an address lie in a live block of the allocator's? */
bool scene_in_block(const struct heap *h, uint64_t address);

/* ---- memory ---------------------------------------------------------------------------------------------- */

size_t scene_read(const struct scene_find *f, uint64_t address, void *to, size_t bytes);
bool scene_word(const struct scene_find *f, uint64_t address, uint64_t *word);

#define SCENE_WINDOW_BYTES	(256u << 10)

/* Words read in order of address, in large pieces where that pays. All zero but `f` is fine; window.bytes is released by free(). */
struct scene_window {
	const struct scene_find *f;
	unsigned char *bytes;
	uint64_t start, held;
};

bool scene_window_word(struct scene_window *w, uint64_t address, uint64_t *word);

static inline uint64_t scene_page_down(uint64_t n) { return n & ~(SCENE_PAGE - 1); }
static inline uint64_t scene_page_up(uint64_t n) { return scene_page_down(n + SCENE_PAGE - 1); }

#endif
