/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cheap looks at a running ledger: totals, and the sites that hold most.
 *
 * Records are only ever added at the head of a context's list and never move, so the list is walked
 * once and its new part on later looks; each look then reads the first cache line of every record,
 * in an order the processor can run ahead of.
 */
#include "src/ledger/ledger_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"

#define COUNTED_BYTES	(offsetof(struct pmm_record, frees) + sizeof(uint64_t))
#define SITE_OFF	offsetof(struct pmm_record, site)
#define NEXT_OFF	offsetof(struct pmm_record, next)
#define AHEAD		16		/* records prefetched ... */
/* ... of new ones, which were added one behind another and are met from the newest back */
#define AHEAD_BYTES	(AHEAD * sizeof(struct pmm_record))

_Static_assert(offsetof(struct pmm_record, bytes_in) == 0 && COUNTED_BYTES == 32,
	       "a record begins with its counters");

static uint64_t ref_off(pmm_ref ref)
{
	return (uint64_t)ref << PMM_REF_SHIFT;
}

/* References of the contexts there are now; their number. */
static uint32_t contexts(struct ledger_map *m, pmm_ref ctx[PMM_MAX_CTX])
{
	uint32_t nr = 0;

	if (ledger_map_read(m, offsetof(struct pmm_ledger, nr_ctx), &nr, sizeof(nr)))
		return 0;
	nr = nr < PMM_MAX_CTX ? nr : PMM_MAX_CTX;
	if (ledger_map_read(m, offsetof(struct pmm_ledger, ctx), ctx, nr * sizeof(*ctx)))
		return 0;
	return nr;
}

uint64_t ledger_hook_pc(struct ledger_map *m)
{
	uint64_t pc;

	return ledger_map_read(m, offsetof(struct pmm_ledger, hook_pc), &pc, sizeof(pc)) ? 0 : pc;
}

uint64_t ledger_began_ns(struct ledger_map *m)
{
	uint32_t tick, now = ledger_map_tick(m);

	if (ledger_map_read(m, offsetof(struct pmm_ledger, start_tick), &tick, sizeof(tick)) ||
	    tick > now)
		tick = now;
	return tick * PMM_TICK_NS;
}

int ledger_totals(struct ledger_map *m, struct ledger_totals *t)
{
	const uint64_t time_ns = ledger_map_tick(m) * PMM_TICK_NS;
	int rc = ledger_totals_untimed(m, t);

	t->time_ns = time_ns;
	return rc;
}

int ledger_totals_untimed(struct ledger_map *m, struct ledger_totals *t)
{
	pmm_ref *refs = malloc(PMM_MAX_CTX * sizeof(*refs));
	uint32_t nr;

	*t = (struct ledger_totals){ .time_ns = 0 };
	if (!refs)
		return -ENOMEM;
	nr = contexts(m, refs);
	for (uint32_t i = 0; i < nr; i++) {
		struct pmm_ctx c;
		struct pmm_sums sums;

		if (!refs[i] || ledger_map_read(m, ref_off(refs[i]), &c, sizeof(c)))
			continue;
		sums = pmm_ctx_sums(&c);
		t->allocs += sums.allocs;
		t->frees += sums.frees;
		t->bytes_in += sums.bytes_in;
		t->bytes_out += sums.bytes_out;
		t->untracked_frees += c.untracked_frees;
		t->skipped_allocs += c.skipped_allocs;
		t->temporary += c.temporary;
	}
	/* a block may be released by a context read after the one that allocated it */
	t->live_bytes = t->bytes_in > t->bytes_out ? t->bytes_in - t->bytes_out : 0;
	t->live_blocks = t->allocs > t->frees ? t->allocs - t->frees : 0;
	free(refs);
	return 0;
}

/* ---- heap errors ----------------------------------------------------------------------------- */

/* How often error number `nr` was met; 0 while it is not complete. */
static uint64_t count_of(struct ledger_map *m, const pmm_ref *dir, uint32_t nr)
{
	uint64_t off = ((uint64_t)dir[nr >> PMM_FINDING_SHIFT] << PMM_REF_SHIFT) +
		       (nr & ((1u << PMM_FINDING_SHIFT) - 1)) * sizeof(struct pmm_finding);
	struct pmm_finding f;

	if (ledger_map_read(m, off, &f, offsetof(struct pmm_finding, first_tick)) ||
	    f.type == PMM_FINDING_NONE)
		return 0;
	return f.count;
}

uint32_t ledger_findings(struct ledger_map *m, uint64_t *count)
{
	pmm_ref dir[PMM_MAX_FINDINGS >> PMM_FINDING_SHIFT];
	uint32_t nr = 0;

	if (count)
		*count = 0;
	if (m->tree.check.level == PMM_CHECK_NONE ||
	    ledger_map_read(m, offsetof(struct pmm_ledger, check.nr_findings), &nr, sizeof(nr)))
		return 0;
	nr = nr < PMM_MAX_FINDINGS ? nr : PMM_MAX_FINDINGS;
	if (!count || !nr ||
	    ledger_map_read(m, offsetof(struct pmm_ledger, finding_dir), dir, sizeof(dir)))
		return nr;
	for (uint32_t i = 0; i < nr; i++)
		*count += dir[i >> PMM_FINDING_SHIFT] ? count_of(m, dir, i) : 0;
	return nr;
}

/* ---- top sites ------------------------------------------------------------------------------- */

struct place {
	pmm_ref record;
	uint32_t site;
};

struct held {
	int64_t bytes, blocks;
};

enum site_kind { SITE_UNKNOWN, SITE_HEAP, SITE_OTHER };

