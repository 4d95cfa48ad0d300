/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks of glibc's arenas counted from outside, as mallinfo2() counts them inside: the top, the
 * fast bins, the other bins. What threads keep in their caches counts as used there and so it does
 * here.
 *
 * The process runs meanwhile. A state (struct malloc_state) that is the same before and after its
 * lists were followed, and is not locked, shows that they are of one moment. Else this is done
 * again, and in the end the sum is near enough: each list by itself led back to where it began.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/roots/glibc/figures.h"

#define NR_BINS		127u
#define BINS_WORDS	(2 * NR_BINS)
#define NR_FAST		10u
/* they end with the two words that stand before the bins: top, last remainder */
#define FAST_BYTES	(NR_FAST * 8)
/* bins | binmap (2 words) | next | next_free | attached threads | system_mem | max_system_mem */
#define SYSTEM_WORD	(BINS_WORDS + 5)
#define TAIL_WORDS	(BINS_WORDS + 7)
#define MAX_BEFORE	160u
#define STATE_BYTES	(MAX_BEFORE + TAIL_WORDS * 8)
#define CHUNK_MIN	32u
#define SIZE(word)	((word) & ~7ull)
#define TRIES		4		/* of an arena */
#define LIST_TRIES	8
#define NEAR_BYTES	(16u << 10)	/* both main_arena and mp_ are data of malloc.o */
#define THRESHOLD_MAX	(1ull << 46)	/* mallopt() takes any, and tunables do */
#define MANY_ARENAS	(1u << 20)
#define PAGE		ROOTS_PAGE
#define WINDOW		(32u << 10)

struct look {
	const struct roots_find *f;
	unsigned most;			/* chunks that are counted in all */
	unsigned nr;			/* looked at, some of them again */
	bool again;			/* something had to be */
	/*
	 * neighbours in a list are often neighbours in memory: a piece of it, aligned to its size
	 */
	uint64_t last, at;
	size_t held;
	unsigned char window[WINDOW];
};

struct arena {
	uint64_t bins;			/* address */
	uint64_t before;		/* bytes of the state before them */
	union { unsigned char byte[STATE_BYTES]; uint32_t locked; } state, after;
	uint64_t bytes;			/* from the system: no sum can be more */
	uint64_t top_bytes;
};

struct sum { uint64_t bytes, chunks; };

enum walk { WALK_WHOLE, WALK_BROKEN, WALK_LONG };

static bool is_held(const struct look *k, uint64_t address, size_t nr)
{
	return address - k->at < k->held && k->held - (address - k->at) >= nr * 8;
}

static bool words_read(struct look *k, uint64_t address, uint64_t *to, size_t nr)
{
	bool near = address - k->last + WINDOW < 2 * WINDOW;

	k->last = address;
	if (near && !is_held(k, address, nr)) {
		k->at = address & ~(uint64_t)(WINDOW - 1);
		k->held = roots_read(k->f, k->at, k->window, WINDOW);
	}
	if (!is_held(k, address, nr))
		return roots_read(k->f, address, to, nr * 8) == nr * 8;
	memcpy(to, k->window + (address - k->at), nr * 8);
	return true;
}

