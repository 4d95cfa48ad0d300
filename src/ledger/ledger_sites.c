/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call sites of a ledger: every context's records added up, split into heap and mapping sites,
 * and what they held when the heap was largest.
 *
 * The peak (agent/total.c): while `total` is rising the peak is now. Else it was when the epoch
 * before the current one ended; a record changed since then has its value from that moment in
 * at_peak_*, any other record has not changed. The allocation that began to raise `total` may not
 * be in its record yet, or never get there, when its thread was killed: then the records hold less
 * than at the peak before, which counts.
 */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"
#include "src/model/heap_lifetimes.h"

/* records were added one behind another, and are read from the newest back */
#define AHEAD_BYTES	2048u
#define PEAK_TRIES	5		/* of all records when a peak was sealed meanwhile */

struct peak {
	bool rising;
	uint64_t epoch;			/* now; records of it were changed after the peak */
	uint64_t bytes, tick;
};

struct sum {
	struct ledger_reader *r;
	struct heap_site *v;		/* [nr] by the ledger's site number, those that were seen */
	uint32_t *seen;			/* [nr] context + 1 that had a record last; 0 = none yet */
	uint32_t nr;
	uint64_t max_records;		/* that the arena can hold */
	uint64_t records;
	bool no_memory;			/* for lifetimes */
	int64_t grown_bytes;		/* that they hold more than when the last epoch ended */
	struct peak peak;
};

static struct peak peak_of(const struct pmm_ledger *l)
{
	return (struct peak){
		.rising = l->total & PMM_TOTAL_RISING,
		.epoch = l->epoch + ((l->total - l->epoch) & PMM_TOTAL_EPOCH),
		.bytes = l->peak_bytes,
		.tick = l->peak_tick,
	};
}

/* ---- adding up ------------------------------------------------------------------------------- */

static int64_t minus(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

static void add_signed(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n);
}

/* Called before the record's allocations are added. */
static void add_times(struct heap_site *s, const struct pmm_record *rec)
{
	uint64_t first = rec->first_tick * PMM_TICK_NS, last = rec->last_tick * PMM_TICK_NS;

	if (!rec->allocs)
		return;
	if (!s->allocs || first < s->first_ns)
		s->first_ns = first;
	if (last > s->last_ns)
		s->last_ns = last;
}

static void add_lifetime(struct sum *sum, struct heap_site *s, unsigned k, uint64_t frees)
{
	uint64_t *to = heap_lifetime_at(sum->r->h, s, k);

	if (to)
		*to += frees;
	sum->no_memory |= !to;
}

static void add_record(struct sum *sum, struct heap_site *s, const struct pmm_record *rec,
		       const struct pmm_lifetimes *lifetimes)
{
	bool unchanged = rec->epoch < sum->peak.epoch, now = sum->peak.rising || unchanged;

	add_times(s, rec);
	if (!unchanged)
		add_signed(&sum->grown_bytes,
			   minus(rec->bytes_in, rec->bytes_out) - rec->at_peak_bytes);
	s->bytes_in += rec->bytes_in;
	s->bytes_out += rec->bytes_out;
	s->allocs += rec->allocs;
	s->frees += rec->frees;
	add_signed(&s->peak_bytes, now ? minus(rec->bytes_in, rec->bytes_out) : rec->at_peak_bytes);
	add_signed(&s->peak_blocks, now ? minus(rec->allocs, rec->frees) : rec->at_peak_blocks);
	s->temporary += rec->temporary;
	s->failed += rec->failed;
	s->zero_size += rec->zero_size;
	s->huge += rec->huge;
	s->samples_in += rec->samples_in;
	s->samples_out += rec->samples_out;
	if (rec->max_bytes > s->max_bytes)
		s->max_bytes = rec->max_bytes;
	s->at_once += pmm_released_at_once(rec, lifetimes);
	for (unsigned i = 1; rec->lifetimes && i < HEAP_NR_LIFETIMES; i++)
		if (lifetimes->frees[i])
			add_lifetime(sum, s, i, lifetimes->frees[i]);
}

/*
 * A site that is met for the first time is empty. Its memory is written before it is read: read
 * first, each page would be had twice, a page of zeros and then its own.
 */
