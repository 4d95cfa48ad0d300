/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the lost blocks are lost by themselves, and which only with others.
 *
 * Wanted is one block of each strongly connected component that no other lost block leads to, the
 * lowest; and for all others the lowest of these that leads to them. Three traversals do it without
 * finding the components:
 *   1. In order of address, follow all that leads on from each block not yet seen; these blocks are
 *      the candidates. A component that nothing leads to is entered only from itself, so its lowest
 *      block is one of them.
 *   2. From the last candidate to the first, the same, only from candidates; those seen by then
 *      from a later one are none. Each that is left is one of those wanted: a block that leads to
 *      it is not seen before it in the first traversal (it would have been seen as well), so either
 *      it is led to by it, or it is seen from a later candidate, which then has seen both in this
 *      one.
 *   3. In order of address, from those left; what is seen belongs to the one it is first seen from.
 */
#include "src/analyze/reach/reach_mark.h"

#include <errno.h>
#include <string.h>

#include "src/analyze/reach/reach_bag.h"

#define HANDFUL 32

struct losing {
	const struct reach_graph *g;
	struct reach *r;
	struct reach_scanner s;
	struct reach_stack stack;
	uint64_t *seen, *candidates;	/* bits by block */
	uint32_t root;
	bool last;			/* third traversal */
	bool failed;
};

static size_t nr_words(const struct losing *l)
{
	return (l->r->nr + 63) / 64;
}

static inline void lead_to(void *arg, uint32_t block, uint32_t offset)
{
	struct losing *l = arg;
	uint64_t bit = (uint64_t)1 << (block & 63);

	(void)offset;
	if (l->r->class[block] != REACH_DEFINITE || l->seen[block / 64] & bit)
		return;
	l->seen[block / 64] |= bit;
	if (l->last) {
		l->r->class[block] = REACH_INDIRECT;
		l->r->parent[block] = l->root;
	}
	if (reach_push(&l->stack, &block, 1))
		l->failed = true;
}

static void lead_on(struct losing *l, uint32_t root)
{
	const struct reach_graph *g = l->g;
	uint32_t block[HANDFUL];
	unsigned nr;

	l->seen[root / 64] |= (uint64_t)1 << (root & 63);
	l->root = root;
	reach_follow(g, &l->s, root, lead_to, l);
	while (!l->failed && (nr = reach_pop(&l->stack, block, HANDFUL))) {
		for (unsigned i = 0; i < nr; i++)
			__builtin_prefetch(&g->first[block[i]]);
		for (unsigned i = 0; i < nr; i++)
			if (g->first[block[i]] < REACH_MAX_EDGES)
				__builtin_prefetch(&g->edges[g->first[block[i]]]);
		for (unsigned i = 0; i < nr; i++)
			reach_follow(g, &l->s, block[i], lead_to, l);
		l->failed |= reach_stopped(&l->s);
	}
}

static bool is_seen(const struct losing *l, uint32_t block)
{
	return l->seen[block / 64] >> (block & 63) & 1;
}

static void find_candidates(struct losing *l)
{
	const uint8_t *class = l->r->class, *end = class + l->r->nr;

	/* Mostly few are lost among many. */
	for (const uint8_t *at = class;
	     (at = memchr(at, REACH_DEFINITE, (size_t)(end - at))) && !l->failed; at++) {
		uint32_t i = (uint32_t)(at - class);

		if (is_seen(l, i))
			continue;
		l->candidates[i / 64] |= (uint64_t)1 << (i & 63);
		lead_on(l, i);
	}
}

static void drop_candidates(struct losing *l)
{
	for (size_t word = nr_words(l); word-- > 0 && !l->failed;) {
		for (uint64_t left = l->candidates[word]; left && !l->failed;) {
			unsigned bit = 63 - (unsigned)__builtin_clzll(left);
			uint32_t i = (uint32_t)(word * 64 + bit);

			left &= ~((uint64_t)1 << bit);
			if (is_seen(l, i))
				l->candidates[word] &= ~((uint64_t)1 << bit);
			else
				lead_on(l, i);
		}
	}
}

static void give_to_candidates(struct losing *l)
{
	l->last = true;
	for (size_t word = 0; word < nr_words(l); word++)
		for (uint64_t left = l->candidates[word]; left && !l->failed; left &= left - 1)
			lead_on(l, (uint32_t)(word * 64 + (unsigned)__builtin_ctzll(left)));
}

static int lose(struct losing *l)
{
	find_candidates(l);
	memset(l->seen, 0, nr_words(l) * 8);
	drop_candidates(l);
	memset(l->seen, 0, nr_words(l) * 8);
	give_to_candidates(l);
	return l->s.stopped ? -EINTR : l->failed ? -ENOMEM : 0;
}

int reach_lose(const struct reach_graph *g, const struct memory *m, uint64_t tag_mask,
	       struct reach *r)
{
	struct reach_space *space = g->space;
	struct losing *l;
	int rc = -ENOMEM;

	if (!memchr(r->class, REACH_DEFINITE, r->nr))
		return 0;
	l = reach_take(space, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->g = g;
	l->r = r;
	l->stack.space = space;
	l->seen = reach_take(space, nr_words(l) * 8);
	l->candidates = reach_take(space, nr_words(l) * 8);
	if (l->seen && l->candidates && !reach_scanner_init(&l->s, g->ix, m, tag_mask, space)) {
		rc = lose(l);
		r->stats.read_bytes += l->s.read_bytes;
		reach_scanner_fini(&l->s);
	}
	reach_stack_fini(&l->stack);
	reach_give(space, l->candidates, nr_words(l) * 8);
	reach_give(space, l->seen, nr_words(l) * 8);
	reach_give(space, l, sizeof(*l));
	return rc;
}
