/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over glibc's chunks, between live blocks.
 *
 * A chunk at c has its size at c + 8 (the low three bits are flags) and gives bytes c + 16 to c +
 * size + 8 to its owner: the next chunk's first word is still this one's. So "chunk c" here means
 * [c + 8, c + size + 8). Most blocks touch the next one, as their sizes tell, and nothing need be
 * read. In a gap the sizes must lead from the end of one live block's chunk to the beginning of the
 * next one's; else nothing there is covered. Memory that the program itself got by sbrk() is
 * behind two chunks of 16 bytes, which glibc puts there as a fence.
 */
#include <errno.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/roots/glibc/glibc_arenas.h"

#define CHUNK_MIN	32u
#define FENCE		16u
#define PREV_INUSE	1u
#define IS_MMAPPED	2u
#define SIZE(word)	((word) & ~7ull)

struct walk {
	struct roots_find *f;
	const struct glibc *g;
	struct roots_window w;
	struct roots_spans gap;		/* free chunks of the gap being walked through */
	uint64_t lo, hi;
};

static bool is_top(const struct glibc *g, uint64_t chunk)
{
	size_t i = vec_while(&g->tops, p, *p < chunk);

	return i < g->tops.nr && g->tops.v[i] == chunk;
}

/* What a request for n bytes makes a chunk's size, at least. */
static uint64_t chunk_bytes(uint64_t n)
{
	uint64_t bytes = (n + 8 + 15) & ~15ull;

	return bytes < CHUNK_MIN ? CHUNK_MIN : bytes;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

enum chain { CHAIN_BROKEN, CHAIN_REACHED, CHAIN_TOP, CHAIN_FENCE };

struct hop {
	uint64_t at, end;		/* where the chain is, where it stopped */
	/* the chunk before: free or not is in the next one's size */
	uint64_t before, before_end;
};

static int free_add(struct walk *k, const struct hop *h, uint64_t flags)
{
	return h->before && !(flags & PREV_INUSE)
		       ? roots_span_add(&k->gap, h->before + 8, h->before_end + 8)
		       : 0;
}

/*
 * Go from chunk to chunk up to `to`. Free chunks into k->gap where that is asked for. enum chain or
 * -ENOMEM.
 */
static int chain_follow(struct walk *k, struct hop *h, uint64_t to, bool want_free)
{
	int rc = 0;

	for (;;) {
		uint64_t word, bytes;

		if (h->at == to && to == k->hi)
			return CHAIN_REACHED;
		if (!roots_window_word(&k->w, h->at + 8, &word))
			return CHAIN_BROKEN;
		if (want_free)
			rc = free_add(k, h, word);
		if (rc)
			return rc;
		if (h->at == to)
			return CHAIN_REACHED;
		bytes = SIZE(word);
		if (bytes == FENCE) {
			h->end = h->at + 2 * FENCE < to ? h->at + 2 * FENCE : to;
			return CHAIN_FENCE;
		}
		if (bytes < CHUNK_MIN || bytes & 15 || bytes > to - h->at || word & IS_MMAPPED)
			return CHAIN_BROKEN;
		if (is_top(k->g, h->at)) {
			h->end = h->at + bytes;
			return CHAIN_TOP;
		}
		h->before = h->at;
		h->before_end = h->at += bytes;
	}
}

/* From the chunk at `from` to that at `to`, or to the end of the memory. */
static int gap_cover(struct walk *k, uint64_t from, uint64_t to)
{
	struct hop h = { .at = from };
	bool complete = k->f->complete;
	int rc;

	k->gap.nr = 0;
	rc = chain_follow(k, &h, to, !complete);
	if (rc <= CHAIN_BROKEN)
		return rc;
	if (complete)
		return roots_span_add(&k->f->covered, from == k->lo ? from : from + 8,
				      rc != CHAIN_REACHED ? h.end
				      : to < k->hi	  ? to + 8
							  : to);
	rc = rc == CHAIN_TOP ? roots_span_add(&k->gap, h.at + 8, h.end) : 0;
	for (size_t i = 0; !rc && i < k->gap.nr; i++)
		rc = roots_span_add(&k->f->covered, k->gap.v[i].start, k->gap.v[i].end);
	return rc;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct chunk {
	uint64_t start, end;
	bool mapped;			/* by itself, with mmap */
};

/* The chunk of a live block. False: it is none, or damaged. */
static bool chunk_read(struct walk *k, const struct heap_block *b, struct chunk *c)
{
	uint64_t start = b->address - 16, word, before;

	if (b->address & 15 || start < k->lo || !roots_window_word(&k->w, start + 8, &word))
		return false;
	c->mapped = word & IS_MMAPPED;
	c->end = start + SIZE(word);
	if (c->end <= start || c->end > k->hi ||
	    c->end - start < b->size_bytes + (c->mapped ? 16 : 8))
		return false;
	if (!c->mapped)
		return c->end - start >= CHUNK_MIN && !(word & 8);
	/* one that was asked for with an alignment does not begin where its mapping does */
	if (!roots_window_word(&k->w, start, &before) || before > start - k->lo)
		return false;
	c->start = start - before;
	return !((c->start | c->end) & (ROOTS_PAGE - 1));
}

/* The next block that is a chunk of its own. */
static uint64_t next_block(const struct heap *h, uint64_t i)
{
	uint64_t end = h->blocks[i].address + h->blocks[i].size_bytes;

	for (i++; i < h->nr_blocks &&
		  (h->blocks[i].kind == PMM_KIND_OTHER || h->blocks[i].address < end);
	     i++)
		;
	return i;
}

/*
 * One block: what is before it, from `from` on (0 = not known), and itself. The end of its chunk in
 * *from.
 */
static int block_cover(struct walk *k, const struct heap_block *b, const struct heap_block *next,
		       uint64_t *from)
{
	uint64_t room = next ? next->address - b->address : 0, least = chunk_bytes(b->size_bytes);
	struct chunk c = { .start = b->address - 16 };
	int rc = 0;

	if (room == least || room == least + 16)
		c.end = c.start + room;		/* nothing fits in between */
	else if (!chunk_read(k, b, &c))
		c.end = 0;
	if (*from && c.start > *from)
		rc = gap_cover(k, *from, c.start);
	*from = 0;
	if (rc || !c.end)
		return rc;
	if (c.mapped)
		return roots_span_add(&k->f->covered, c.start, c.end);
	*from = c.end;
	return roots_span_add(&k->f->covered, c.start + 8, c.end + 8 < k->hi ? c.end + 8 : k->hi);
}

int glibc_cover(struct roots_find *f, const struct glibc *g, uint64_t lo, uint64_t hi,
		uint64_t first)
{
	struct walk k = { .f = f, .g = g, .w = { .f = f }, .lo = lo, .hi = hi };
	const struct heap *h = f->heap;
	uint64_t i = roots_block_from(h, lo + 16), from = first;
	int rc = 0;

	while (i < h->nr_blocks && h->blocks[i].kind == PMM_KIND_OTHER)
		i++;
	while (!rc && i < h->nr_blocks && h->blocks[i].address < hi) {
		uint64_t next = next_block(h, i);

		rc = block_cover(&k, &h->blocks[i],
				 next < h->nr_blocks && h->blocks[next].address < hi
					 ? &h->blocks[next]
					 : NULL,
				 &from);
		i = next;
	}
	if (!rc && from && from < hi)
		rc = gap_cover(&k, from, hi);
	vec_fini(&k.gap);
	free(k.w.bytes);
	return rc;
}
