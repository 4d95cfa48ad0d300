/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks that look used but are not: glibc's caches of freed ones, each thread's (tcache) and each
 * arena's (fast bins). Only their lists tell, so these are followed; where a list is not to the
 * letter what it must be (a thread is just changing it) none of it is believed.
 *
 * A thread's cache (malloc/malloc.c: tcache_perthread_struct, 2.26 to 2.41) is a chunk of its own:
 * how many there are of each of 64 sizes, then the first of each. In a freed one the first word
 * leads to the next one, and from 2.29 on the second is the same in all. The chunk is pointed to
 * from thread-local storage, in all threads at the same distance from the thread's record. A fast
 * bin is a list of chunks of one size (struct malloc_state). From 2.32 on such a pointer is stored
 * as exclusive-or of itself and its own address's page number.
 */
#include <errno.h>
#include <stdlib.h>

#include "src/roots/glibc/glibc_arenas.h"

/* of a thread's cache; the smallest is of CHUNK_MIN bytes, each further one of 16 more */
#define NR_SIZES	64u
#define CHUNK_MIN	32u
#define SIZE(word)	((word) & ~7ull)
#define MAX_CACHED	127u		/* of one size: tunable, a signed byte at first */
#define MAX_LOOKED_AT	(1u << 20)	/* chunks, in all */
/* bytes before the bins of a state whose fast bins are at FAST_AT */
#define FAST_BEFORE	112u
#define FAST_AT		16u
#define NR_FAST		10u
#define TLS_BYTES	(64u << 10)	/* of thread-local storage that is looked through */

struct caches {
	struct roots_find *f;
	VEC(struct memory_span) spans;
	size_t before;			/* spans of lists that are believed */
	unsigned nr_looked_at;
	/*
	 * what blocks are said to be live does not matter: some of them may have been freed unseen
	 */
	bool with_blocks;
	/* of the pointer to a thread's cache from the record, 0 = not known */
	uint64_t distance;
	unsigned count_bytes;		/* of a thread's cache: 1, from 2.30 on 2 */
};

/* What the cache is in memory, after 64 counts. */
struct cache {
	union { uint8_t one[NR_SIZES]; uint16_t two[NR_SIZES]; } count;
	uint64_t first[NR_SIZES];
};

/* ---- lists ----------------------------------------------------------------------------------- */

static bool is_used(const struct heap *h, uint64_t start, uint64_t end)
{
	uint64_t next = roots_block_from(h, start);

	return (next < h->nr_blocks && h->blocks[next].address < end) || roots_in_block(h, start);
}

/*
 * A freed chunk of a size, by what it gave its owner: 1 it is one, noted, with its first word; 0
 * not; -ENOMEM.
 */
static int chunk_add(struct caches *c, uint64_t at, uint64_t bytes, uint64_t *first)
{
	uint64_t word;

	if (at & 15 || c->nr_looked_at++ >= MAX_LOOKED_AT ||
	    !roots_cached_word(c->f, at - 8, &word) || SIZE(word) != bytes ||
	    !roots_cached_word(c->f, at, first))
		return 0;
	if (!c->with_blocks && is_used(c->f->heap, at, at + bytes - 8))
		return 0;		/* whatever says that it is free */
	return vec_push(&c->spans, (struct memory_span){ at, at + bytes - 8 }) ? -ENOMEM : 1;
}

struct list {
	uint64_t first;			/* what the first one gave its owner */
	uint64_t bytes;			/* of each chunk */
	unsigned least, most;		/* how many there must be */
	unsigned to_chunk;		/* pointers are to so many bytes before that */
	bool mangled;
};

/* 1 all of it is as it must be; 0 not; -ENOMEM. */
static int list_follow(struct caches *c, const struct list *l)
{
	uint64_t at = l->first, word;
	unsigned nr = 0;

	for (; at; nr++) {
		int rc = nr < l->most ? chunk_add(c, at, l->bytes, &word) : 0;

		if (rc <= 0)
			return rc;
		if (l->mangled)
			word ^= at >> 12;
		at = word ? word + l->to_chunk : 0;
	}
	return nr >= l->least;
}

/* What was noted of a list that is none goes. */
static int list_take(struct caches *c, struct list l)
{
	int rc = 0;

	for (int mangled = 1; !rc && mangled >= 0; mangled--) {
		l.mangled = mangled;
		rc = list_follow(c, &l);
		if (rc <= 0)
			c->spans.nr = c->before;
	}
	c->before = c->spans.nr;
	return rc;
}

/* ---- a thread's cache ------------------------------------------------------------------------ */

static unsigned count_of(const struct cache *t, unsigned count_bytes, unsigned i)
{
	return count_bytes == 1 ? t->count.one[i] : t->count.two[i];
}

/*
 * Has an address the chunk of a thread's cache? All sizes but one, which may be changing just now,
 * are empty or not by both halves alike.
 */
static bool cache_read(struct roots_find *f, uint64_t at, unsigned count_bytes,
		       struct cache *t)
{
	const size_t counts = (size_t)count_bytes * NR_SIZES, bytes = counts + sizeof(t->first);
	unsigned wrong = 0, used = 0;
	uint64_t size;

