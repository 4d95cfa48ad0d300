/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expiry needs no memory of single blocks. What was born before the last look's limit and lives now
 * had expired and lived then as well, as nothing is born into the past. So two sums for each site,
 * of blocks born before the last limit and between that and the new one, tell how many expired
 * anew, and how many of the expired were freed: exactly, whatever the number of blocks.
 *
 * (A birth may be known to some ticks only; where that makes a block appear in the past, it counts
 * as expired anew.)
 */
#include "src/analyze/expiry.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/estimate.h"

/* longest silence between two events of a site that continues */
#define MAX_WAIT_NS	300000000000ull
#define HALF		0.5		/* sums of estimates differ in rounding */

/* What one look finds of a site. */
struct seen {
	struct expiry_sum old, anew;	/* born before the last limit; since */
	uint64_t birth_ns;		/* of the oldest alive, UINT64_MAX = none */
};

static struct expiry_count count_of(struct expiry_sum s)
{
	return (struct expiry_count){ estimate_round(s.blocks), estimate_round(s.bytes) };
}

static struct expiry_sum plus(struct expiry_sum a, struct expiry_sum b)
{
	return (struct expiry_sum){ a.blocks + b.blocks, a.bytes + b.bytes };
}

static struct expiry_sum minus(struct expiry_sum a, struct expiry_sum b)
{
	return (struct expiry_sum){ a.blocks - b.blocks, a.bytes - b.bytes };
}

static uint64_t key_of(const struct heap *h, uint32_t site)
{
	return h->sites[site].number ? h->sites[site].number : 1ull << 32 | site;
}

static struct expiry_site *find(const struct expiry *x, const struct heap *h, uint32_t site)
{
	uint32_t *i = hash_find(&x->by_site, key_of(h, site));

	return i ? &x->sites.v[*i] : NULL;
}

static uint64_t limit_of(const struct expiry *x, const struct heap *h)
{
	uint64_t limit = h->taken_ns >= x->expire_ns ? h->taken_ns - x->expire_ns + 1 : 0;

	return limit > x->until_ns ? limit : x->until_ns;
}

static struct seen *see(const struct expiry *x, const struct heap *h, uint64_t limit_ns)
{
	struct seen *seen = calloc(h->nr_sites, sizeof(*seen));

	for (uint32_t i = 0; seen && i < h->nr_sites; i++)
		seen[i].birth_ns = UINT64_MAX;
	for (uint64_t i = 0; seen && i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];
		struct seen *s = &seen[b->site];
		struct expiry_sum *sum = b->birth_ns < x->until_ns ? &s->old : &s->anew;
		double weight;

		if (b->birth_ns < s->birth_ns)
			s->birth_ns = b->birth_ns;
		if (b->birth_ns >= limit_ns)
			continue;
		weight = h->mode == HEAP_SAMPLED ? estimate_weight(h, b->size_bytes) : 1;
		sum->blocks += weight;
		sum->bytes += weight * (double)b->size_bytes;
	}
	return seen;
}

static uint64_t age_of(const struct heap *h, const struct seen *s)
{
	return s->birth_ns < h->taken_ns ? h->taken_ns - s->birth_ns : 0;
}

/* ---- a site that is known ---- */

/* Account for what was seen; what was freed since the last look. */
static struct expiry_sum settle(struct expiry_site *k, const struct seen *s)
{
	struct expiry_sum freed = minus(k->held, s->old), anew = s->anew;

	if (freed.blocks < HALF) {
		anew = minus(plus(s->old, s->anew), k->held);
		freed = (struct expiry_sum){ 0 };
	}
	if (anew.blocks < HALF)
		anew = (struct expiry_sum){ 0 };
	k->held = plus(s->old, s->anew);
	k->ever = plus(k->ever, anew);
	k->unreported = plus(k->unreported, anew);
	k->freed = plus(k->freed, freed);
	return freed;
}

/* Is there something to tell of a site? */
static bool event_due(struct expiry_site *k, uint64_t now_ns, struct expiry_sum freed,
		 struct expiry_event *e)
{
	bool over = k->silent && (k->held.blocks > k->limit.blocks + HALF ||
				  k->held.bytes > k->limit.bytes + HALF);

	if (freed.blocks >= HALF && !k->silent) {
		e->what = EXPIRY_FREED;
		e->count = count_of(freed);
		k->silent = true;
		k->limit = (struct expiry_sum){ 2 * k->most.blocks, 2 * k->most.bytes };
		return true;
	}
	if (k->unreported.blocks < HALF || (k->silent ? !over : now_ns - k->told_ns < k->wait_ns))
		return false;
	e->what = EXPIRY_AGAIN;
	e->count = count_of(k->unreported);
	k->unreported = (struct expiry_sum){ 0 };
	k->silent = false;
	k->told_ns = now_ns;
	k->wait_ns = 2 * k->wait_ns < MAX_WAIT_NS ? 2 * k->wait_ns : MAX_WAIT_NS;
	return true;
}

static int look_known(struct expiry *x, struct expiry_site *k, const struct heap *h, uint32_t site,
		      const struct seen *s, struct expiry_events *out)
{
	struct expiry_event e = { .number = (uint32_t)(k - x->sites.v) + 1, .site = site };
	struct expiry_sum freed = settle(k, s);

	if (k->held.blocks > k->most.blocks)
		k->most.blocks = k->held.blocks;
	if (k->held.bytes > k->most.bytes)
		k->most.bytes = k->held.bytes;
	e.expired = count_of(k->held);
	e.oldest_ns = age_of(h, s);
	return event_due(k, h->taken_ns, freed, &e) ? vec_push(&out->list, e) : 0;
}

