/* SPDX-License-Identifier: GPL-2.0-or-later
 * The truth of readers_victim and what was read of its ledger while it ran, compared: readers_compare.h.
 *
 * A counter of the ledger is at least what was done before the reader began, and at most what was begun when it had ended. A block that nothing was
 * done with from before to after is listed, once, as it is. A block that is listed was there before, or has come meanwhile (the workers' logs), or an
 * operation has it that was under way. So one that was released before the reader began is not.
 */
#include "tests/prog/readers_compare.h"

#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/base/vec.h"
#include "tests/prog/truth_driver.h"

typedef VEC(struct readers_block) blocks_t;

static const unsigned char kind_of_leaf[READERS_LEAVES] = {
	[READERS_MALLOC] = PMM_KIND_MALLOC,	    [READERS_CALLOC] = PMM_KIND_CALLOC,	  [READERS_REALLOC] = PMM_KIND_REALLOC,
	[READERS_MEMALIGN] = PMM_KIND_MEMALIGN,	    [READERS_ALIGNED] = PMM_KIND_ALIGNED_ALLOC,
	[READERS_POSIX] = PMM_KIND_POSIX_MEMALIGN,  [READERS_ARRAY] = PMM_KIND_REALLOCARRAY, [READERS_MMAP] = PMM_KIND_MMAP,
};

static void within(struct readers_case *c, const char *what, uint32_t group, uint64_t is, uint64_t least, uint64_t most)
{
	if (is < least || is > most)
		truth_wrong(&c->wrong, "%s of %d: %lu, not %lu to %lu", what, (int)group, is, least,
			    most);
}

/* ---- groups ----------------------------------------------------------------------------------------------------------------------------------- */

static uint32_t group_of(const struct readers_case *c, const struct heap *h, const struct heap_site *s)
{
	struct truth_code code = { c->truth->starts, READERS_LEAVES, READERS_LINKS,
				   c->truth->code_end };

	return truth_group(&code, h, s);
}

static uint32_t *groups_of(const struct readers_case *c, const struct heap *h, const struct heap_site *sites, uint32_t nr)
{
	uint32_t *group = calloc(nr + 1, sizeof(*group));

	if (!group)
		abort();
	for (uint32_t i = 0; i < nr; i++)
		group[i] = group_of(c, h, &sites[i]);
	return group;
}

static void add_sites(struct readers_sums sums[READERS_GROUPS], struct readers_sums *others, const struct heap_site *s, uint32_t nr,
		      const uint32_t *group)
{
	for (; nr--; s++, group++) {
		struct readers_sums *to = *group == TRUTH_NO_GROUP ? others : &sums[*group];

		to->allocs += s->allocs;
		to->bytes_in += s->bytes_in;
		to->frees += s->frees;
		to->bytes_out += s->bytes_out;
		to->failed += s->failed;
	}
}

static void compare_group(struct readers_case *c, uint32_t g, const struct readers_sums *is, const struct readers_sums *least,
			  const struct readers_sums *most)
{
	uint64_t frees = most->void_frees - least->void_frees, bytes = most->void_bytes - least->void_bytes;

	within(c, "allocations", g, is->allocs, least->allocs, most->allocs);
	within(c, "bytes allocated", g, is->bytes_in, least->bytes_in, most->bytes_in);
	within(c, "releases", g, is->frees, least->frees, most->frees + frees);
	within(c, "bytes released", g, is->bytes_out, least->bytes_out, most->bytes_out + bytes);
	if (is->failed || least->failed)
		within(c, "failures", g, is->failed, least->failed, most->failed);
}

static struct readers_sums all_of(const struct readers_sums sums[READERS_GROUPS])
{
	struct readers_sums all = { 0 };

	for (uint32_t g = 0; g < READERS_MMAP * READERS_LINKS; g++)
		readers_add_sums(&all, &sums[g]);
	return all;
}