static void first_sight(struct sum *sum, uint32_t site)
{
	if (!sum->seen[site])
		sum->v[site] = (struct heap_site){ 0 };
}

/* The records of context number i. A site met twice means that the list has become a ring. */
static void add_records(struct sum *sum, uint32_t i)
{
	struct ledger_reader *r = sum->r;
	pmm_ref ctx = r->l->ctx[i], ref;

	if (!ctx ||
	    ledger_map_read(r->m,
			    ((uint64_t)ctx << PMM_REF_SHIFT) + offsetof(struct pmm_ctx, records),
			    &ref, sizeof(ref)))
		return;
	while (ref) {
		struct pmm_lifetimes lifetimes;
		struct pmm_record rec;

		ledger_map_prefetch(r->m, ((uint64_t)ref << PMM_REF_SHIFT) - AHEAD_BYTES);
		if (sum->records++ == sum->max_records ||
		    ledger_reader_record(r, ctx, ref, &rec, &lifetimes) ||
		    (rec.site < sum->nr && sum->seen[rec.site] == i + 1)) {
			r->damaged++;
			return;
		}
		if (rec.site < sum->nr) {
			first_sight(sum, rec.site);
			sum->seen[rec.site] = i + 1;
			add_record(sum, &sum->v[rec.site], &rec, &lifetimes);
		} else {
			ledger_reader_odd(r);
		}
		ref = rec.next;
	}
}

static void add_all(struct sum *sum, const struct peak *peak)
{
	if (sum->records)		/* at first they are zero, and mostly no memory yet */
		memset(sum->seen, 0, sum->nr * sizeof(*sum->seen));
	first_sight(sum, 0);		/* which the heap has in any case */
	sum->records = 0;
	sum->r->h->nr_lifetimes = 0;
	sum->grown_bytes = 0;
	sum->peak = *peak;
	for (uint32_t i = 0; i < sum->r->l->nr_ctx; i++)
		add_records(sum, i);
}

/*
 * Add up all records; again when a peak was sealed on the way, as values of two peaks would then be
 * mixed.
 */
static void sum_records(struct sum *sum)
{
	struct ledger_reader *r = sum->r;

	for (unsigned tries = 0; tries < PEAK_TRIES; tries++) {
		struct peak before = peak_of(r->l), after;
		const uint64_t damaged = r->damaged, drift = r->drift;

		add_all(sum, &before);
		if (before.rising && before.bytes && sum->grown_bytes < 0) {
			after = before;
			after.rising = false;
			r->damaged = damaged;		/* what is left out is met again */
			r->drift = drift;
			add_all(sum, &after);
		}
		if (!r->o->running || ledger_reader_refresh(r))
			return;
		after = peak_of(r->l);
		if (after.rising == before.rising && after.epoch == before.epoch)
			return;
	}
	r->drift++;
}

/*
 * A record counts samples in 32 bits, which begin anew when they are full. What is live is right
 * in any case, and the one count has been full as often as the other then.
 */
static void settle_samples(struct heap_site *s)
{
	int32_t live = (int32_t)(uint32_t)(s->samples_in - s->samples_out);

	if (s->samples_in < s->samples_out)
		s->samples_in = s->samples_out + (uint64_t)(live > 0 ? live : 0);
}

/*
 * A site whose counters went below zero: a thread was read before and another after the same
 * block's release; or it is site 0, which releases are charged to that have no room for a record of
 * their site (and are counted).
 */
static void settle(struct ledger_reader *r, struct heap_site *s)
{
	bool lost = !s->number && r->l->dropped[PMM_DROP_SITE_FULL];

	settle_samples(s);
	s->live_bytes = minus(s->bytes_in, s->bytes_out);
	s->live_blocks = minus(s->allocs, s->frees);
	if ((s->live_bytes < 0 || s->live_blocks < 0 || s->peak_bytes < 0 || s->peak_blocks < 0) &&
	    !lost)
		r->drift++;
	if (s->live_bytes < 0)
		s->bytes_out = s->bytes_in;
	if (s->live_blocks < 0)
		s->frees = s->allocs;
	s->live_bytes = s->live_bytes < 0 ? 0 : s->live_bytes;
	s->live_blocks = s->live_blocks < 0 ? 0 : s->live_blocks;
	s->peak_bytes = s->peak_bytes < 0 ? 0 : s->peak_bytes;
	s->peak_blocks = s->peak_blocks < 0 ? 0 : s->peak_blocks;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Sites that only a block names (its event was not finished when the records were read). */
static void mark_blocks(struct sum *sum, struct heap_block *blocks, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		if (blocks[i].site >= sum->nr) {
			blocks[i].site = 0;
			ledger_reader_odd(sum->r);
		} else if (!sum->seen[blocks[i].site]) {
			first_sight(sum, blocks[i].site);
			sum->seen[blocks[i].site] = 1;
		}
	}
}

