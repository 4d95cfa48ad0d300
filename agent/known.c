/* SPDX-License-Identifier: MIT */
/*
 * Stacks that come back: noting them.
 */
#include "agent/known.h"

#define KNOWN_ERA	(1ull << 48)
#define VAIN_MOST	128	/* from then on words are noted once in so many times */

_Static_assert(sizeof(struct known_stack) == 32, "two to a line");
_Static_assert(sizeof(struct known_group) == 64, "a line each");
_Static_assert(KNOWN_GROUPS <= UINT16_MAX && KNOWN_CHAIN < KNOWN_GROUPS, "a chain fits");

void known_forget(struct known *known)
{
	if (!known->noted)
		return;
	known->era += KNOWN_ERA;
	known->noted = false;
	if (!known->era)
		known_clear(known);		/* keys of the first era would be believed */
}

void known_clear(struct known *known)
{
	memset(known->stack, 0, sizeof(known->stack));
	memset(known->bucket, 0, sizeof(known->bucket));
	memset(known->seen, 0, sizeof(known->seen));
	known->nr_groups = 0;
	known->chain_checks = 0;
	known->noted = false;
}

uint32_t known_other(struct known *known, uint64_t ra, uint64_t sp, uint64_t fp, uint32_t set)
{
	const struct caller from = { ra, sp, fp };
	uint32_t last = known->last[set];

	for (uint32_t nr = 1; nr < KNOWN_WAYS; nr++) {
		struct known_stack *k = &known->stack[set][last ^ nr];

		if (known_is(known, k, &from)) {
			known->last[set] = (uint8_t)(last ^ nr);
			k->found = true;
			return k->site;
		}
	}
	return 0;
}

/* Make room for groups; who is in the sets stays there. */
static __attribute__((noinline)) void groups_drop(struct known *known)
{
	for (uint32_t i = 0; i < KNOWN_SETS * KNOWN_WAYS; i++)
		known->stack[i / KNOWN_WAYS][i % KNOWN_WAYS].group = 0;
	memset(known->bucket, 0, sizeof(known->bucket));
	known->nr_groups = 0;
	known->chain_checks = 0;
}

/* Make a group of n checks, the first of them the outermost. False: they are too far apart. */
static bool group_make(struct known_group *g, const struct check *checks, uint32_t n)
{
	uint64_t base = checks[0].address;

	for (uint32_t i = 1; i < n; i++)
		if (checks[i].address < base)
			base = checks[i].address;
	for (uint32_t i = 0; i < KNOWN_WORDS; i++) {
		const struct check *check = &checks[n - 1 - (i < n ? i : 0)];
		uint64_t bytes = check->address - base;

		if (bytes & 7 || bytes / 8 > UINT16_MAX)
			return false;
		g->value[i] = check->value;
		g->word[i] = (uint16_t)(bytes / 8);
	}
	g->base = base;
	return true;
}

static bool group_is(const struct known_group *a, const struct known_group *b)
{
	uint64_t differs = (a->base ^ b->base) | (uint64_t)(a->outer ^ b->outer);

	for (uint32_t i = 0; i < KNOWN_WORDS; i++)
		differs |= (a->value[i] ^ b->value[i]) | (uint64_t)(a->word[i] ^ b->word[i]);
	return !differs;
}

