/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a process's memory is its allocator's: free blocks, its own records, slack behind blocks.
 * No program keeps anything there, and what is left of old contents must not keep a lost block
 * alive.
 *
 * glibc's is known chunk by chunk. Of another allocator this is: in a page with live blocks nothing
 * else is, and what its own code has mapped is all its own, unless other code asks it for blocks in
 * ways of its own. Other pages are roots, as nothing shows them from the program's memory; a leak
 * that only such a page points to is not found. When not every block is known, only what glibc says
 * to be free is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/ledger/preload.h"
#include "src/roots/glibc/glibc_arenas.h"

#define MAX_NAMES	(16ull << 20)	/* of an object's beginning, where its names are */

bool roots_complete(const struct heap *h)
{
	static const unsigned lost[] = { PMM_DROP_BLOCK_FULL, PMM_DROP_CTX_FULL, PMM_DROP_NESTED,
					 PMM_DROP_ADDRESS };

	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (h->dropped[lost[i]])
			return false;
	return h->began == HEAP_BEGAN_EXEC && !heap_srclocs_only(h) && h->mode == HEAP_EXACT &&
	       !h->min_size_bytes && (!h->off_reason || h->off_reason == PMM_OFF_NO_CHILDREN) &&
	       !h->untracked_frees && !h->missed_frees && !h->drift_blocks;
}

/* ---- glibc ----------------------------------------------------------------------------------- */

/* A thread's record in the break: that of a program linked statically, before the first chunk. */
static bool has_record(const struct roots_find *f, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < f->nr_threads; i++)
		if (arch_tp(&f->threads[i].regs) >= lo && arch_tp(&f->threads[i].regs) < hi)
			return true;
	return false;
}

static uint64_t first_block(const struct heap *h, uint64_t lo, uint64_t hi)
{
	uint64_t i = roots_block_from(h, lo);

	return i < h->nr_blocks && h->blocks[i].address < hi ? h->blocks[i].address : hi;
}

static int arena_cover(struct roots_find *f, const struct glibc *g, const struct glibc_heap *h,
		       uint64_t lo, uint64_t hi)
{
	int rc;

	if (f->complete)
		return roots_span_add(&f->covered, lo, hi);
	rc = roots_span_add(&f->covered, lo, h->first < hi ? h->first : hi);
	return rc ? rc : glibc_cover(f, g, lo, hi, h->first);
}

/* One stretch of private memory: arenas' pieces in it, and what is between them. */
static int area_cover(struct roots_find *f, const struct glibc *g, const struct memory_range *area)
{
	uint64_t at = area->start;
	int rc = 0;

	for (size_t i = 0; !rc && i < g->heaps.nr; i++) {
		const struct glibc_heap *h = &g->heaps.v[i];
		uint64_t hi = h->end < area->end ? h->end : area->end;

		if (h->start < at || h->start >= area->end)
			continue;
		if (at < h->start)
			rc = glibc_cover(f, g, at, h->start, 0);
		if (!rc)
			rc = arena_cover(f, g, h, h->start, hi);
		at = hi;
	}
	if (rc || at >= area->end)
		return rc;
	return glibc_cover(f, g, at, area->end,
			   area->kind == MEMORY_BREAK &&
					   !has_record(f, at, first_block(f->heap, at, area->end))
				   ? (at + 15) & ~15ull
				   : 0);
}

/* Its own lists, which point to free chunks only. */
static int states_paint(struct roots_find *f, const struct glibc *g)
{
	struct roots_ranges marks = { 0 };
	int rc = 0;

	vec_each(&g->states, s)
		if (!rc)
			rc = vec_push(&marks, (struct memory_range){ .start = s->start,
								     .end = s->end,
								     .kind = ROOTS_NONE });
	if (!rc)
		rc = roots_paint(&f->ranges, &marks);
	vec_fini(&marks);
	return rc;
}

/* ---- others ---------------------------------------------------------------------------------- */

/* The pages of the block at *i or behind it; false = no more below `hi`. */
static bool block_pages(const struct heap *h, uint64_t *i, uint64_t hi, struct memory_span *s)
{
	const struct heap_block *b;

	while (*i < h->nr_blocks && h->blocks[*i].kind == PMM_KIND_OTHER)
		++*i;
	if (*i >= h->nr_blocks || h->blocks[*i].address >= hi)
		return false;
	b = &h->blocks[*i];
	*s = (struct memory_span){ roots_page_down(b->address),
				   roots_page_up(b->address +
						 (b->size_bytes ? b->size_bytes : 1)) };
	return true;
}

/* The same of the mappings that the allocator has made for itself. */
static bool own_pages(const struct roots_find *f, uint64_t *i, uint64_t hi, struct memory_span *s)
{
	const struct heap *h = f->heap;

	for (; *i < h->nr_maps && h->maps[*i].address < hi; ++*i) {
		const struct heap_block *m = &h->maps[*i];
		const struct heap_node *caller = &h->nodes[h->map_sites[m->site].node];

		if (f->has_other_ways ||
		    !str_starts(h->modules[caller->module].path, h->allocator.path))
			continue;
		*s = (struct memory_span){ m->address, roots_page_up(m->address + m->size_bytes) };
		return true;
	}
	return false;
}

/* The first mapping that ends behind an address; they are disjoint. */
static uint64_t first_map(const struct heap *h, uint64_t address)
{
	return array_while(h->maps, h->nr_maps, m, m->address + m->size_bytes <= address);
}