/* What is nobody's group's. */
static void compare_others(struct readers_case *c, const struct heap *h, const struct readers_sums *others, bool still)
{
	struct readers_sums all = { 0 };

	readers_add_sums(&all, others);
	if (!c->has_base && still) {
		c->has_base = true;
		c->base = all;
		c->base_maps = h->nr_maps;
	}
	if (c->has_base && !c->truth->threads_end) {
		compare_group(c, TRUTH_NO_GROUP, &all, &c->base, &c->base);
	} else if (c->has_base) {
		within(c, "others' allocations", TRUTH_NO_GROUP, all.allocs, c->base.allocs,
		       UINT64_MAX);
		within(c, "others' releases", TRUTH_NO_GROUP, all.frees, c->base.frees, UINT64_MAX);
	}
}

static void compare_sums(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after,
			 bool still)
{
	uint32_t *group = groups_of(c, h, h->sites, h->nr_sites), *map_group = groups_of(c, h, h->map_sites, h->nr_map_sites);
	struct readers_sums is[READERS_GROUPS] = { 0 }, others = { 0 }, maps = { 0 }, all;

	add_sites(is, &others, h->sites, h->nr_sites, group);
	add_sites(is, &maps, h->map_sites, h->nr_map_sites, map_group);
	for (uint32_t g = 0; g < READERS_GROUPS; g++)
		compare_group(c, g, &is[g], &before->sums[g], &after->sums[g]);
	compare_others(c, h, &others, still);
	all = all_of(is);
	readers_add_sums(&all, &others);
	if (h->allocs != all.allocs || h->frees != all.frees || h->bytes_in != all.bytes_in || h->bytes_out != all.bytes_out)
		truth_wrong(&c->wrong,
			    "in all %lu %lu %lu %lu, but the sites' sums are %lu %lu %lu %lu",
			    h->allocs, h->frees, h->bytes_in, h->bytes_out, all.allocs, all.frees,
			    all.bytes_in, all.bytes_out);
	if (h->live_bytes != h->bytes_in - h->bytes_out || h->live_blocks != h->allocs - h->frees)
		truth_wrong(&c->wrong, "live: %lu bytes, %lu blocks", h->live_bytes,
			    h->live_blocks);
	for (unsigned k = 0; k < HEAP_NR_DROPS; k++)
		within(c, "dropped", k, h->dropped[k], 0, 0);
	within(c, "unknown blocks released", 0, h->untracked_frees, 0, 0);
	within(c, "blocks in the way", 0, h->missed_frees, 0, 0);
	free(group);
	free(map_group);
}

/* Calls by kind, and what classes of sizes have in all. */
static void compare_classes(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after,
			    bool first)
{
	struct readers_sums is = { 0 }, least = all_of(before->sums), most = all_of(after->sums);

	for (unsigned k = 0; k < HEAP_NR_KINDS; k++) {
		uint64_t calls = 0, low = 0, high = 0;

		for (unsigned i = 0; i < HEAP_NR_CLASSES; i++)
			calls += h->class[i].calls[k];
		for (uint32_t g = 0; g < READERS_MMAP * READERS_LINKS; g++) {
			low += kind_of_leaf[g / READERS_LINKS] == k ? before->sums[g].allocs : 0;
			high += kind_of_leaf[g / READERS_LINKS] == k ? after->sums[g].allocs : 0;
		}
		if (first)
			c->base_calls[k] = calls - low;
		if (c->truth->threads_end)
			high = UINT64_MAX - c->base_calls[k];
		within(c, "calls of a kind", k, calls, low + c->base_calls[k], high + c->base_calls[k]);
		is.allocs += calls;
	}
	if (c->truth->threads_end)
		return;
	for (unsigned i = 0; i < HEAP_NR_CLASSES; i++) {
		is.frees += h->class[i].frees;
		is.bytes_in += h->class[i].bytes_in;
		is.bytes_out += h->class[i].bytes_out;
		is.failed += h->class[i].failed;
	}
	readers_add_sums(&least, &c->base);
	readers_add_sums(&most, &c->base);
	compare_group(c, TRUTH_NO_GROUP, &is, &least, &most);
}