struct ledger_top {
	struct ledger_map *m;
	VEC(struct place) records;
	VEC(struct held) sites;			/* by the ledger's number */
	VEC(uint8_t) kinds;			/* enum site_kind, as long as sites */
	pmm_ref head[PMM_MAX_CTX];		/* newest record known of each context */
	uint64_t walked;			/* records met, at most what the arena can hold */
	bool broken;				/* a list is a ring: look for no new records */
};

struct ledger_top *ledger_top_new(struct ledger_map *m)
{
	struct ledger_top *t = calloc(1, sizeof(*t));

	if (t)
		t->m = m;
	return t;
}

void ledger_top_free(struct ledger_top *t)
{
	if (!t)
		return;
	vec_fini(&t->records);
	vec_fini(&t->sites);
	vec_fini(&t->kinds);
	free(t);
}

/* Is it a site of heap blocks? Stays unknown until its entry can be read. */
static enum site_kind kind_of(struct ledger_map *m, uint32_t site)
{
	uint64_t dir =
		offsetof(struct pmm_ledger, site_dir) + (site >> PMM_SITE_SHIFT) * sizeof(pmm_ref);
	struct pmm_site s;
	pmm_ref chunk;

	if (!site)
		return SITE_HEAP;
	if (ledger_map_read(m, dir, &chunk, sizeof(chunk)) ||
	    ledger_map_read_at(m, chunk, site & ((1u << PMM_SITE_SHIFT) - 1), &s, sizeof(s)))
		return SITE_UNKNOWN;
	return s.flags & PMM_SITE_MAPPING ? SITE_OTHER : SITE_HEAP;
}

/* Note where one record is. */
static int top_add(struct ledger_top *t, pmm_ref ref, uint32_t site)
{
	if (site >= PMM_MAX_SITES)
		return 0;
	if (site >= t->kinds.nr &&
	    (vec_resize(&t->sites, site + 1) || vec_resize(&t->kinds, site + 1)))
		return -ENOMEM;
	if (t->kinds.v[site] == SITE_UNKNOWN)
		t->kinds.v[site] = kind_of(t->m, site);
	if (t->kinds.v[site] != SITE_HEAP)
		return 0;
	return vec_push(&t->records, (struct place){ ref, site });
}

/* Find the records that came since the last look. */
static int top_extend(struct ledger_top *t, uint32_t nr, const pmm_ref *ctx)
{
	uint64_t max = (t->m->arena_end - t->m->arena_off) / sizeof(struct pmm_record) + 1;

	for (uint32_t i = 0; i < nr && !t->broken; i++) {
		const size_t nr_before = t->records.nr;
		pmm_ref head, ref, next;
		uint32_t site;

		if (!ctx[i] ||
		    ledger_map_read(t->m, ref_off(ctx[i]) + offsetof(struct pmm_ctx, records),
				    &head, sizeof(head)))
			continue;
		for (ref = head; ref && ref != t->head[i] && !t->broken; ref = next) {
			uint64_t off = ref_off(ref);

			ledger_map_prefetch(t->m, off + SITE_OFF - AHEAD_BYTES);
			if (t->walked++ == max ||
			    ledger_map_read(t->m, off + SITE_OFF, &site, sizeof(site)) ||
			    ledger_map_read(t->m, off + NEXT_OFF, &next, sizeof(next)))
				t->broken = true;
			else if (top_add(t, ref, site)) {
				/* the next look walks this list again */
				t->records.nr = nr_before;
				return -ENOMEM;
			}
		}
		t->head[i] = head;
	}
	return 0;
}

static void top_sum(struct ledger_top *t)
{
	memset(t->sites.v, 0, t->sites.nr * sizeof(*t->sites.v));
	for (size_t i = 0; i < t->records.nr; i++) {
		const struct place *p = &t->records.v[i];
		struct held *held = &t->sites.v[p->site];
		struct { uint64_t bytes_in, bytes_out, allocs, frees; } now;

		if (i + AHEAD < t->records.nr)
			ledger_map_prefetch(t->m, ref_off(p[AHEAD].record));
		if (ledger_map_read(t->m, ref_off(p->record), &now, COUNTED_BYTES))
			continue;
		held->bytes = (int64_t)((uint64_t)held->bytes + now.bytes_in - now.bytes_out);
		held->blocks = (int64_t)((uint64_t)held->blocks + now.allocs - now.frees);
	}
}

/* Keep top[0..*nr) the largest seen so far, in order. */
static void top_insert(struct ledger_top_site *top, unsigned *nr, unsigned n,
		       struct ledger_top_site s)
{
	unsigned at = *nr < n ? (*nr)++ : n - 1;

	while (at && top[at - 1].live_bytes < s.live_bytes) {
		top[at] = top[at - 1];
		at--;
	}
	top[at] = s;
}

int ledger_top_sites(struct ledger_top *t, struct ledger_top_site *top, unsigned n)
{
	pmm_ref *ctx = malloc(PMM_MAX_CTX * sizeof(*ctx));
	int rc = ctx ? top_extend(t, contexts(t->m, ctx), ctx) : -ENOMEM;
	unsigned nr = 0;

	free(ctx);
	if (rc)
		return -ENOMEM;
	if (!t->sites.nr || !n)
		return 0;
	top_sum(t);
	for (uint32_t i = 0; i < t->sites.nr; i++) {
		const struct held *held = &t->sites.v[i];

		if (held->bytes > 0 && (nr < n || held->bytes > top[n - 1].live_bytes))
			top_insert(top, &nr, n,
				   (struct ledger_top_site){ i, held->bytes, held->blocks });
	}
	return (int)nr;
}

struct ledger_top_site ledger_top_of(const struct ledger_top *t, uint32_t site)
{
	const struct held *held = site < t->sites.nr ? &t->sites.v[site] : NULL;

	return (struct ledger_top_site){ site, held ? held->bytes : 0, held ? held->blocks : 0 };
}