static int pages_cover(struct roots_find *f, uint64_t lo, uint64_t hi)
{
	struct memory_span block = { 0 }, own = { 0 }, *s;
	uint64_t i = roots_block_from(f->heap, lo), k = first_map(f->heap, lo);
	int rc = 0;

	while (!rc) {
		bool has_block = block_pages(f->heap, &i, hi, &block),
		     has_own = own_pages(f, &k, hi, &own);

		if (!has_block && !has_own)
			break;
		s = !has_own || (has_block && block.start < own.start) ? &block : &own;
		if (s->end > lo)
			rc = roots_span_add(&f->covered, s->start > lo ? s->start : lo,
					    s->end < hi ? s->end : hi);
		s == &block ? i++ : k++;
	}
	return rc;
}

/* An object's memory from its start on, the names of what it imports included; the caller's. */
static char *text_of(const struct roots_find *f, const struct roots_object *o, size_t *n)
{
	uint64_t bytes = o->end - o->start < MAX_NAMES ? o->end - o->start : MAX_NAMES;
	char *text = malloc(bytes);

	*n = text ? roots_read(f, o->start, text, bytes) : 0;
	return text;
}

static bool imports(const struct roots_find *f, const struct roots_object *o, const char *name)
{
	size_t n;
	char *text = text_of(f, o, &n);
	bool found = !text || memmem(text, n, name, strlen(name) + 1);

	free(text);
	return found;
}

/* Does a name say that a block is returned? */
static bool allocates(const char *name, size_t bytes)
{
	static const char *const words[] = { "alloc", "new", "dup", "memalign", "realpath",
					     "expand" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(name, bytes, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Is there a text with that prefix, its first byte the end of the text before, that says so? */
static bool has_name(const char *text, size_t n, const char *prefix)
{
	size_t length = strlen(prefix + 1) + 1;
	const char *at = text, *end, *stop = text + n;

	while ((at = memmem(at, (size_t)(stop - at), prefix, length))) {
		at++;
		end = memchr(at, 0, (size_t)(stop - at));
		if (end && allocates(at, (size_t)(end - at)))
			return true;
	}
	return false;
}

/* Names of allocators' own functions, whether they are imported or looked up. */
static bool has_names(const struct roots_find *f, const struct roots_object *o)
{
	static const char *const prefixes[] = { "\0mi_", "\0tc_", "\0je_" };
	static const char *const names[] = { "mallocx", "rallocx" };
	size_t n;
	char *text = text_of(f, o, &n);
	bool found = !text;

	for (size_t i = 0; !found && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		found = has_name(text, n, prefixes[i]);
	for (size_t i = 0; !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = memmem(text, n, names[i], strlen(names[i]));
	free(text);
	return found;
}

/*
 * Does anything ask the allocator for blocks in ways that pmm may not see (jemalloc's mallocx(),
 * mimalloc's mi_malloc(), by a pointer)? The names would be in an object's memory, whether it
 * imports them or looks them up.
 */
static bool has_other_ways(const struct roots_find *f)
{
	const char *path = f->heap->allocator.path;

	if (!path[0] || !strcmp(path, f->heap->exe))
		return true;
	vec_each(&f->objects, o)
		if (!str_starts(o->path, path) && !preload_is_agent(o->path) && has_names(f, o))
			return true;
	return false;
}

/* Of a program that is its own C library nothing shows. */
static bool asks_usable(const struct roots_find *f)
{
	const char *path = f->heap->allocator.path;

	if (!path[0] || !strcmp(path, f->heap->exe))
		return true;
	vec_each(&f->objects, o)
		if (!str_starts(o->path, path) && imports(f, o, "malloc_usable_size"))
			return true;
	return false;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Stretches of private memory without a gap, whatever mappings they are made of. */
static int areas_cover(struct roots_find *f, const struct glibc *g)
{
	const struct roots_ranges *r = &f->ranges;
	int rc = 0;

	for (size_t i = 0, first; !rc && i < r->nr; ) {
		struct memory_range area = r->v[i];
		size_t before = f->covered.nr;

		for (first = i++;
		     i < r->nr && r->v[i].start == area.end && r->v[i].kind == area.kind; i++)
			area.end = r->v[i].end;
		if (area.kind != MEMORY_ANONYMOUS && area.kind != MEMORY_BREAK)
			continue;
		if (g->tops.nr)
			rc = area_cover(f, g, &area);
		else if (f->complete)
			rc = pages_cover(f, area.start, area.end);
		for (; !f->complete && f->covered.nr > before && first < i; first++)
			r->v[first].kind = MEMORY_UNKNOWN_BLOCKS;
	}
	return rc;
}

int glibc_chunk_map_find(struct roots_find *f)
{
	struct glibc g;
	int rc = glibc_find(f, &g);

	if (!rc && f->forget)
		rc = glibc_forget(f, &g);
	if (!rc)
		rc = states_paint(f, &g);
	f->has_chunks = g.tops.nr;
	f->asks_usable = g.tops.nr && f->heap->began == HEAP_BEGAN_ATTACH && asks_usable(f);
	f->has_other_ways = f->complete && !g.tops.nr && has_other_ways(f);
	if (!rc)
		rc = areas_cover(f, &g);
	if (!rc && !f->complete && g.tops.nr)
		rc = glibc_cached(f, &g);
	roots_page_cache_fini(&f->cache);
	glibc_fini(&g);
	return rc;
}
