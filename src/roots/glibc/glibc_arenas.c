/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glibc's arenas, found by their shape in the C library's data. */
#include "src/roots/glibc/glibc_arenas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"

/*
 * struct malloc_state: locks and fast bins | top | last_remainder | bins[254] | binmap[4] | next |
 * next_free | three sizes. A bin is two words, and is taken for the last words of a chunk that
 * begins 16 bytes before them; an empty one points to that chunk.
 */
#define NR_BINS		127u
#define BINS_WORDS	(2 * NR_BINS)
#define NEXT_WORDS	(BINS_WORDS + 2)	/* from the bins to `next` */
#define STATE_WORDS	(NEXT_WORDS + 5)	/* ... to its end */
/* bytes before the bins that other versions may have: 112 from 2.26 on */
#define MIN_BEFORE	64u
#define MAX_BEFORE	160u
/* of the bins that say enough; most are for large chunks */
#define MIN_EMPTY	32u
#define MAX_ARENAS	65536
#define MAX_HEAPS	1048576
#define MAX_DATA	(32ull << 20)		/* looked through of an object's data */
/* malloc/arena.c: HEAP_MAX_SIZE, what an arena's memory is aligned to */
#define HEAP_MAX	(64ull << 20)

struct finding {
	struct roots_find *f;
	struct glibc *g;
	uint64_t *word;			/* a range of data */
	uint64_t start;
	size_t nr;
	uint64_t before;		/* bytes of a state before its bins */
	VEC(uint64_t) arenas;		/* states, the main one first */
};

static bool is_empty(const struct finding *x, size_t i)
{
	uint64_t bin = x->start + i * 8 - 16;

	return x->word[i] == bin && x->word[i + 1] == bin;
}

/* ---- the ring of arenas ---------------------------------------------------------------------- */

static uint64_t heap_of(uint64_t address)
{
	return address & ~(HEAP_MAX - 1);
}

/*
 * Can a state other than the main one be there? It is at the beginning of its arena's first
 * piece of memory.
 */
static bool may_be_state(uint64_t at)
{
	return !(at & 7) && at - heap_of(at) >= 32 && at - heap_of(at) <= ROOTS_PAGE;
}

/* Follow `next` from the main arena; 1 when it leads back, 0, -ENOMEM. */
static int ring_follow(struct finding *x, uint64_t main)
{
	uint64_t at = main, arena;

	x->arenas.nr = 0;
	do {
		if (vec_push(&x->arenas, at))
			return -ENOMEM;
		if (!roots_word(x->f, at + x->before + NEXT_WORDS * 8, &at))
			return 0;
		if (at != main &&
		    (!may_be_state(at) || !roots_word(x->f, heap_of(at), &arena) || arena != at))
			return 0;
	} while (at != main && x->arenas.nr < MAX_ARENAS);
	return at == main;
}

/*
 * Where few bins are empty: does the first chunk of each of the others lead back to it? Of one,
 * which may be half changed, it need not.
 */
static bool bins_lead_back(const struct finding *x, size_t i)
{
	unsigned wrong = 0;
	uint64_t back;

	for (size_t k = i; wrong < 2 && k < i + BINS_WORDS; k += 2)
		wrong += !is_empty(x, k) && (!roots_word(x->f, x->word[k] + 24, &back) ||
					     back != x->start + k * 8 - 16);
	return wrong < 2;
}

/*
 * Do the bins begin at word `i`? Those in use lead elsewhere, and just now one may be half changed.
 */
static int state_at(struct finding *x, size_t i)
{
	uint64_t bins = x->start + i * 8, next;
	unsigned empty = 0;

	if (i < 2 || i + STATE_WORDS > x->nr || !x->word[i - 2] || x->word[i - 2] & 15)
		return 0;		/* no top */
	next = x->word[i + NEXT_WORDS];
	if (!may_be_state(next) && (next > bins - MIN_BEFORE || next < bins - MAX_BEFORE))
		return 0;
	for (size_t k = i; k < i + BINS_WORDS; k += 2)
		empty += is_empty(x, k);
	if (empty < MIN_EMPTY && !bins_lead_back(x, i))
		return 0;
	for (x->before = MIN_BEFORE; x->before <= MAX_BEFORE; x->before += 8) {
		int rc = ring_follow(x, bins - x->before);

		if (rc)
			return rc;
	}
	return 0;
}

/* ---- what an arena has ----------------------------------------------------------------------- */

/*
 * The pieces of memory of an arena that is not the main one, from the topmost back. heap_info:
 * arena | previous | size | usable size.
 */
static int heaps_add(struct finding *x, uint64_t state, uint64_t top)
{
	const uint64_t info_bytes = state - heap_of(state);
	const uint64_t state_end = state + x->before + STATE_WORDS * 8;
	uint64_t at = heap_of(top), info[4];

	if (info_bytes < sizeof(info) || info_bytes > ROOTS_PAGE)
		return 0;
	for (unsigned n = 0; at && n < MAX_HEAPS; n++) {
		struct glibc_heap h = { .start = at, .first = at + info_bytes };

		if (at & (HEAP_MAX - 1) ||
		    roots_read(x->f, at, info, sizeof(info)) != sizeof(info) || info[0] != state)
			return 0;
		h.end = at + (info[2] > info[3] ? info[2] : info[3]);
		if (h.end < at + ROOTS_PAGE || h.end > at + HEAP_MAX || h.end & (ROOTS_PAGE - 1))
			return 0;
		if (at == heap_of(state))
			h.first = (state_end + 15) & ~15ull;
		if (vec_push(&x->g->heaps, h))
			return -ENOMEM;
		at = info[1];
	}
	return 0;
}