/* ---- a site that is new ---- */

static int add_new(struct expiry *x, const struct heap *h, struct expiry_event *e)
{
	struct expiry_sum sum = { (double)e->count.blocks, (double)e->count.bytes };
	struct expiry_site k = {
		.held = sum,
		.most = sum,
		.ever = sum,
		.told_ns = h->taken_ns,
		.wait_ns = x->expire_ns,
	};
	int rc = vec_reserve(&x->sites, x->sites.nr + 1);

	if (!rc)
		rc = hash_put(&x->by_site, key_of(h, e->site), (uint32_t)x->sites.nr);
	if (!rc)
		rc = vec_push(&x->sites, k);
	e->number = (uint32_t)x->sites.nr;
	return rc;
}

static int by_number_then_bytes(const void *a, const void *b)
{
	const struct expiry_event *e = a, *f = b;

	if (e->what == EXPIRY_NEW || f->what == EXPIRY_NEW) {
		if (e->what != f->what)
			return e->what == EXPIRY_NEW ? 1 : -1;
		if (e->count.bytes != f->count.bytes)
			return e->count.bytes < f->count.bytes ? 1 : -1;
		return (e->site > f->site) - (e->site < f->site);
	}
	return (e->number > f->number) - (e->number < f->number);
}

int expiry_look(struct expiry *x, const struct heap *h, struct expiry_events *out)
{
	uint64_t limit_ns = limit_of(x, h);
	struct seen *seen = see(x, h, limit_ns);
	int rc = seen ? 0 : -ENOMEM;

	out->list.nr = 0;
	for (uint32_t i = 0; !rc && i < h->nr_sites; i++) {
		struct expiry_sum all = plus(seen[i].old, seen[i].anew);
		struct expiry_site *k = find(x, h, i);
		struct expiry_event e = { .what = EXPIRY_NEW,
					  .site = i,
					  .oldest_ns = age_of(h, &seen[i]) };

		e.count = e.expired = count_of(all);
		if (k)
			rc = look_known(x, k, h, i, &seen[i], out);
		else if (all.blocks >= HALF)
			rc = vec_push(&out->list, e);
	}
	free(seen);
	if (rc)
		return rc;
	vec_sort(&out->list, by_number_then_bytes);
	vec_each(&out->list, e)
		if (!rc && e->what == EXPIRY_NEW)
			rc = add_new(x, h, e);
	x->until_ns = limit_ns;
	return rc;
}

void expiry_fini(struct expiry *x)
{
	hash_fini(&x->by_site);
	vec_fini(&x->sites);
}

/* ---- the end ---- */

static int by_expired(const void *a, const void *b)
{
	const struct expiry_row *r = a, *s = b;

	if (r->expired.bytes != s->expired.bytes)
		return r->expired.bytes < s->expired.bytes ? 1 : -1;
	if (r->expired.blocks != s->expired.blocks)
		return r->expired.blocks < s->expired.blocks ? 1 : -1;
	if (r->live.bytes != s->live.bytes)
		return r->live.bytes < s->live.bytes ? 1 : -1;
	return (r->site > s->site) - (r->site < s->site);
}

static struct expiry_row row_of(const struct expiry *x, const struct heap *h, uint32_t site,
				const struct seen *seen)
{
	const struct heap_site *s = &h->sites[site];
	const struct expiry_site *k = find(x, h, site);
	struct expiry_row r = {
		.site = site,
		.live = { s->live_blocks > 0 ? (uint64_t)s->live_blocks : 0,
			  s->live_bytes > 0 ? (uint64_t)s->live_bytes : 0 },
		.oldest_ns = age_of(h, seen),
	};

	lifetime_range(h, s, &r.lifetime);
	if (!k)
		return r;
	r.number = (uint32_t)(k - x->sites.v) + 1;
	r.silent = k->silent;
	r.expired = count_of(k->held);
	r.ever = count_of(k->ever);
	r.freed = count_of(k->freed);
	return r;
}

int64_t expiry_rows(const struct expiry *x, const struct heap *h, struct expiry_row **out)
{
	struct seen *seen = see(x, h, 0);
	VEC(struct expiry_row) rows = { 0 };
	int rc = seen ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < h->nr_sites; i++)
		if (h->sites[i].allocs || find(x, h, i))
			rc = vec_push(&rows, row_of(x, h, i, &seen[i]));
	free(seen);
	if (rc) {
		vec_fini(&rows);
		return rc;
	}
	vec_sort(&rows, by_expired);
	*out = rows.v;
	return (int64_t)rows.nr;
}

uint32_t expiry_held(const struct expiry *x, struct expiry_count *sum, uint32_t *nr_silent)
{
	struct expiry_sum all = { 0 };
	uint32_t nr = 0, silent = 0;

	for (size_t i = 0; i < x->sites.nr; i++) {
		const struct expiry_site *k = &x->sites.v[i];

		all = plus(all, k->held);
		nr += k->held.blocks >= HALF;
		silent += k->held.blocks >= HALF && k->silent;
	}
	if (nr_silent)
		*nr_silent = silent;
	*sum = count_of(all);
	return nr;
}