	if (!at || at & 15 || !roots_cached_word(f, at - 8, &size) || SIZE(size) != bytes + 16 ||
	    roots_in_block(f->heap, at) || roots_read(f, at, &t->count, counts) != counts ||
	    roots_read(f, at + counts, t->first, sizeof(t->first)) != sizeof(t->first))
		return false;
	for (unsigned i = 0; i < NR_SIZES; i++) {
		unsigned nr = count_of(t, count_bytes, i);

		if (nr > MAX_CACHED || t->first[i] & 15)
			return false;
		wrong += !nr != !t->first[i];
		used += nr != 0;
	}
	return used && wrong <= 1;
}

/* 1 at least one list of it is one; 0; -ENOMEM. */
static int cache_take(struct caches *c, const struct cache *t, unsigned count_bytes)
{
	int found = 0, rc = 0;

	for (unsigned i = 0; rc >= 0 && i < NR_SIZES; i++) {
		unsigned nr = count_of(t, count_bytes, i);

		if (!nr || !t->first[i])
			continue;
		rc = list_take(c, (struct list){ .first = t->first[i],
						 .bytes = CHUNK_MIN + i * 16,
						 .least = nr - c->with_blocks,
						 .most = nr + c->with_blocks });
		found |= rc > 0;
	}
	return rc < 0 ? rc : found;
}

static int cache_at(struct caches *c, uint64_t pointer, unsigned count_bytes)
{
	struct cache t;

	return cache_read(c->f, pointer, count_bytes, &t) ? cache_take(c, &t, count_bytes) : 0;
}

/* Is the pointer among words that are just before `end`? */
static int cache_among(struct caches *c, uint64_t record, uint64_t end, const uint64_t *word,
		       size_t nr)
{
	int rc = 0;

	for (size_t i = nr; !rc && i-- > 0; )
		for (unsigned bytes = 1; !rc && word[i] && bytes <= 2; bytes++) {
			rc = cache_at(c, word[i], bytes);
			if (rc > 0) {
				c->distance = record - (end - (nr - i) * 8);
				c->count_bytes = bytes;
			}
		}
	return rc;
}

/* Where in thread-local storage the pointer is: from the record down, as far as there is memory. */
static int cache_search(struct caches *c, uint64_t record)
{
	uint64_t word[ROOTS_PAGE / 8], end = record;
	int rc = 0;

	while (!rc && record - end < TLS_BYTES) {
		uint64_t start = roots_page_down(end - 1);
		size_t bytes = end - start;

		if (roots_read(c->f, start, word, bytes) != bytes)
			break;
		rc = cache_among(c, record, end, word, bytes / 8);
		end = start;
	}
	return rc < 0 ? rc : 0;
}

static int caches_find(struct caches *c)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < c->f->nr_threads; i++) {
		uint64_t record = arch_tp(&c->f->threads[i].regs), pointer;

		if (record & 7 || record < TLS_BYTES)
			continue;
		if (!c->distance)
			rc = cache_search(c, record);
		else if (roots_word(c->f, record - c->distance, &pointer))
			rc = cache_at(c, pointer, c->count_bytes);
	}
	return rc < 0 ? rc : 0;
}

/* ---- fast bins ------------------------------------------------------------------------------- */

static int fast_find(struct caches *c, const struct glibc_arena *a)
{
	uint64_t chunk[NR_FAST];
	int rc = 0;

	if (a->before != FAST_BEFORE ||
	    roots_read(c->f, a->state + FAST_AT, chunk, sizeof(chunk)) != sizeof(chunk))
		return 0;
	for (unsigned i = 0; rc >= 0 && i < NR_FAST; i++)
		if (chunk[i] && chunk[i] < UINT64_MAX - 16)
			rc = list_take(c, (struct list){ .first = chunk[i] + 16,
							 .bytes = CHUNK_MIN + i * 16,
							 .least = 1,
							 .most = MAX_LOOKED_AT,
							 .to_chunk = 16 });
	return rc < 0 ? rc : 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct memory_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int lists_find(struct caches *c, const struct glibc *g)
{
	int rc = caches_find(c);

	for (size_t i = 0; !rc && i < g->arenas.nr; i++)
		rc = fast_find(c, &g->arenas.v[i]);
	return rc;
}

/*
 * A thread that is just changing its cache has hung the chunk in or out, and not counted it yet:
 * one more or less is right, too, where each chunk for itself is what it must be.
 */
int glibc_cached_chunks(struct roots_find *f, const struct glibc *g, struct roots_spans *to)
{
	struct caches c = { .f = f, .with_blocks = true };
	int rc = lists_find(&c, g);

	vec_each(&c.spans, s)
		if (!rc)
			rc = vec_push(to, *s);
	vec_fini(&c.spans);
	return rc;
}

int glibc_cached(struct roots_find *f, const struct glibc *g)
{
	struct roots_spans joined = { 0 };
	struct caches c = { .f = f };
	int rc = lists_find(&c, g);

	for (size_t i = 0; !rc && i < f->covered.nr; i++)
		rc = vec_push(&c.spans, f->covered.v[i]);
	vec_sort(&c.spans, by_address);
	for (size_t i = 0; !rc && i < c.spans.nr; i++)
		rc = roots_span_add(&joined, c.spans.v[i].start, c.spans.v[i].end);
	vec_fini(&c.spans);
	if (rc) {
		vec_fini(&joined);
		return rc;
	}
	vec_fini(&f->covered);
	f->covered = joined;
	return 0;
}