static bool has_blocks(const struct heap *h, uint64_t start, uint64_t end)
{
	uint64_t i = roots_block_from(h, start);

	return i < h->nr_blocks && h->blocks[i].address < end;
}

/*
 * Arenas whose blocks are known: a C library in a namespace of its own (dlmopen) has others, which
 * no monitor watches.
 */
static bool is_watched(const struct finding *x, size_t first_heap, uint64_t top)
{
	size_t i = roots_range_at(&x->f->ranges, top);

	if (i < x->f->ranges.nr && x->f->ranges.v[i].start <= top &&
	    x->f->ranges.v[i].kind == MEMORY_BREAK)
		return true;
	for (size_t k = first_heap; k < x->g->heaps.nr; k++)
		if (has_blocks(x->f->heap, x->g->heaps.v[k].start, x->g->heaps.v[k].end))
			return true;
	return false;
}

/* The main arena found at word `i`, and what hangs on it. */
static int arenas_add(struct finding *x, size_t i)
{
	const uint64_t main = x->arenas.v[0];
	const size_t first_heap = x->g->heaps.nr, first_top = x->g->tops.nr;
	int rc = vec_push(&x->g->states,
			  (struct memory_span){ main, x->start + (i + STATE_WORDS) * 8 });

	for (size_t k = 0; !rc && k < x->arenas.nr; k++) {
		uint64_t state = x->arenas.v[k], top;

		if (!roots_word(x->f, state + x->before - 16, &top) || !top || top & 15)
			continue;
		rc = vec_push(&x->g->tops, top)
			     ?: vec_push(&x->g->arenas, (struct glibc_arena){ state, x->before });
		if (!rc && k)
			rc = heaps_add(x, state, top);
	}
	if (!rc && !x->f->any_arena && x->g->tops.nr > first_top &&
	    !is_watched(x, first_heap, x->g->tops.v[first_top])) {
		x->g->heaps.nr = first_heap;
		x->g->tops.nr = first_top;
		x->g->arenas.nr = first_top;
	}
	return rc;
}

/* ---- looking for it -------------------------------------------------------------------------- */

static int data_search(struct finding *x)
{
	int rc = 0;

	for (size_t i = 0; !rc && i + STATE_WORDS <= x->nr; i++) {
		if (!is_empty(x, i))
			continue;
		/* the bins begin here, or before: the first ones may be in use */
		for (size_t back = 0; !rc && back < NR_BINS && 2 * back <= i; back++) {
			rc = state_at(x, i - 2 * back);
			if (rc > 0) {
				rc = arenas_add(x, i - 2 * back);
				i += BINS_WORDS - 2 * back;
				break;
			}
		}
	}
	return rc;
}

/* Data is in one mapping after another: .data, .bss. */
static int object_search(struct finding *x, const struct roots_object *o)
{
	const struct roots_ranges *r = &x->f->ranges;
	int rc = 0;

	for (size_t i = roots_range_at(r, o->start); !rc && i < r->nr && r->v[i].start < o->end; ) {
		uint64_t start = r->v[i].start, end = r->v[i].end;

		for (i++; i < r->nr && r->v[i].start == end && end < o->end; i++)
			end = r->v[i].end;
		if (end > o->end)
			end = o->end;
		if (end - start > MAX_DATA)
			end = start + MAX_DATA;
		free(x->word);
		x->word = malloc(end - start);
		if (!x->word)
			return -ENOMEM;
		x->start = start;
		x->nr = roots_read(x->f, start, x->word, end - start) / 8;
		rc = data_search(x);
	}
	return rc;
}

/*
 * Can the allocator be in this object? libc.so.6, libc-2.31.so, or the program itself when it is
 * linked statically.
 */
static bool may_have_malloc(const struct roots_find *f, const struct roots_object *o)
{
	const char *name = strrchr(o->path, '/');
	size_t n = strlen(f->heap->allocator.path);

	return (n && !strncmp(o->path, f->heap->allocator.path, n)) ||
	       (name && str_starts(name, "/libc.so.")) || (name && str_starts(name, "/libc-2."));
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;	/* also the first member of struct glibc_heap */

	return *x < *y ? -1 : *x > *y;
}

int glibc_find(struct roots_find *f, struct glibc *g)
{
	struct finding x = { .f = f, .g = g };
	int rc = 0;

	*g = (struct glibc){ 0 };
	vec_each(&f->objects, o)
		if (!rc && may_have_malloc(f, o))
			rc = object_search(&x, o);
	vec_sort(&g->tops, by_address);
	vec_sort(&g->heaps, by_address);
	free(x.word);
	vec_fini(&x.arenas);
	return rc;
}

void glibc_fini(struct glibc *g)
{
	vec_fini(&g->states);
	vec_fini(&g->arenas);
	vec_fini(&g->tops);
	vec_fini(&g->heaps);
}
