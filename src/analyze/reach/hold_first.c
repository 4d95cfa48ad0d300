/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A root for the blocks of each call site: from one reachable block of each up over the parents
 * that the search has noted, then one look at the roots for pointers to the blocks that are at the
 * top.
 */
#include "src/analyze/reach/hold_first.h"

#include <stdlib.h>

#include "src/base/vec.h"

/* up over parents, of all sites together: a list may put millions of blocks on the way */
#define MOST_STEPS	(1u << 20)
#define WINDOW_WORDS	8192

struct top {
	uint64_t start, end;		/* of the block */
	uint32_t site;
};

struct finding {
	const struct memory *memory;
	struct hold_first *first;
	VEC(struct top) tops;		/* by start */
	uint64_t low, high;
	size_t left;			/* sites without a root so far */
};

static int by_start(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The block that one of each site hangs on in the end. */
static int find_tops(struct finding *f, const struct heap *h, const struct reach *r)
{
	uint8_t *done = calloc(h->nr_sites + 1, 1);
	uint32_t steps = 0, sites = 0;
	int rc = done ? 0 : -ENOMEM;

	for (uint64_t i = 0; !rc && i < r->nr && sites < h->nr_sites; i++) {
		uint32_t site = h->blocks[i].site, at = (uint32_t)i;

		if (r->class[i] > REACH_POSSIBLE || done[site])
			continue;
		done[site] = 1;
		sites++;
		while (r->parent[at] != UINT32_MAX && steps < MOST_STEPS) {
			at = r->parent[at];
			steps++;
		}
		if (r->parent[at] != UINT32_MAX)
			continue;
		rc = vec_push(&f->tops,
			      (struct top){ h->blocks[at].address,
					    h->blocks[at].address + h->blocks[at].size_bytes,
					    site });
	}
	free(done);
	vec_sort(&f->tops, by_start);
	f->low = UINT64_MAX;
	vec_each(&f->tops, t) {
		f->low = t->start < f->low ? t->start : f->low;
		f->high = t->end > f->high ? t->end : f->high;
	}
	f->left = f->tops.nr;
	return rc;
}

/* A word: sites whose top it leads to, and that have no root yet. */
static void note_word(struct finding *f, uint64_t word, const struct hold_first *where)
{
	size_t i;

	if (word < f->low || word > f->high)
		return;
	i = vec_while(&f->tops, t, t->start <= word);
	while (i-- > 0 && (word < f->tops.v[i].end || word == f->tops.v[i].start)) {
		struct hold_first *first = &f->first[f->tops.v[i].site];

		if (first->kind)
			continue;
		*first = *where;
		f->left--;
	}
}

static void look_in(struct finding *f, const struct memory_range *r, uint64_t *words)
{
	for (uint64_t at = (r->start + 7) & ~7ull; at < r->end && f->left;) {
		uint64_t want = r->end - at < WINDOW_WORDS * 8 ? (r->end - at) & ~7ull
							       : WINDOW_WORDS * 8;
		size_t got = want ? f->memory->ops->read(f->memory->arg, at, words, want) / 8 : 0;

		for (size_t i = 0; i < got; i++)
			note_word(f, words[i],
				  &(struct hold_first){ at + i * 8, r->thread,
							(uint8_t)(r->kind + 1) });
		at += got ? got * 8 : 4096 - (at & 4095);
	}
}

/* Lasting roots first: data, then all others but stacks, stacks, registers. */
static void find_roots(struct finding *f, uint64_t *words)
{
	const struct memory *m = f->memory;

	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; i < m->roots.nr && f->left; i++) {
			const struct memory_range *r = &m->roots.v[i];
			unsigned when = r->kind == MEMORY_DATA	  ? 0
					: r->kind == MEMORY_STACK ? 2
								  : 1;

			if (when == round && !stop_asked(&m->stop))
				look_in(f, r, words);
		}
	for (size_t i = 0; i < m->words.nr && f->left; i++)
		note_word(f, m->words.v[i].value,
			  &(struct hold_first){ 0, m->words.v[i].thread, MEMORY_REGISTER + 1 });
}

struct hold_first *hold_first(const struct heap *h, const struct memory *m, const struct reach *r,
			      uint64_t most_bytes)
{
	struct finding f = { .memory = m };
	uint64_t bytes = 0, *words;

	for (size_t i = 0; i < m->roots.nr; i++)
		bytes += m->roots.v[i].end - m->roots.v[i].start;
	if (bytes > most_bytes)
		return NULL;
	words = malloc(WINDOW_WORDS * sizeof(*words));
	f.first = calloc(h->nr_sites + 1, sizeof(*f.first));
	if (words && f.first && !find_tops(&f, h, r))
		find_roots(&f, words);
	vec_fini(&f.tops);
	free(words);
	return f.first;
}