/* Not where the first thread allocates as well: what others allocate is its. */
static void compare_threads(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after)
{
	for (unsigned k = 0; k < c->truth->nr_threads && c->truth->nr_threads > 1 && !c->truth->threads_end; k++) {
		struct readers_sums is = { 0 }, least = before->worker[k], most = after->worker[k];

		readers_add_sums(&least, &before->worker[READERS_THREADS + k]);
		readers_add_sums(&most, &after->worker[READERS_THREADS + k]);
		for (uint32_t i = 0; i < h->nr_threads; i++) {
			if (h->threads[i].tid != c->truth->worker[k].tid)
				continue;
			is.allocs += h->threads[i].allocs;
			is.bytes_in += h->threads[i].bytes_in;
			is.frees += h->threads[i].frees;
			is.bytes_out += h->threads[i].bytes_out;
		}
		least.failed = most.failed = 0;
		compare_group(c, c->truth->worker[k].tid, &is, &least, &most);
	}
}

/*
 * The peak, where it has not moved meanwhile. Handlers may interrupt the very instructions that keep it, and what a jump has left is in one figure and
 * not in the other (agent/total.c, "Limits"), so it is not known to the byte then.
 */
static void compare_peak(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after,
			 bool still)
{
	const uint64_t mask = PMM_TOTAL_EPOCH | PMM_TOTAL_RISING;
	uint64_t base = c->base.bytes_in - c->base.bytes_out, most = after->perhaps_peak + base;

	if (c->signals || c->truth->threads_end || (before->total ^ after->total) & mask || (!still && before->total & PMM_TOTAL_RISING))
		return;
	/* what others had at once before the threads began */
	within(c, "the peak", 0, h->peak_bytes, before->sure_peak + base, most > c->base.bytes_in ? most : c->base.bytes_in);
	c->nr_peaks++;
}

void readers_compare_heap(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after,
			  bool still)
{
	bool first = still && !c->has_base;

	compare_sums(c, h, before, after, still);
	if (c->has_base) {
		compare_classes(c, h, before, after, first);
		compare_peak(c, h, before, after, still);
	}
	compare_threads(c, h, before, after);
	if (still && h->drift_blocks && !before->nr_flights && !c->truth->threads_end)
		truth_wrong(&c->wrong, "%lu blocks have changed while all threads were parked",
			    h->drift_blocks);
}

/* ---- blocks ----------------------------------------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct readers_block *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void push(blocks_t *to, const struct readers_block *b)
{
	if (b->address && vec_push(to, *b))
		abort();
}

static bool is_of_map(const struct readers_block *b)
{
	return b->group / READERS_LINKS == READERS_MMAP;
}

static bool same(const struct readers_block *a, const struct readers_block *b)
{
	return a->size == b->size && a->group == b->group && a->tid == b->tid;
}

/* Both blocks of each operation under way, as far as their addresses are known. */
static void add_flights(blocks_t *to, const struct readers_moment *m)
{
	for (unsigned k = 0; k < m->nr_flights; k++) {
		push(to, &m->flight[k].old);
		push(to, &m->flight[k].new);
	}
}

/* What was put in meanwhile. False: the logs are too short for all of it. */
static bool add_logged(const struct readers_case *c, blocks_t *to, const struct readers_moment *before, const struct readers_moment *after)
{
	for (unsigned w = 0; w < READERS_WORKERS; w++) {
		const struct readers_worker *from = &c->truth->worker[w];

		for (uint64_t k = before->nr_logged[w]; k < after->nr_logged[w]; k++) {
			struct readers_block b = from->log[k % READERS_LOG];

			push(to, &b);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			/* the next entry may be under way */
			if (__atomic_load_n(&from->nr_logged, __ATOMIC_ACQUIRE) -
				    before->nr_logged[w] >=
			    READERS_LOG)
				return false;
		}
	}
	return true;
}

