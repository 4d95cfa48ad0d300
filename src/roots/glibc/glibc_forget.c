/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that were freed unseen: by code that calls the real free itself, or before a hook was
 * there. The block table still has them, and what points to them is long gone: they would be called
 * lost. What glibc itself has of them shows that.
 *
 * Tables and memory are of one moment. A hook takes a block out of the table before the real free
 * runs, and enters one after the real malloc has come back. So at no moment is a block in the table
 * and free, unless it was freed past the hooks.
 *
 *   - Its memory is in a free chunk: of a thread's cache, a fast bin, a bin, the top. Merging with
 *     neighbours does not matter, as the whole of a free chunk is.
 *   - Its memory is not mapped any more; or is, but is neither in an arena nor begins like a chunk
 *     that has a mapping for itself.
 *   - The chunks of its arena, followed by their sizes from the first one to the top, have none
 *     that begins where its chunk would, or one of a size that glibc does not give for what was
 *     asked: it was freed, and the memory handed out anew, past the hooks both times.
 *
 * What was handed out anew in the same size cannot be distinguished from a block that is
 * still in use, and counts as that.
 *
 * The first kind is true of whatever is there. The others ask that blocks are chunks of glibc's,
 * so they are not looked for where there may be other allocators beside it (attached), or something
 * of ours before a block (checks, pmm.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/roots/glibc/glibc_arenas.h"

#define NR_BINS		127u
#define CHUNK_MIN	32u
#define FENCE		16u
#define PREV_INUSE	1u
#define IS_MMAPPED	2u
#define SIZE(word)	((word) & ~7ull)
#define NR(a)		(sizeof(a) / sizeof((a)[0]))
#define MAX_BINNED	(1u << 20)	/* chunks of bins that are looked at */
/* of arenas that are followed chunk by chunk without a reason: a quarter of a second */
#define MAX_WALKED	(256ull << 20)

struct forgetting {
	struct roots_find *f;
	const struct glibc *g;
	/* what free chunks gave their owners; by address once all are there */
	struct roots_spans free;
	struct roots_window w;
	uint64_t *gone;			/* a bit for each block */
	uint64_t nr_gone;
	unsigned nr_looked_at;
};

static void block_gone(struct forgetting *x, uint64_t i)
{
	x->nr_gone += !(x->gone[i / 64] >> (i & 63) & 1);
	x->gone[i / 64] |= 1ull << (i & 63);
}

/* ---- free chunks ----------------------------------------------------------------------------- */

static bool cached_words(struct roots_find *f, uint64_t address, uint64_t *to, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!roots_cached_word(f, address + i * 8, &to[i]))
			return false;
	return true;
}

/*
 * A chunk in a bin: as its neighbours in the list and behind it say? Noted; its successor in *next.
 * 1, 0, -ENOMEM.
 */
static int binned_add(struct forgetting *x, uint64_t chunk, uint64_t before, uint64_t *next)
{
	uint64_t word[3], after[2], bytes;

	if (!chunk || chunk & 15 || x->nr_looked_at++ >= MAX_BINNED ||
	    !cached_words(x->f, chunk + 8, word, NR(word)))
		return 0;
	bytes = SIZE(word[0]);
	if (word[2] != before || bytes < CHUNK_MIN || bytes & 15 || chunk + bytes < chunk ||
	    !cached_words(x->f, chunk + bytes, after, NR(after)) || after[0] != bytes ||
	    after[1] & PREV_INUSE)
		return 0;
	*next = word[1];
	return vec_push(&x->free, (struct memory_span){ chunk + 16, chunk + bytes }) ? -ENOMEM : 1;
}

/*
 * The lists of an arena's larger chunks, each a ring through its bin. One that a thread is just
 * changing is believed as far as it goes.
 */
static int bins_find(struct forgetting *x, const struct glibc_arena *a)
{
	uint64_t word[2 * NR_BINS], bins = a->state + a->before;
	int rc = 1;

	if (roots_read(x->f, bins, word, sizeof(word)) != sizeof(word))
		return 0;
	for (unsigned i = 0; rc >= 0 && i < NR_BINS; i++) {
		uint64_t bin = bins + i * 16 - 16, before = bin, chunk = word[2 * i], next;

		while (chunk != bin && (rc = binned_add(x, chunk, before, &next)) > 0) {
			before = chunk;
			chunk = next;
		}
	}
	return rc < 0 ? rc : 0;
}