/* What is held may be old. */
static void look_again(struct look *k)
{
	k->again = true;
	k->held = 0;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* One more chunk, of the size that its header states. False: it cannot be. */
static bool sum_add(const struct arena *a, uint64_t header, struct sum *s)
{
	uint64_t bytes = SIZE(header);

	if (bytes < CHUNK_MIN || bytes & 15 || bytes > a->bytes - s->bytes)
		return false;
	s->bytes += bytes;
	s->chunks++;
	return true;
}

/*
 * A bin is a ring: forward, back. Each chunk's way back must be the way that led there, so no other
 * ring can be entered.
 */
static enum walk bin_walk(struct look *k, const struct arena *a, uint64_t bin,
			  const uint64_t link[2], struct sum *s)
{
	uint64_t before = bin, chunk = link[0], word[3];

	while (chunk != bin) {
		if (s->chunks >= k->most || k->nr++ >= 2 * k->most)
			return WALK_LONG;
		if (!chunk || chunk & 15 || !words_read(k, chunk + 8, word, 3) ||
		    word[2] != before || !sum_add(a, word[0], s))
			return WALK_BROKEN;
		before = chunk;
		chunk = word[1];
	}
	return before == link[1] ? WALK_WHOLE : WALK_BROKEN;
}

/*
 * A fast bin is a list of chunks of one size. From 2.32 on a link is stored as exclusive-or of
 * itself and its own address's page number. One that leads round in a circle meets the chunk that
 * was remembered last (Brent).
 */
static enum walk fast_walk(struct look *k, const struct arena *a, uint64_t first, uint64_t bytes,
			   bool mangled, struct sum *s)
{
	uint64_t chunk = first, word[2], remembered = 0, until = 1;

	for (uint64_t nr = 0; chunk; nr++) {
		if (s->chunks >= k->most || k->nr++ >= 2 * k->most)
			return WALK_LONG;
		if (chunk & 15 || chunk == remembered || !words_read(k, chunk + 8, word, 2) ||
		    SIZE(word[0]) != bytes || !sum_add(a, word[0], s))
			return WALK_BROKEN;
		if (nr == until) {
			remembered = chunk;
			until *= 2;
		}
		chunk = mangled ? word[1] ^ (chunk + 16) >> 12 : word[1];
	}
	return WALK_WHOLE;
}

/* ---- an arena -------------------------------------------------------------------------------- */

static bool state_read(const struct look *k, const struct arena *a, unsigned char *to)
{
	size_t bytes = a->before + TAIL_WORDS * 8;

	return roots_read(k->f, a->bins - a->before, to, bytes) == bytes;
}

static enum walk bins_walk(struct look *k, const struct arena *a, struct sum *s)
{
	for (unsigned i = 0; i < NR_BINS; i++) {
		const uint64_t at = a->bins + i * 16;
		struct sum sum = *s;
		enum walk walk;
		uint64_t link[2];

		memcpy(link, a->state.byte + a->before + i * 16, sizeof(link));
		walk = bin_walk(k, a, at - 16, link, &sum);
		for (unsigned n = 1; walk == WALK_BROKEN && n < LIST_TRIES; n++) {
			sum = *s;
			look_again(k);
			if (roots_read(k->f, at, link, sizeof(link)) == sizeof(link))
				walk = bin_walk(k, a, at - 16, link, &sum);
		}
		if (walk != WALK_WHOLE)
			return walk;
		*s = sum;
	}
	return WALK_WHOLE;
}

static enum walk fast_bins_walk(struct look *k, const struct arena *a, struct sum *s)
{
	const uint64_t at = a->before - 16 - FAST_BYTES;

	for (unsigned i = 0; i < NR_FAST; i++) {
		enum walk walk = WALK_BROKEN;
		struct sum sum = *s;
		uint64_t first;

		memcpy(&first, a->state.byte + at + i * 8, sizeof(first));
		for (unsigned n = 0; walk == WALK_BROKEN && n < LIST_TRIES; n++) {
			if (n)
				look_again(k);
			if (n && roots_read(k->f, a->bins - a->before + at + i * 8, &first,
					    sizeof(first)) != sizeof(first))
				break;
			for (int mangled = 1; walk == WALK_BROKEN && mangled >= 0; mangled--) {
				sum = *s;
				walk = fast_walk(k, a, first, CHUNK_MIN + i * 16, mangled, &sum);
			}
		}
		if (walk != WALK_WHOLE)
			return walk;
		*s = sum;
	}
	return WALK_WHOLE;
}

/* The topmost chunk, and how much there is at all. False: that cannot be. */
static bool arena_begin(struct look *k, struct arena *a, uint64_t most_bytes)
{
	uint64_t top, word;

	k->held = 0;
	a->bytes = 0;
	if (!state_read(k, a, a->state.byte))
		return false;
	memcpy(&top, a->state.byte + a->before - 16, sizeof(top));
	memcpy(&a->bytes, a->state.byte + a->before + SYSTEM_WORD * 8, sizeof(a->bytes));
	if (!roots_word(k->f, top + 8, &word))
		return false;
	a->top_bytes = SIZE(word);
	return a->bytes <= most_bytes && a->top_bytes <= a->bytes;
}

/* One arena's share of the sums. */
struct count {
	enum heap_figures is;
	struct sum all, fast;		/* all but the fast ones, these */
	uint64_t bytes, top_bytes;
};

static enum walk arena_walk(struct look *k, struct arena *a, uint64_t most_bytes, struct count *c)
{
	struct sum s = { 0 };
	enum walk walk;

	if (!arena_begin(k, a, most_bytes)) {
		/* who holds the lock may have moved the topmost chunk, and not written its size */
		if (a->state.locked && a->bytes <= most_bytes)
			c->bytes = a->bytes;
		return WALK_BROKEN;
	}
	c->bytes = a->bytes;
	c->top_bytes = a->top_bytes;
	walk = fast_bins_walk(k, a, &s);
	c->fast = s;
	if (walk != WALK_WHOLE || s.bytes > a->bytes - a->top_bytes)
		return walk == WALK_LONG ? walk : WALK_BROKEN;
	s.bytes += a->top_bytes;
	s.chunks++;
	walk = bins_walk(k, a, &s);
	c->all = (struct sum){ s.bytes, s.chunks - c->fast.chunks };
	return walk;
}

/*
 * Is the state what it was before its lists were followed, and was no thread at work in the arena?
 */
static bool is_still(const struct look *k, struct arena *a)
{
	return !a->state.locked && state_read(k, a, a->after.byte) &&
	       !memcmp(a->state.byte, a->after.byte, a->before + TAIL_WORDS * 8);
}

/* As often as it takes; what was near enough is kept where there is nothing better. */
static void arena_count(struct look *k, struct arena *a, uint64_t most_bytes, struct count *c)
{
	c->is = HEAP_FIGURES_SENSELESS;
	for (unsigned n = 0; n < TRIES && c->is != HEAP_FIGURES_KNOWN; n++) {
		struct count now = { .is = HEAP_FIGURES_BUSY };
		enum walk walk;
		bool still;

		if (n)
			look_again(k);
		walk = arena_walk(k, a, most_bytes, &now);
		still = is_still(k, a);
		if (walk == WALK_WHOLE)
			now.is = still ? HEAP_FIGURES_KNOWN : HEAP_FIGURES_CHANGED;
		else if (walk == WALK_LONG && !k->again)
			now.is = HEAP_FIGURES_MANY;
		else if (c->is == HEAP_FIGURES_CHANGED ||
			 (walk == WALK_BROKEN && (still || !now.bytes)))
			continue;
		*c = now;
		if (walk == WALK_LONG)
			return;
	}
}

/* ---- chunks with a mapping of their own ------------------------------------------------------ */

/*
 * struct malloc_par: trim_threshold, top_pad, mmap_threshold, arena_test, arena_max, (from 2.35 on:
 * thp_pagesize, hp_pagesize, hp_flags,) n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold,
 * mmapped_mem, max_mmapped_mem, sbrk_base, tcache_bins, tcache_max_bytes. The four with "n_" or
 * "no_" in their names are ints. Words are counted from mmapped_mem here.
 */
enum { MMAPPED, MAX_MMAPPED, SBRK_BASE, TCACHE_BINS, TCACHE_BYTES, NR_BEHIND };

#define NR_BEFORE	10		/* words from trim_threshold on */

struct mapped { uint64_t bytes, chunks; };

static bool is_memory(const struct roots_find *f, uint64_t address)
{
	size_t i = roots_range_at(&f->ranges, address);

	return i < f->ranges.nr && f->ranges.v[i].start <= address &&
	       (f->ranges.v[i].kind == MEMORY_BREAK || f->ranges.v[i].kind == MEMORY_ANONYMOUS);
}

/*
 * In the layout in which the ints end `gap` ints before mmapped_mem, and mmap_threshold stands
 * `threshold` words before it?
 */
static bool fits(const uint64_t *w, unsigned gap, unsigned threshold, struct mapped *m)
{
	uint32_t n[4];			/* n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold */

	memcpy(n, (const unsigned char *)w - 16 - gap * 4, sizeof(n));
	if (w[-(int)threshold] > THRESHOLD_MAX || w[1 - (int)threshold] > MANY_ARENAS ||
	    w[2 - (int)threshold] > MANY_ARENAS)
		return false;
	if (n[0] > n[2] || n[3] > 1 || !n[0] != !w[MMAPPED] || !n[2] != !w[MAX_MMAPPED] ||
	    w[MMAPPED] / PAGE < n[0])
		return false;
	*m = (struct mapped){ w[MMAPPED], n[0] };
	return true;
}

static bool mapped_at(const struct roots_find *f, const uint64_t *w, bool has_memory,
		      struct mapped *m)
{
	if (w[MMAPPED] & (PAGE - 1) || w[MAX_MMAPPED] & (PAGE - 1) || w[MMAPPED] > w[MAX_MMAPPED] ||
	    !w[TCACHE_BINS] || w[TCACHE_BINS] > 64 || w[TCACHE_BYTES] > 1032)
		return false;
	if (has_memory ? !is_memory(f, w[SBRK_BASE]) : w[SBRK_BASE] != 0)
		return false;
	return fits(w, 1, 8, m) || fits(w, 0, 5, m);
}

/* There is one such place: 1; 0; -ENOMEM. `has_memory`: the main arena has had some. */
static int mapped_look(const struct roots_find *f, uint64_t state, bool has_memory,
		       struct mapped *m)
{
	const size_t nr = 2 * NEAR_BYTES / 8;
	const uint64_t start = (state & ~(PAGE - 1)) - NEAR_BYTES;
	uint64_t *word = calloc(nr, sizeof(*word));
	unsigned found = 0;

	if (!word)
		return -ENOMEM;
	for (uint64_t at = 0; at < nr * 8; at += PAGE)
		roots_read(f, start + at, (unsigned char *)word + at, PAGE);
	for (size_t i = NR_BEFORE; i + NR_BEHIND <= nr; i++)
		found += mapped_at(f, word + i, has_memory, m);
	free(word);
	return found == 1;
}

/*
 * The same for the main arena at `state`, whose bins are `before` bytes behind; more than once, as
 * a thread that is just mapping a chunk has not counted all of it yet.
 */
static int mapped_find(const struct roots_find *f, uint64_t state, uint64_t before,
		       struct mapped *m)
{
	const uint64_t unused = state + before - 16;
	int found = 0;

	for (unsigned n = 0; !found && n < TRIES; n++) {
		uint64_t top;

		if (roots_word(f, unused, &top))
			found = mapped_look(f, state, top != unused, m);
	}
	return found;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_main(const struct glibc *g, uint64_t state)
{
	vec_each(&g->states, s)
		if (s->start == state)
			return true;
	return false;
}

static enum heap_figures worse(enum heap_figures a, enum heap_figures b)
{
	return a > b ? a : b;
}

static void add(struct heap_allocator *a, const struct count *c)
{
	a->why = (uint8_t)worse(a->why, c->is);
	a->nr_arenas++;
	a->arena_bytes += c->bytes;
	a->free_bytes += c->all.bytes;
	a->free_chunks += c->all.chunks;
	a->fast_bytes += c->fast.bytes;
	a->fast_chunks += c->fast.chunks;
}

int figures_count(const struct roots_find *f, const struct glibc *g, size_t main,
		  unsigned max_chunks, struct heap_allocator *a)
{
	struct look *k = calloc(1, sizeof(*k));
	struct heap_allocator sum = { .path = a->path,
				      .taken_ns = a->taken_ns,
				      .outside = a->outside };
	uint64_t most_bytes = 0;
	struct mapped m = { 0 };
	int found;

	if (!k)
		return -ENOMEM;
	/* first, as without it nothing is known, and to follow the lists takes long */
	found = mapped_find(f, g->arenas.v[main].state, g->arenas.v[main].before, &m);
	if (found <= 0) {
		free(k);
		if (found)
			return found;
		sum.why = HEAP_FIGURES_SHAPE;
		*a = sum;
		return sum.why;
	}
	k->f = f;
	k->most = max_chunks;
	vec_each(&f->ranges, r)
		most_bytes += r->end - r->start;
	for (size_t i = main; i < g->arenas.nr && (i == main || !is_main(g, g->arenas.v[i].state));
	     i++) {
		struct arena arena = { .before = g->arenas.v[i].before,
				       .bins = g->arenas.v[i].state + g->arenas.v[i].before };
		struct count c = { 0 };

		arena_count(k, &arena, most_bytes, &c);
		add(&sum, &c);
		if (i == main)
			sum.top_bytes = c.top_bytes;
	}
	free(k);
	sum.mmapped_bytes = m.bytes;
	sum.mmapped_chunks = m.chunks;
	if (sum.why == HEAP_FIGURES_BUSY || sum.why == HEAP_FIGURES_MANY)
		sum.free_bytes = sum.free_chunks = sum.fast_bytes = sum.fast_chunks = 0;
	else
		sum.used_bytes = sum.arena_bytes - sum.free_bytes;
	sum.valid = sum.why <= HEAP_FIGURES_MANY;
	*a = sum;
	return sum.why;
}
