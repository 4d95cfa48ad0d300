/*
 * What of a process's memory is its allocator's: free blocks, its own records, slack behind blocks. No program keeps anything there, and what is
 * left of old contents must not keep a lost block alive.
 *
 * glibc's is known chunk by chunk. Of another allocator only this is: in a page with live blocks nothing else lies. Its pages without live
 * blocks are roots, as nothing tells them from the program's own memory; a leak that only such a page points to is not found. When not every
 * block is known, only what glibc says to be free is left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/capture/scene_glibc.h"

bool scene_complete(const struct heap *h)
{
	static const unsigned lost[] = { PMM_DROP_BLOCK_FULL, PMM_DROP_CTX_FULL, PMM_DROP_NESTED, PMM_DROP_ADDRESS };

	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (h->dropped[lost[i]])
			return false;
	return h->began == HEAP_BEGAN_EXEC && h->mode == HEAP_EXACT && !h->min_size_bytes && !h->off_reason && !h->untracked_frees &&
	       !h->drift_blocks;
}

/* ---- glibc ------------------------------------------------------------------------------------------------- */

/* A thread's record in the break: that of a program linked statically, before the first chunk. */
static bool has_record(const struct scene_find *f, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < f->nr_threads; i++)
		if (f->threads[i].regs.fs_base >= lo && f->threads[i].regs.fs_base < hi)
			return true;
	return false;
}

static uint64_t first_block(const struct heap *h, uint64_t lo, uint64_t hi)
{
	uint64_t i = scene_block_from(h, lo);

	return i < h->nr_blocks && h->blocks[i].address < hi ? h->blocks[i].address : hi;
}

static int arena_cover(struct scene_find *f, const struct glibc *g, const struct glibc_heap *h, uint64_t lo, uint64_t hi)
{
	int rc;

	if (f->complete)
		return scene_span_add(&f->covered, lo, hi);
	rc = scene_span_add(&f->covered, lo, h->first < hi ? h->first : hi);
	return rc ? rc : glibc_cover(f, g, lo, hi, h->first);
}

/* One stretch of private memory: arenas' pieces in it, and what is between them. */
static int area_cover(struct scene_find *f, const struct glibc *g, const struct memory_range *area)
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
			   area->kind == MEMORY_BREAK && !has_record(f, at, first_block(f->heap, at, area->end)) ? (at + 15) & ~15ull : 0);
}

/* Its own lists, which point to free chunks only. */
static int states_paint(struct scene_find *f, const struct glibc *g)
{
	struct scene_ranges marks = { 0 };
	int rc = 0;

	vec_each(&g->states, s)
		if (!rc)
			rc = vec_push(&marks, (struct memory_range){ .start = s->start, .end = s->end, .kind = SCENE_NONE });
	if (!rc)
		rc = scene_paint(&f->ranges, &marks);
	vec_fini(&marks);
	return rc;
}

/* ---- others ------------------------------------------------------------------------------------------------ */

static int pages_cover(struct scene_find *f, uint64_t lo, uint64_t hi)
{
	const struct heap *h = f->heap;
	int rc = 0;

	for (uint64_t i = scene_block_from(h, lo); !rc && i < h->nr_blocks && h->blocks[i].address < hi; i++) {
		const struct heap_block *b = &h->blocks[i];
		uint64_t start = scene_page_down(b->address), end = scene_page_up(b->address + (b->size_bytes ? b->size_bytes : 1));

		if (b->kind != PMM_KIND_OTHER)
			rc = scene_span_add(&f->covered, start > lo ? start : lo, end < hi ? end : hi);
	}
	return rc;
}

/* ---- all --------------------------------------------------------------------------------------------------- */

/* Stretches of private memory without a gap, whatever mappings they are made of. */
static int areas_cover(struct scene_find *f, const struct glibc *g)
{
	const struct scene_ranges *r = &f->ranges;
	int rc = 0;

	for (size_t i = 0, first; !rc && i < r->nr; ) {
		struct memory_range area = r->v[i];
		size_t before = f->covered.nr;

		for (first = i++; i < r->nr && r->v[i].start == area.end && r->v[i].kind == area.kind; i++)
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

int scene_allocator_find(struct scene_find *f)
{
	struct glibc g;
	int rc = glibc_find(f, &g);

	if (!rc)
		rc = states_paint(f, &g);
	if (!rc)
		rc = areas_cover(f, &g);
	glibc_fini(&g);
	return rc;
}