/* The block that is listed, as the truth has it; its group TRUTH_NO_GROUP: of others. */
static struct readers_block listed(const struct heap *h, const struct heap_block *b, const uint32_t *group)
{
	return (struct readers_block){ .address = b->address, .size = b->size_bytes, .group = group[b->site],
				       .tid = b->thread < h->nr_threads ? h->threads[b->thread].tid : 0 };
}

static bool is_possible(const blocks_t *possible, const struct readers_block *b)
{
	size_t low = 0, high = possible->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (possible->v[mid].address < b->address)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < possible->nr && possible->v[low].address == b->address; low++)
		if (same(&possible->v[low], b))
			return true;
	return false;
}

/* An operation under way may have put in one block, at an address that is not known. */
static bool is_in_flight(const struct readers_moment *m, bool used[READERS_FLIGHTS], const struct readers_block *b)
{
	for (unsigned k = 0; k < m->nr_flights; k++)
		if (!used[k] && !m->flight[k].new.address && same(&m->flight[k].new, b))
			return used[k] = true;
	return false;
}

struct listing {
	const struct heap_block *v;
	uint64_t nr;
	const uint32_t *group;
	bool of_maps;
};

static void compare_listing(struct readers_case *c, const struct heap *h, const struct listing *l, const blocks_t *certain, const blocks_t *possible,
			    bool complete, const struct readers_moment *after)
{
	bool used[READERS_FLIGHTS] = { false };
	size_t k = 0;

	for (uint64_t i = 0; i < l->nr; i++) {
		struct readers_block b = listed(h, &l->v[i], l->group);

		if (i && l->v[i - 1].address >= b.address)
			truth_wrong(&c->wrong, "twice or out of order: %#lx", b.address);
		for (; k < certain->nr && certain->v[k].address < b.address; k++)
			truth_wrong(&c->wrong, "missing: %#lx, %lu bytes, group %u",
				    certain->v[k].address, certain->v[k].size, certain->v[k].group);
		if (k < certain->nr && certain->v[k].address == b.address) {
			if (!same(&certain->v[k], &b) || l->v[i].kind != kind_of_leaf[b.group / READERS_LINKS])
				truth_wrong(&c->wrong,
					    "%#lx: %lu bytes, group %d, thread %u, kind %u, not "
					    "%lu, %u, %u",
					    b.address, b.size, (int)b.group, b.tid, l->v[i].kind,
					    certain->v[k].size, certain->v[k].group,
					    certain->v[k].tid);
			k++;
			c->nr_certain++;
		} else if (b.group != TRUTH_NO_GROUP && complete && !is_possible(possible, &b) &&
			   !is_in_flight(after, used, &b)) {
			truth_wrong(&c->wrong, "not there: %#lx, %lu bytes, group %u, thread %u",
				    b.address, b.size, b.group, b.tid);
		}
		c->nr_listed++;
	}
	for (; k < certain->nr; k++)
		truth_wrong(&c->wrong, "missing: %#lx, %lu bytes, group %u", certain->v[k].address,
			    certain->v[k].size, certain->v[k].group);
}

static void compare_part(struct readers_case *c, const struct heap *h, struct listing l, const struct readers_moment *before,
			 const struct readers_moment *after)
{
	blocks_t certain = { 0 }, possible = { 0 };
	bool complete;

	for (uint32_t n = 0; n < READERS_SLOTS; n++) {
		const struct readers_slot *was = &before->slot[n], *is = &after->slot[n];

		if (was->seq & 1)
			continue;
		push(&possible, &was->is);
		if (was->seq == is->seq && is_of_map(&was->is) == l.of_maps)
			push(&certain, &was->is);
	}
	add_flights(&possible, before);
	add_flights(&possible, after);
	complete = add_logged(c, &possible, before, after);
	c->nr_overrun += !complete;
	vec_sort(&certain, by_address);
	vec_sort(&possible, by_address);
	compare_listing(c, h, &l, &certain, &possible, complete, after);
	vec_fini(&certain);
	vec_fini(&possible);
}