static uint16_t *group_bucket(struct known *known, const struct known_group *g)
{
	uint64_t h = g->base ^ (uint64_t)g->outer << 48;

	for (uint32_t i = 0; i < KNOWN_WORDS; i++) {
		h = (h ^ g->value[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return &known->bucket[h % KNOWN_BUCKETS];
}

/* The number of the group that is made behind the last one: it, or one that is the same. */
static uint32_t group_add(struct known *known)
{
	struct known_group *new = &known->group[known->nr_groups + 1];
	uint16_t *bucket = group_bucket(known, new);

	for (uint32_t n = *bucket; n; n = known->group[n].next)
		if (group_is(&known->group[n], new))
			return n;
	new->next = *bucket;
	*bucket = (uint16_t)++known->nr_groups;
	return known->nr_groups;
}

/*
 * The memo's first nr checks as a chain of groups, the first one made of the outermost. Those that
 * are as they were the last time have their groups already. Returns the innermost group, 0 when
 * there are no checks or they do not fit.
 */
static uint32_t groups_put(struct known *known, const struct check *checks, uint32_t nr)
{
	uint32_t most = (nr + KNOWN_WORDS - 1) / KNOWN_WORDS, n, group;

	if (most > KNOWN_CHAIN)
		return 0;
	if (known->nr_groups + most >= KNOWN_GROUPS)
		groups_drop(known);
	n = known->chain_checks / KNOWN_WORDS;
	group = n ? known->chain[n - 1] : 0;
	for (uint32_t at = n * KNOWN_WORDS; at < nr; at += KNOWN_WORDS) {
		struct known_group *g = &known->group[known->nr_groups + 1];

		if (!group_make(g, checks + at, nr - at < KNOWN_WORDS ? nr - at : KNOWN_WORDS))
			return 0;
		g->outer = (uint16_t)group;
		group = group_add(known);
		if (nr - at >= KNOWN_WORDS) {
			known->chain[at / KNOWN_WORDS] = (uint16_t)group;
			known->chain_checks = at + KNOWN_WORDS;
		}
	}
	return group;
}

static struct known_stack *way_of(struct known_stack *set, uint32_t site, uint64_t ra, uint64_t sp)
{
	for (struct known_stack *k = set; k < set + KNOWN_WAYS; k++)
		if (k->site == site && k->sp == sp && k->ra == ra)
			return k;
	return NULL;
}

/* The next way that is forgotten or was not found since the last time around. */
static struct known_stack *way_replaced(struct known *known, uint32_t set)
{
	for (;;) {
		struct known_stack *k = &known->stack[set][known->turn[set]++ % KNOWN_WAYS];

		if (!k->found || (k->ra ^ known->era) >= KNOWN_ERA)
			return k;
		k->found = false;
	}
}

static __attribute__((noinline)) void words_note(const struct tctx *c, const struct caller *from,
						 uint64_t ra)
{
	const struct frame *inner = &c->memo[c->memo_nr - 1];
	struct known *known = c->known;
	uint32_t set = known_set(from);
	struct known_stack *k = way_of(known->stack[set], c->last_site, ra, from->sp);

	if (!k) {
		known->noted = true;
		k = way_replaced(known, set);
		*k = (struct known_stack){ .ra = ra, .sp = from->sp, .site = c->last_site };
	}
	k->vain = k->found ? 0 : k->vain < UINT8_MAX ? k->vain + 1 : VAIN_MOST;
	if (k->vain & (k->vain - 1))
		return;
	k->found = false;
	k->fp = from->fp;
	k->needs_fp = inner->needs_fp;
	k->group = (uint16_t)groups_put(known, c->checks, inner->nr_checks);
}

void known_note(const struct tctx *c, const struct caller *from)
{
	uint64_t ra = from->ra ^ c->known->era;
	uint64_t hash = (ra ^ (uint64_t)c->last_site << 16) * 0x9e3779b97f4a7c15ull ^
			from->sp * 0xc2b2ae3d27d4eb4full;
	uint16_t *seen = &c->known->seen[hash >> 32 & (KNOWN_SEEN - 1)];
	uint16_t tag = (uint16_t)(hash >> 48);

	if (*seen == tag)
		words_note(c, from, ra);
	*seen = tag;
}

/* ---- whether it pays ------------------------------------------------------------------------- */

/*
 * The more allocations there are to a walk, the more stacks were known. Where it does not pay the
 * known stacks rest.
 */
void known_pays(struct tctx *c)
{
	struct known *known = c->known ? c->known : c->known_resting;
	uint64_t now = pmm_ctx_sums(&c->pub).allocs, allocs = now - c->weighed_allocs;
	bool first = !c->weighed_allocs;

	c->walks_left = KNOWN_WALKS - 1;
	c->weighed_allocs = now;
	if (!known || first)
		return;
	if (known->decided) {
		known->decided = false;
		allocs /= KNOWN_LONG / KNOWN_WALKS;
	} else if (!c->known) {
		known->decided = true;
		c->walks_left = KNOWN_LONG - 1;
		if (known->with < allocs + allocs / KNOWN_PAYS)
			return;
	}
	if (c->known) {
		known->with = allocs;		/* to be compared */
		if (allocs >= KNOWN_SURE * KNOWN_WALKS)
			return;
		c->known = NULL;
		c->known_resting = known;
	} else {
		known_clear(known);		/* code may have gone meanwhile */
		c->known_resting = NULL;
		c->known = known;
	}
}
