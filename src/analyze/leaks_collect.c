/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of classified blocks: sums by site and class, who holds them, what is new. One pass over
 * the blocks; a second array of four bytes a block says through which other site each is reached:
 * of a list of a million nodes the one that hangs the list up, not the node before.
 */
#include "src/analyze/leaks.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/hash.h"

#define UNKNOWN	(UINT32_MAX - 1)	/* no site has that number */
/* blocks looked at that early, as their parents are anywhere */
#define AHEAD	16

_Static_assert((int)REACH_NR_CLASSES == HEAP_NR_LEAK_CLASSES, "one class, two names");

/* A vote among the sites that hold an entry's blocks. */
struct vote {
	uint32_t site;
	uint64_t lead;			/* bytes */
	uint64_t blocks, bytes;		/* second pass: held by it */
};

struct collect {
	struct leaks *l;
	const struct heap *h;
	const struct reach *r;
	const struct leaks_seen *seen;
	size_t seen_at;			/* blocks of `seen` before this one have lower addresses */
	size_t habit_at;		/* habits before this one are of blocks before */
	uint32_t *by_site;		/* entry + 1, by site and class; not of indirect ones */
	struct hash_map indirect;	/* site, holder -> entry */
	uint32_t *anchor;		/* by block: the site it is reached through */
	VEC(struct vote) votes;		/* by entry */
};

/* ---- through which site a block is reached ---- */

/*
 * The site of the first block on the way to the roots that is of another site; HEAP_NO_SITE = there
 * is none. Each block's way is walked once: what was found is kept for all blocks on it.
 */
static uint32_t anchor_of(struct collect *c, uint32_t block)
{
	const struct heap_block *b = c->h->blocks;
	const uint32_t *parent = c->r->parent;
	uint32_t found = HEAP_NO_SITE, at = block;
	uint64_t steps = 0;

	for (;; steps++) {
		if (c->anchor[at] != UNKNOWN) {
			found = c->anchor[at];
			break;
		}
		c->anchor[at] = HEAP_NO_SITE;	/* should it lead back to itself */
		if (parent[at] >= c->r->nr)
			break;
		if (b[parent[at]].site != b[at].site) {
			found = b[parent[at]].site;
			break;
		}
		at = parent[at];
	}
	at = block;
	for (uint64_t i = 0; i <= steps; i++) {
		c->anchor[at] = found;
		if (i < steps)
			at = parent[at];
	}
	return found;
}

static void vote(struct vote *v, uint32_t site, uint64_t bytes)
{
	bytes += !bytes;
	if (v->site == site) {
		v->lead += bytes;
	} else if (v->lead >= bytes) {
		v->lead -= bytes;
	} else {
		v->lead = bytes - v->lead;
		v->site = site;
	}
}

static uint32_t entry_number(const struct collect *c, uint32_t block)
{
	return c->by_site[(size_t)c->h->blocks[block].site * REACH_NR_CLASSES +
			  c->r->class[block]] -
	       1;
}

static bool is_pointed_at(uint8_t class)
{
	return class == REACH_REACHED || class == REACH_POSSIBLE;
}

/* Count what the winners hold; those that hold most are holders. */
static void choose_holders(struct collect *c)
{
	for (uint64_t i = 0; i < c->r->nr; i++) {
		struct vote *v;

		if (!is_pointed_at(c->r->class[i]))
			continue;
		v = &c->votes.v[entry_number(c, (uint32_t)i)];
		if (v->site != c->anchor[i])
			continue;
		v->blocks++;
		v->bytes += c->h->blocks[i].size_bytes;
	}
	for (size_t i = 0; i < c->l->entries.nr; i++) {
		struct leak_entry *e = &c->l->entries.v[i];
		const struct vote *v = &c->votes.v[i];

		if (!is_pointed_at(e->class) || v->site == HEAP_NO_SITE || !v->blocks ||
		    v->bytes < e->bytes / 2)
			continue;
		e->holder_site = v->site;
		e->held_blocks = v->blocks;
	}
}

/* ---- entries ---- */

static int64_t entry_add(struct collect *c, uint32_t site, uint8_t class, uint32_t holder)
{
	struct leak_entry e = {
		.site = site, .class = class, .holder_site = holder, .oldest_ns = UINT64_MAX
	};

	if (c->l->entries.nr >= UINT32_MAX - 1 || vec_push(&c->l->entries, e) ||
	    vec_push(&c->votes, (struct vote){ .site = HEAP_NO_SITE }))
		return -ENOMEM;
	return (int64_t)c->l->entries.nr - 1;
}

/*
 * The entry of a site and class, and of the definite site that indirect blocks are lost with. Its
 * number or -ENOMEM.
 */
static int64_t entry_of(struct collect *c, uint32_t site, uint8_t class, uint32_t holder)
{
	uint32_t *i;
	int64_t n;
	bool added;

	if (class != REACH_INDIRECT) {
		i = &c->by_site[(size_t)site * REACH_NR_CLASSES + class];
		if (*i)
			return *i - 1;
		n = entry_add(c, site, class, HEAP_NO_SITE);
		*i = n < 0 ? 0 : (uint32_t)n + 1;
		return n;
	}
	i = hash_add(&c->indirect, (uint64_t)site << 32 | holder, (uint32_t)c->l->entries.nr,
		     &added);
	if (!i)
		return -ENOMEM;
	return added ? entry_add(c, site, class, holder) : *i;
}