static int tops_find(struct forgetting *x)
{
	int rc = 0;
	uint64_t word;

	vec_each(&x->g->tops, top)
		if (!rc && roots_word(x->f, *top + 8, &word) && SIZE(word) > 16 &&
		    *top + SIZE(word) > *top)
			rc = vec_push(&x->free,
				      (struct memory_span){ *top + 16, *top + SIZE(word) });
	return rc;
}

static int by_address(const void *a, const void *b)
{
	const struct memory_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int free_find(struct forgetting *x)
{
	int rc = glibc_cached_chunks(x->f, x->g, &x->free);

	for (size_t i = 0; !rc && i < x->g->arenas.nr; i++)
		rc = bins_find(x, &x->g->arenas.v[i]);
	if (!rc)
		rc = tops_find(x);
	vec_sort(&x->free, by_address);
	return rc;
}

/* Blocks whose memory is in a free chunk, from where the block begins. */
static void free_take(struct forgetting *x)
{
	const struct heap *h = x->f->heap;
	uint64_t i = 0;

	vec_each(&x->free, s) {
		for (; i < h->nr_blocks && h->blocks[i].address < s->start; i++)
			;
		for (; i < h->nr_blocks && h->blocks[i].address < s->end; i++)
			block_gone(x, i);
	}
}

/* ---- blocks and chunks ----------------------------------------------------------------------- */

/* Is a block what malloc or one of its kin gave, which glibc's chunks tell all of? */
static bool is_chunk(const struct heap_block *b)
{
	return b->kind >= PMM_KIND_MALLOC && b->kind <= PMM_KIND_PVALLOC;
}

bool glibc_fits(const struct heap_block *b, uint64_t bytes)
{
	bool aligned = b->kind != PMM_KIND_MALLOC && b->kind != PMM_KIND_CALLOC;
	uint64_t asked = b->kind != PMM_KIND_PVALLOC ? b->size_bytes
						     : (b->size_bytes + ROOTS_PAGE - 1) &
							       ~(uint64_t)(ROOTS_PAGE - 1);
	uint64_t least = (asked + 8 + 15) & ~15ull;

	if (least < CHUNK_MIN)
		least = CHUNK_MIN;
	return bytes >= least && bytes <= least + (aligned ? CHUNK_MIN : 16);
}

/*
 * The way from chunk to chunk of one piece of memory. What is found on it is believed when it ends
 * at the top, or at the fence that glibc puts where an arena's memory continues elsewhere.
 */
struct walker {
	struct forgetting *x;
	uint64_t block;			/* the first that is not behind us */
	VEC(uint64_t) gone;
};

static int chunk_pass(struct walker *k, uint64_t chunk, uint64_t bytes)
{
	const struct heap *h = k->x->f->heap;
	int rc = 0;

	for (; !rc && k->block < h->nr_blocks && h->blocks[k->block].address < chunk + bytes + 16;
	     k->block++) {
		const struct heap_block *b = &h->blocks[k->block];

		if (is_chunk(b) && (b->address != chunk + 16 || !glibc_fits(b, bytes)))
			rc = vec_push(&k->gone, k->block);
	}
	return rc;
}

static bool is_top(const struct glibc *g, uint64_t chunk)
{
	size_t i = vec_while(&g->tops, p, *p < chunk);

	return i < g->tops.nr && g->tops.v[i] == chunk;
}

static int chunks_walk(struct forgetting *x, uint64_t first, uint64_t end)
{
	struct walker k = { .x = x, .block = roots_block_from(x->f->heap, first + 16) };
	uint64_t at = first, word;
	bool whole = false;
	int rc = 0;

	while (!rc && at < end && roots_window_word(&x->w, at + 8, &word)) {
		uint64_t bytes = SIZE(word);

		whole = bytes == FENCE || is_top(x->g, at);
		if (whole || bytes < CHUNK_MIN || bytes & 15 || bytes > end - at ||
		    word & IS_MMAPPED)
			break;
		rc = chunk_pass(&k, at, bytes);
		at += bytes;
	}
	if (!rc && whole)
		vec_each(&k.gone, i)
			block_gone(x, *i);
	vec_fini(&k.gone);
	return rc;
}

/* ---- arenas, and what is in none ------------------------------------------------------------- */

/*
 * The main arena's first chunk: where the break began. 0 = not known; the program's own memory may
 * be there, and then nothing is believed.
 */
static struct memory_span break_find(const struct roots_find *f)
{
	struct memory_span s = { 0 };

	vec_each(&f->ranges, r) {
		if (r->kind != MEMORY_BREAK)
			continue;
		if (!s.end)
			s.start = (r->start + 15) & ~15ull;
		s.end = r->end;
	}
	return s;
}

static int arenas_walk(struct forgetting *x)
{
	struct memory_span brk = break_find(x->f);
	uint64_t bytes = brk.end - brk.start;
	int rc = 0;

	vec_each(&x->g->heaps, h)
		bytes += h->end - h->start;
	if (bytes > MAX_WALKED && !x->nr_gone && x->f->complete)
		return 0;
	if (brk.end)
		rc = chunks_walk(x, brk.start, brk.end);
	vec_each(&x->g->heaps, h)
		if (!rc)
			rc = chunks_walk(x, h->first, h->end);
	return rc;
}

/* Is an address in memory that glibc divides into chunks? */
static bool in_arena(const struct forgetting *x, const struct memory_span *brk, uint64_t address)
{
	size_t i = vec_while(&x->g->heaps, h, h->end <= address);

	return (address >= brk->start && address < brk->end) ||
	       (i < x->g->heaps.nr && x->g->heaps.v[i].start <= address);
}

/*
 * Does a block begin like a chunk with a mapping for itself? Or like any, as the main arena takes
 * other memory where the break cannot grow.
 */
static bool begins_chunk(struct forgetting *x, const struct heap_block *b)
{
	uint64_t word;

	if (!roots_cached_word(x->f, b->address - 8, &word))
		return false;
	return word & IS_MMAPPED ? SIZE(word) >= b->size_bytes + 16 : glibc_fits(b, SIZE(word));
}

static bool is_mapped(const struct proc_maps *maps, size_t *at, uint64_t address)
{
	while (*at < maps->nr && maps->v[*at].end <= address)
		++*at;
	return *at < maps->nr && maps->v[*at].start <= address;
}

static void mapped_take(struct forgetting *x, bool only_chunks)
{
	struct memory_span brk = break_find(x->f);
	const struct heap *h = x->f->heap;
	size_t map = 0;

	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];

		if (!is_mapped(x->f->maps, &map, b->address))
			block_gone(x, i);
		else if (only_chunks && is_chunk(b) && !in_arena(x, &brk, b->address) &&
			 !begins_chunk(x, b))
			block_gone(x, i);
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

bool glibc_gives_blocks(const struct heap *h)
{
	const char *slash = strrchr(h->allocator.path, '/'),
		   *name = slash ? slash + 1 : h->allocator.path;

	if (h->check.level || h->nr_srclocs)
		return false;
	return !*name || str_starts(name, "libc.so.6") || str_starts(name, "libc-2.") ||
	       !strcmp(h->allocator.path, h->exe);
}

/* Is each block of malloc's a chunk of glibc's, 16 bytes behind its beginning? */
static bool only_chunks(const struct heap *h)
{
	return h->began != HEAP_BEGAN_ATTACH && glibc_gives_blocks(h);
}

static int gone_find(struct forgetting *x)
{
	int rc = free_find(x);

	if (rc)
		return rc;
	free_take(x);
	if (x->f->names_break)
		mapped_take(x, only_chunks(x->f->heap));
	return only_chunks(x->f->heap) ? arenas_walk(x) : 0;
}

int glibc_forget(struct roots_find *f, const struct glibc *g)
{
	struct forgetting x = { .f = f, .g = g, .w = { .f = f } };
	int rc;

	if (!g->tops.nr || !f->heap->nr_blocks)
		return 0;
	x.gone = calloc(f->heap->nr_blocks / 64 + 1, sizeof(*x.gone));
	rc = x.gone ? gone_find(&x) : -ENOMEM;
	if (!rc && x.nr_gone) {
		rc = heap_forget(f->forget, x.gone);
		f->complete = false;
	}
	vec_fini(&x.free);
	free(x.w.bytes);
	free(x.gone);
	return rc;
}