void readers_compare_blocks(struct readers_case *c, const struct heap *h, const struct readers_moment *before, const struct readers_moment *after)
{
	uint32_t *group = groups_of(c, h, h->sites, h->nr_sites), *map_group = groups_of(c, h, h->map_sites, h->nr_map_sites);

	compare_part(c, h, (struct listing){ h->blocks, h->nr_blocks, group, false }, before, after);
	compare_part(c, h, (struct listing){ h->maps, h->nr_maps, map_group, true }, before, after);
	c->nr_flights += after->nr_flights;
	free(group);
	free(map_group);
}

/* ---- quick looks ------------------------------------------------------------------------------------------------------------------------------ */

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void readers_compare_totals(struct readers_case *c, const struct ledger_totals *t, const struct readers_moment *before,
			    const struct readers_moment *after)
{
	struct readers_sums least = all_of(before->sums), most = all_of(after->sums),
			    is = { .allocs = t->allocs, .bytes_in = t->bytes_in, .frees = t->frees, .bytes_out = t->bytes_out };
	uint64_t frees = most.void_frees - least.void_frees, bytes = most.void_bytes - least.void_bytes;

	within(c, "all allocations so far", 0, t->allocs, c->last.allocs, UINT64_MAX);
	within(c, "all bytes so far", 0, t->bytes_in, c->last.bytes_in, UINT64_MAX);
	within(c, "all unknown releases", 0, t->untracked_frees, 0, 0);
	c->last = *t;
	if (!c->has_base)
		return;
	least.failed = most.failed = 0;
	readers_add_sums(&least, &c->base);
	if (c->truth->threads_end)
		most = (struct readers_sums){ UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4, 0, 0, 0 };
	else
		readers_add_sums(&most, &c->base);
	least.failed = most.failed = 0;
	most.void_frees = least.void_frees + frees;
	most.void_bytes = least.void_bytes + bytes;
	compare_group(c, TRUTH_NO_GROUP, &is, &least, &most);
	within(c, "live bytes", 0, t->live_bytes, above(least.bytes_in, most.bytes_out + bytes), above(most.bytes_in, least.bytes_out));
	within(c, "live blocks", 0, t->live_blocks, above(least.allocs, most.frees + frees), above(most.allocs, least.frees));
}

/* Of a group of several sites the sum may be too high: those that seem to have less than nothing are not listed. */
void readers_compare_top(struct readers_case *c, const struct ledger_top_site *top, unsigned nr, const struct heap *h,
			 const struct readers_moment *before, const struct readers_moment *after)
{
	uint32_t *group = groups_of(c, h, h->sites, h->nr_sites), nr_sites[READERS_GROUPS] = { 0 };
	uint64_t bytes[READERS_GROUPS] = { 0 };

	for (unsigned k = 1; k < nr; k++)
		if (top[k].live_bytes > top[k - 1].live_bytes)
			truth_wrong(&c->wrong, "top sites are out of order: %ld behind %ld",
				    top[k].live_bytes, top[k - 1].live_bytes);
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		unsigned found = 0;

		if (group[i] == TRUTH_NO_GROUP)
			continue;
		nr_sites[group[i]]++;
		for (unsigned k = 0; k < nr; k++) {
			if (top[k].site != h->sites[i].number)
				continue;
			bytes[group[i]] += (uint64_t)top[k].live_bytes;
			found++;
		}
		if (found > 1)
			truth_wrong(&c->wrong, "top site %u is there %u times", h->sites[i].number,
				    found);
	}
	for (uint32_t g = 0; g < READERS_MMAP * READERS_LINKS; g++) {
		const struct readers_sums *least = &before->sums[g], *most = &after->sums[g];
		uint64_t low = above(least->bytes_in, most->bytes_out + most->void_bytes - least->void_bytes);

		within(c, "top bytes", g, bytes[g], low, nr_sites[g] == 1 ? above(most->bytes_in, least->bytes_out) : UINT64_MAX);
	}
	free(group);
}