/* Was it there, and lost in the same way, in the search before? */
static bool seen_before(struct collect *c, const struct heap_block *b, uint8_t class)
{
	const struct leaks_seen *s = c->seen;

	if (!s || !s->any)
		return false;
	if (class == REACH_REACHED)
		return b->birth_ns <= s->at_ns;
	while (c->seen_at < s->blocks.nr && s->blocks.v[c->seen_at].address < b->address)
		c->seen_at++;
	return c->seen_at < s->blocks.nr && s->blocks.v[c->seen_at].address == b->address &&
	       s->blocks.v[c->seen_at].birth_ns == b->birth_ns &&
	       s->blocks.v[c->seen_at].class == class;
}

static void count_block(struct collect *c, struct leak_entry *e, const struct heap_block *b)
{
	e->blocks++;
	e->bytes += b->size_bytes;
	if (b->birth_ns < e->oldest_ns) {
		e->oldest_ns = b->birth_ns;
		e->example = b->address;
		e->example_bytes = b->size_bytes;
	}
	if (b->birth_ns > e->newest_ns)
		e->newest_ns = b->birth_ns;
	if (!seen_before(c, b, e->class)) {
		e->fresh_blocks++;
		e->fresh_bytes += b->size_bytes;
	}
}

/* Is it reached by a habit only? */
static void count_habit(struct collect *c, struct leak_entry *e, uint32_t block)
{
	const struct reach_habit *x;

	if (c->habit_at >= c->r->habits.nr)
		return;
	x = c->r->habits.v + c->habit_at;
	if (x->block != block)
		return;
	c->habit_at++;
	e->habit_blocks++;
	e->habit_bytes += c->h->blocks[block].size_bytes;
	e->header_bytes = x->header_bytes ? x->header_bytes : e->header_bytes;
}

/* An indirect block counts with the definite one too. */
static int count_indirect(struct collect *c, uint32_t block, uint32_t *holder)
{
	const struct heap_block *b = c->h->blocks;
	uint32_t root = c->r->parent[block];
	int64_t n;

	*holder = HEAP_NO_SITE;
	if (root >= c->r->nr || c->r->class[root] != REACH_DEFINITE)
		return 0;
	*holder = b[root].site;
	n = entry_of(c, *holder, REACH_DEFINITE, HEAP_NO_SITE);
	if (n < 0)
		return -ENOMEM;
	c->l->entries.v[n].indirect_blocks++;
	c->l->entries.v[n].indirect_bytes += b[block].size_bytes;
	return 0;
}

static int add_block(struct collect *c, uint32_t block)
{
	const struct heap_block *b = &c->h->blocks[block];
	uint8_t class = c->r->class[block];
	uint32_t holder = HEAP_NO_SITE, parent = c->r->parent ? c->r->parent[block] : UINT32_MAX;
	int64_t n;
	int rc = 0;

	if (class == REACH_INDIRECT)
		rc = count_indirect(c, block, &holder);
	n = rc ? rc : entry_of(c, b->site, class, holder);
	if (n < 0)
		return (int)n;
	count_block(c, &c->l->entries.v[n], b);
	count_habit(c, &c->l->entries.v[n], block);
	if (class == REACH_INDIRECT) {
		c->l->entries.v[n].held_blocks += holder != HEAP_NO_SITE;
		return 0;
	}
	if (class == REACH_DEFINITE)
		return 0;
	if (parent < c->r->nr && c->h->blocks[parent].site == b->site)
		c->l->entries.v[n].chained_blocks++;
	vote(&c->votes.v[n], anchor_of(c, block), b->size_bytes);
	return 0;
}

int leaks_collect(struct leaks *l, const struct heap *h, const struct reach *r,
		  const struct leaks_seen *seen)
{
	struct collect c = { .l = l, .h = h, .r = r, .seen = seen };
	int rc = 0;

	*l = (struct leaks){ 0 };
	c.by_site = calloc((size_t)h->nr_sites * REACH_NR_CLASSES, sizeof(*c.by_site));
	c.anchor = malloc((r->nr + 1) * sizeof(*c.anchor));
	if (!c.by_site || !c.anchor)
		rc = -ENOMEM;
	for (uint64_t i = 0; !rc && i < r->nr; i++)
		c.anchor[i] = UNKNOWN;
	for (uint64_t i = 0; !rc && i < r->nr; i++) {
		if (i + AHEAD < r->nr && r->parent && r->parent[i + AHEAD] < r->nr)
			__builtin_prefetch(&h->blocks[r->parent[i + AHEAD]].site);
		rc = add_block(&c, (uint32_t)i);
	}
	if (!rc)
		choose_holders(&c);
	free(c.by_site);
	free(c.anchor);
	hash_fini(&c.indirect);
	vec_fini(&c.votes);
	return rc;
}

/* ---- what a search leaves for the next one ---- */

int leaks_see(struct leaks_seen *seen, const struct heap *h, const struct reach *r)
{
	seen->blocks.nr = 0;
	seen->any = true;
	seen->at_ns = h->search.how ? h->search.at_ns : h->taken_ns;
	for (uint64_t i = 0; i < r->nr; i++) {
		struct leaks_seen_block b = { h->blocks[i].address, h->blocks[i].birth_ns,
					      r->class[i] };

		if (r->class[i] != REACH_REACHED && vec_push(&seen->blocks, b))
			return -ENOMEM;
	}
	return 0;
}

void leaks_seen_fini(struct leaks_seen *seen)
{
	vec_fini(&seen->blocks);
	*seen = (struct leaks_seen){ 0 };
}