static void finding_sites(struct heap_finding *f, uint32_t *sites[3])
{
	sites[0] = &f->site;
	sites[1] = &f->alloc_site;
	sites[2] = &f->free_site;
}

/*
 * Sites that only heap errors name: where one happened, or its block was released, no code need
 * have allocated.
 */
static void mark_findings(struct sum *sum)
{
	struct heap *h = sum->r->h;
	uint32_t *site[3];

	for (uint64_t i = 0; i < h->nr_findings; i++) {
		finding_sites(&h->findings[i], site);
		for (unsigned k = 0; k < 3; k++) {
			if (*site[k] == HEAP_NO_SITE)
				continue;
			if (*site[k] >= sum->nr) {
				*site[k] = HEAP_NO_SITE;
				ledger_reader_odd(sum->r);
			} else if (!sum->seen[*site[k]]) {
				first_sight(sum, *site[k]);
				sum->seen[*site[k]] = 1;
			}
		}
	}
}

/* Read which node a site ends at and whether it maps. */
static void read_site(struct sum *sum, uint32_t nr, bool *mapping)
{
	struct pmm_site site;
	uint32_t index;
	pmm_ref chunk;

	*mapping = false;
	if (!ledger_reader_entry(sum->r->l->site_dir, nr, PMM_SITE_SHIFT, &chunk, &index) ||
	    ledger_map_read_at(sum->r->m, chunk, index, &site, sizeof(site))) {
		ledger_reader_odd(sum->r);
		return;
	}
	*mapping = site.flags & PMM_SITE_MAPPING;
	if (*mapping)
		sum->v[nr].at_once = 0;	/* of mappings they are not counted */
	sum->v[nr].node = site.node;
	sum->v[nr].usable = site.flags & PMM_SITE_USABLE;
	sum->v[nr].number = nr;
}

/*
 * Split into sites and map_sites, both in order of the ledger's numbers; entry 0 stands for an
 * unknown stack. Sites move up in the array they were added up in: there may be millions.
 */
static int number_sites(struct sum *sum)
{
	VEC(struct heap_site) maps = { 0 };
	struct ledger_reader *r = sum->r;
	int rc = vec_push(&maps, (struct heap_site){ 0 });
	struct heap_site *fit;
	uint32_t nr = 1;

	for (uint32_t i = 1; !rc && i < sum->nr; i++) {
		bool mapping;

		if (!sum->seen[i])
			continue;
		read_site(sum, i, &mapping);
		r->site_index[i] = mapping ? LEDGER_SITE_MAPPING | (uint32_t)maps.nr : nr;
		if (mapping)
			rc = vec_push(&maps, sum->v[i]);
		else if (nr++ != i)
			sum->v[nr - 1] = sum->v[i];
	}
	if (rc) {
		vec_fini(&maps);
		return rc;
	}
	fit = realloc(sum->v, nr * sizeof(*fit));
	free(r->h->sites);
	free(r->h->map_sites);
	r->h->sites = fit ? fit : sum->v;
	r->h->nr_sites = nr;
	sum->v = NULL;
	r->h->map_sites = maps.v;
	r->h->nr_map_sites = (uint32_t)maps.nr;
	return 0;
}

/* From the ledger's site numbers to the heap's. */
static void renumber(struct ledger_reader *r, struct heap_block *blocks, uint64_t nr, uint32_t kind)
{
	for (uint64_t i = 0; i < nr; i++) {
		uint32_t index = r->site_index[blocks[i].site];

		if (blocks[i].site && (index & LEDGER_SITE_MAPPING) != kind) {
			r->damaged++;
			index = 0;
		}
		blocks[i].site = index & ~LEDGER_SITE_MAPPING;
	}
}

