/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Habits: offsets counted by site and over all sites, and what these counts explain. */
#include "src/analyze/reach/reach_habit.h"

#include <errno.h>

#include "src/base/hash.h"

#define SITE_KEY(site, offset)	((uint64_t)(site) << 32 | (offset))

struct counts {
	/* site, offset -> blocks pointed to there and nowhere else */
	struct hash_map by_site;
	uint32_t sites[HABIT_MAX_HEADER + 1];	/* by offset: that have such blocks */
};

int reach_habits_init(struct reach_habits *x, uint64_t nr, struct reach_space *space)
{
	x->nr = nr;
	x->notes = reach_take(space, nr * sizeof(*x->notes));
	return x->notes ? 0 : -ENOMEM;
}

void reach_habits_fini(struct reach_habits *x, struct reach_space *space)
{
	if (x->notes)
		reach_give(space, x->notes, x->nr * sizeof(*x->notes));
	*x = (struct reach_habits){ 0 };
}

/* The offset that all pointers into a block have; 0 = there are none, or several. */
static uint32_t only_offset(const struct reach_note *n)
{
	return n->low && !(n->places & (n->places - 1)) ? n->low - 1 : 0;
}

/* Such an offset that a header could have. */
static uint32_t header_of(const struct reach_note *n)
{
	uint32_t offset = only_offset(n);

	return offset <= HABIT_MAX_HEADER ? offset : 0;
}

static int count(struct counts *c, const struct reach_habits *x, const struct heap_block *blocks,
		 const struct reach *r)
{
	for (uint64_t i = 0; i < x->nr; i++) {
		uint32_t offset = r->class[i] == REACH_POSSIBLE ? header_of(&x->notes[i]) : 0, *nr;
		bool added;

		if (!offset)
			continue;
		nr = hash_add(&c->by_site, SITE_KEY(blocks[i].site, offset), 0, &added);
		if (!nr)
			return -ENOMEM;
		c->sites[offset] += added;
		++*nr;
	}
	return 0;
}

static bool is_header(const struct counts *c, uint32_t site, uint32_t offset)
{
	const uint32_t *nr = offset ? hash_find(&c->by_site, SITE_KEY(site, offset)) : NULL;

	return nr && (*nr >= HABIT_SITE_BLOCKS || c->sites[offset] >= HABIT_SITES);
}

static bool is_pool(const struct reach_note *n, const struct heap_block *b)
{
	return b->size_bytes >= HABIT_POOL_BYTES &&
	       __builtin_popcount(n->places) >= HABIT_POOL_PLACES;
}

int reach_habits_judge(const struct reach_habits *x, const struct heap_block *blocks,
		       unsigned heuristics, struct reach *r)
{
	struct counts c = { 0 };
	int rc = heuristics & REACH_HEADER ? count(&c, x, blocks, r) : 0;

	for (uint64_t i = 0; !rc && i < x->nr; i++) {
		const struct reach_note *n = &x->notes[i];
		struct reach_habit habit = { .block = (uint32_t)i };

		if (r->class[i] != REACH_POSSIBLE || !n->low)
			continue;
		if (heuristics & REACH_HEADER && is_header(&c, blocks[i].site, header_of(n)))
			habit.header_bytes = header_of(n);
		else if (!(heuristics & REACH_POOL && is_pool(n, &blocks[i])))
			continue;
		rc = vec_push(&r->habits, habit);
	}
	hash_fini(&c.by_site);
	return rc;
}
