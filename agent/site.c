/* SPDX-License-Identifier: MIT */
/*
 * Call stacks as numbers: a stack that allocates gets a site number, kept in the node it ends at
 * (agent/node.c), and each context has a record of counters for each site it touches. Neither is
 * ever taken out.
 *
 * A context finds its record by a table of pages, a word for each number; sites from SITE_NEAR on
 * by one more level.
 *
 * Where there is no room for a stack, or for a context's record of it, its events count for site 0,
 * whose record is part of the context, so that sums stay whole.
 */
#include "agent/site.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/ctx.h"
#include "agent/node.h"
#include "agent/sys.h"

static void *site_entry(uint32_t nr)
{
	return arena_chunk(agent.ledger->site_dir, nr, PMM_SITE_SHIFT, sizeof(struct pmm_site));
}

static __attribute__((noinline)) uint32_t site_new(struct pmm_node *n, uint32_t node,
						   uint32_t flags)
{
	uint32_t none = 0, nr;
	struct pmm_site *s = number_get(&agent.ledger->nr_sites, PMM_MAX_SITES, site_entry, &nr);

	if (!s)
		return 0;
	s->flags = flags;
	s->node = node;
	if (unlikely(agent.site_added))
		agent.site_added(nr, node);
	if (CAS(n->site, none, nr))
		return nr;
	s->node = 0;			/* another thread was faster */
	return none;
}

uint32_t site_get(uint32_t node, uint32_t flags)
{
	struct pmm_node *n;
	uint32_t site;

	if (unlikely(!node))
		return 0;
	n = node_at(node);
	site = LOAD_ACQUIRE(n->site);
	return likely(site) ? site : site_new(n, node, flags);
}

void site_mark(uint32_t site, uint32_t flag)
{
	pmm_ref chunk = site ? LOAD_ACQUIRE(agent.ledger->site_dir[site >> PMM_SITE_SHIFT]) : 0;
	struct pmm_site *s = chunk ? arena_at(chunk) : NULL;

	if (!s)
		return;
	s += site & ((1u << PMM_SITE_SHIFT) - 1);
	if (!(LOAD(s->flags) & flag))
		__atomic_fetch_or(&s->flags, flag, __ATOMIC_RELAXED);
}

/* ---- records --------------------------------------------------------------------------------- */

/* A page of words, made when there is none yet; NULL: no room. */
static pmm_ref *page_get(pmm_ref *ref)
{
	void *page;

	if (!*ref) {
		page = arena_get(sizeof(pmm_ref) << SITE_PAGE_SHIFT, 64);
		if (!page)
			return NULL;
		*ref = arena_ref(page);
	}
	return arena_at(*ref);
}

/* Where the reference of the context's record is, made when there is no such place yet. */
static pmm_ref *place_get(struct tctx *c, uint32_t site)
{
	uint32_t page = site >> SITE_PAGE_SHIFT;
	pmm_ref *dir = c->site_page, *at;

	if (site >= SITE_NEAR) {
		dir = page_get(&c->site_far[site / SITE_NEAR - 1]);
		page &= (1u << SITE_PAGE_SHIFT) - 1;
	}
	at = dir ? page_get(&dir[page]) : NULL;
	return at ? &at[site & ((1u << SITE_PAGE_SHIFT) - 1)] : NULL;
}

static void record_hang(struct tctx *c, struct pmm_record *r)
{
	r->next = c->pub.records;
	r->first_tick = UINT32_MAX;
	STORE_RELEASE(c->pub.records, arena_ref(r));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* only then is it noted: site_recover() */
}

/* Before an event of `epoch` changes it. */
static inline void record_date(struct pmm_record *r, uint64_t epoch)
{
	if (r->epoch < epoch) {
		r->at_peak_bytes = (int64_t)(r->bytes_in - r->bytes_out);
		r->at_peak_blocks = (int64_t)(r->allocs - r->frees);
		r->epoch = epoch;
	}
}

void site_fetch_record(const struct tctx *c, uint32_t site)
{
	pmm_ref page = likely(site < SITE_NEAR) ? c->site_page[site >> SITE_PAGE_SHIFT] : 0;

	if (likely(page))
		arch_prefetch(arena_at(
			((pmm_ref *)arena_at(page))[site & ((1u << SITE_PAGE_SHIFT) - 1)]));
}

struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch)
{
	pmm_ref *at = site ? place_get(c, site) : NULL;
	struct pmm_record *r;

	if (!at)
		return NULL;
	if (*at) {
		r = arena_at(*at);
		record_date(r, epoch);
		return r;
	}
	r = arena_for_stacks() ? arena_get(sizeof(*r), 64) : NULL;
	if (!r)
		return NULL;
	r->site = site;
	r->epoch = epoch;
	record_hang(c, r);
	*at = arena_ref(r);
	c->nr_records++;
	return r;
}

struct pmm_record *site_record_none(struct tctx *c, uint64_t epoch)
{
	struct pmm_record *r = &c->none;

	if (!r->lifetimes) {
		r->epoch = epoch;
		record_hang(c, r);
		r->lifetimes = arena_ref(&c->none_lifetimes);
	}
	record_date(r, epoch);
	return r;
}

void site_recover(struct tctx *c)
{
	struct pmm_record *r = c->pub.records ? arena_at(c->pub.records) : NULL;
	pmm_ref *at = r && r != &c->none ? place_get(c, r->site) : NULL;

	if (at && !*at)
		*at = c->pub.records;
	if (r == &c->none)
		r->lifetimes = arena_ref(&c->none_lifetimes);
}

/* A record counts `nr` lives elsewhere, or those of others: at the limit as many as it can. */
static void lives_apart_add(struct pmm_record *r, int64_t nr)
{
	int64_t sum = r->lives_apart + nr;

	r->lives_apart = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

void site_count_lives(struct tctx *c, struct pmm_record *r, unsigned lifetime, uint64_t blocks)
{
	if (unlikely(!r->lifetimes)) {
		void *made = arena_get(sizeof(struct pmm_lifetimes), 64);

		if (!made) {
			lives_apart_add(r, (int64_t)blocks);
			r = site_record_none(c, 0);
			lives_apart_add(r, -(int64_t)blocks);
		} else {
			STORE_RELEASE(r->lifetimes, arena_ref(made));
		}
	}
	((struct pmm_lifetimes *)arena_at(r->lifetimes))->frees[lifetime] += blocks;
}