static void renumber_findings(struct ledger_reader *r)
{
	uint32_t *site[3];

	for (uint64_t i = 0; i < r->h->nr_findings; i++) {
		finding_sites(&r->h->findings[i], site);
		for (unsigned k = 0; k < 3; k++) {
			if (*site[k] == HEAP_NO_SITE || !*site[k])
				continue;
			*site[k] = r->site_index[*site[k]];
			if (*site[k] & LEDGER_SITE_MAPPING) {
				*site[k] = HEAP_NO_SITE;
				r->damaged++;
			}
		}
	}
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void add_totals(struct heap *h, const struct heap_site *s)
{
	h->allocs += s->allocs;
	h->frees += s->frees;
	h->bytes_in += s->bytes_in;
	h->bytes_out += s->bytes_out;
	h->live_bytes += (uint64_t)s->live_bytes;
	h->live_blocks += (uint64_t)s->live_blocks;
	h->temporary += s->temporary;
	h->failed += s->failed;
	h->zero_size += s->zero_size;
	h->huge += s->huge;
}

/*
 * Of a peak that is now: a point of the series with less comes before it. The agent's clock may be
 * a tick behind that of points where it does not ask the monitor.
 */
static uint64_t since_lower(const struct ledger_options *o, uint64_t peak_bytes, uint64_t ns)
{
	for (uint32_t i = 0; i < o->nr_points; i++)
		if (o->points[i].live_bytes < peak_bytes && o->points[i].time_ns > ns)
			ns = o->points[i].time_ns;
	return ns;
}

static void sum_totals(struct sum *sum)
{
	struct ledger_reader *r = sum->r;
	struct heap *h = r->h;
	uint64_t peak = 0, last_ns = 0;

	for (uint32_t i = 0; i < h->nr_map_sites; i++)
		settle(r, &h->map_sites[i]);
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		settle(r, &h->sites[i]);
		add_totals(h, &h->sites[i]);
		peak += (uint64_t)h->sites[i].peak_bytes;
		if (h->sites[i].last_ns > last_ns)
			last_ns = h->sites[i].last_ns;
	}
	h->peak_bytes = sum->peak.rising || r->o->running ? peak : sum->peak.bytes;
	h->peak_ns = sum->peak.rising ? since_lower(r->o, h->peak_bytes, last_ns)
				      : sum->peak.tick * PMM_TICK_NS;
}

int ledger_read_sites(struct ledger_reader *r)
{
	struct sum sum = {.r = r,
			  .max_records = ledger_reader_arena(r) / sizeof(struct pmm_record) + 1};
	uint64_t most = ledger_reader_arena(r) / sizeof(struct pmm_site) + 1;
	uint32_t nr = r->l->nr_sites;
	int rc = -ENOMEM;

	if (nr > most) {
		nr = (uint32_t)most;
		r->damaged++;
	}
	if (r->o->running)		/* sites that come while we read */
		nr = nr + nr / 8 + 1024 < PMM_MAX_SITES ? nr + nr / 8 + 1024 : PMM_MAX_SITES;
	sum.nr = nr ? nr : 1;
	sum.v = calloc(sum.nr, sizeof(*sum.v));
	sum.seen = calloc(sum.nr, sizeof(*sum.seen));
	r->site_index = calloc(sum.nr, sizeof(*r->site_index));
	r->nr_site_index = sum.nr;
	if (sum.v && sum.seen && r->site_index) {
		sum_records(&sum);
		mark_blocks(&sum, r->h->blocks, r->h->nr_blocks);
		mark_blocks(&sum, r->h->maps, r->h->nr_maps);
		mark_findings(&sum);
		rc = number_sites(&sum);
	}
	if (sum.no_memory)
		rc = -ENOMEM;
	if (!rc) {
		renumber(r, r->h->blocks, r->h->nr_blocks, 0);
		renumber(r, r->h->maps, r->h->nr_maps, LEDGER_SITE_MAPPING);
		renumber_findings(r);
		sum_totals(&sum);
	}
	free(sum.v);
	free(sum.seen);
	return rc;
}
