/*
 * The verdict on entries: growth, age, suppressions; their order and sums; their place in a heap.
 */
#include "src/analyze/leaks.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/suppress.h"
#include "src/base/hash.h"

/* ---- one entry ---- */

static uint64_t moment_of(const struct heap *h)
{
	return h->search.how ? h->search.at_ns : h->taken_ns;
}

/* Nobody will use what is there any more. */
static bool has_ended(const struct heap *h)
{
	return h->end != HEAP_RUNNING || h->search.how == HEAP_SEARCH_EXIT || h->search.how == HEAP_SEARCH_CORE;
}

static bool is_old(const struct heap *h, const struct leak_entry *e, uint64_t old_ns)
{
	uint64_t now_ns = moment_of(h);

	return now_ns >= e->oldest_ns && now_ns - e->oldest_ns >= (old_ns ? old_ns : LEAKS_OLD_NS);
}

/*
 * Programs that keep a header before what they hand out (strings with a length, objects with private data) look like this, and while they run it
 * can be seen that such blocks do not get more. At the end memcheck's word is kept: who asks then wants to be told.
 */
static void judge_possible(const struct heap *h, struct leak_entry *e, uint64_t old_ns)
{
	if (!has_ended(h) && !is_old(h, e, old_ns))
		e->reason = LEAK_YOUNG;
	else if (!has_ended(h) && e->growth.verdict == GROWTH_NONE)
		e->reason = LEAK_INTERIOR_STEADY;
	else
		e->reason = LEAK_INTERIOR;
	e->verdict = e->reason == LEAK_INTERIOR ? LEAK_LIKELY : LEAK_UNLIKELY;
}

static void judge_reachable(const struct heap *h, struct leak_entry *e, uint64_t old_ns)
{
	bool grows = e->growth.verdict == GROWTH_STEADY && is_old(h, e, old_ns);

	e->verdict = grows ? LEAK_LIKELY : LEAK_UNLIKELY;
	e->reason = grows ? LEAK_GROWS : e->growth.verdict == GROWTH_NONE ? LEAK_STEADY : LEAK_GROWTH_UNKNOWN;
}

static int judge_entry(const struct heap *h, struct leak_entry *e, const struct leaks_options *o)
{
	bool pointed_at = e->class == REACH_REACHED || e->class == REACH_POSSIBLE;
	int rc = 0;

	e->growth = (struct growth){ 0 };
	e->suppression = NULL;
	if (pointed_at && o->growing)
		rc = growing_judge_site(o->growing, h, e->site, &e->growth);
	if (!rc && pointed_at && o->past && e->growth.verdict == GROWTH_UNKNOWN)
		rc = growing_judge_site(o->past, h, e->site, &e->growth);
	if (e->class == REACH_REACHED) {
		judge_reachable(h, e, o->old_ns);
	} else if (e->class == REACH_POSSIBLE) {
		judge_possible(h, e, o->old_ns);
	} else {
		e->verdict = LEAK_CERTAIN;
		e->reason = e->class == REACH_DEFINITE ? LEAK_UNREACHABLE : LEAK_LOST_WITH;
	}
	return rc;
}

/* ---- suppressions ---- */

static void suppress_entry(struct leak_entry *e, const struct leaks_options *o)
{
	e->suppression = suppress_match(o->suppress, e->site, e->class, e->blocks, e->bytes);
	if (e->suppression)
		e->verdict = LEAK_SUPPRESSED;
}

/* Indirect blocks go with the definite ones that they are lost with; only if those are told of, their own stack is asked. */
static int suppress_all(struct leaks *l, const struct heap *h, const struct leaks_options *o)
{
	const char **definite;
	int rc = suppress_begin(o->suppress, o->names);

	definite = calloc(h->nr_sites, sizeof(*definite));
	if (!definite)
		rc = -ENOMEM;
	vec_each(&l->entries, e) {
		if (rc || e->class == REACH_INDIRECT)
			continue;
		suppress_entry(e, o);
		if (e->class == REACH_DEFINITE)
			definite[e->site] = e->suppression;
	}
	vec_each(&l->entries, e) {
		if (rc || e->class != REACH_INDIRECT)
			continue;
		if (e->holder_site < h->nr_sites && definite[e->holder_site]) {
			e->suppression = definite[e->holder_site];
			e->verdict = LEAK_SUPPRESSED;
		} else {
			suppress_entry(e, o);
		}
	}
	free(definite);
	return rc;
}

/* ---- order and sums ---- */

static uint64_t weight_of(const struct leak_entry *e)
{
	return e->bytes + e->indirect_bytes;
}

static int by_verdict(const void *a, const void *b)
{
	const struct leak_entry *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if ((x->class == REACH_INDIRECT) != (y->class == REACH_INDIRECT))
		return x->class == REACH_INDIRECT ? 1 : -1;
	if (weight_of(x) != weight_of(y))
		return weight_of(x) > weight_of(y) ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->class != y->class)
		return x->class > y->class ? -1 : 1;
	return (x->holder_site > y->holder_site) - (x->holder_site < y->holder_site);
}

static void add_to(struct leak_sum *s, uint64_t blocks, uint64_t bytes, uint8_t *seen, uint8_t mark)
{
	s->blocks += blocks;
	s->bytes += bytes;
	s->sites += !(*seen & mark);
	*seen |= mark;
}

/* Each site counts once in each sum. */
static int sum_up(struct leaks *l, const struct heap *h)
{
	enum { SUPPRESSED = REACH_NR_CLASSES, VERDICT };
	uint8_t *seen = calloc(h->nr_sites, 1), *by_verdict_seen = calloc(h->nr_sites, 1);
	int rc = seen && by_verdict_seen ? 0 : -ENOMEM;

	for (int i = 0; i < REACH_NR_CLASSES; i++)
		l->by_class[i] = (struct leak_sum){ 0 };
	for (int i = 0; i < LEAK_NR_VERDICTS; i++)
		l->by_verdict[i] = (struct leak_sum){ 0 };
	l->suppressed = (struct leak_sum){ 0 };
	vec_each(&l->entries, e) {
		if (rc)
			break;
		if (e->verdict == LEAK_SUPPRESSED)
			add_to(&l->suppressed, e->blocks, e->bytes, &seen[e->site], 1u << SUPPRESSED);
		else
			add_to(&l->by_class[e->class], e->blocks, e->bytes, &seen[e->site], (uint8_t)(1u << e->class));
		add_to(&l->by_verdict[e->verdict], e->blocks, e->bytes, &by_verdict_seen[e->site], (uint8_t)(1u << e->verdict));
	}
	free(seen);
	free(by_verdict_seen);
	return rc;
}

int leaks_judge(struct leaks *l, const struct heap *h, const struct leaks_options *o)
{
	int rc = 0;

	vec_each(&l->entries, e)
		if (!rc)
			rc = judge_entry(h, e, o);
	if (!rc && o->suppress && o->names)
		rc = suppress_all(l, h, o);
	if (!rc)
		rc = sum_up(l, h);
	vec_sort(&l->entries, by_verdict);
	return rc;
}

void leaks_fini(struct leaks *l)
{
	vec_fini(&l->entries);
	*l = (struct leaks){ 0 };
}

/* ---- in a heap ---- */

/* Join neighbours of the same key: sites that were two may be one in another heap. */
static uint64_t join_rows(struct heap_leak *row, uint64_t nr)
{
	uint64_t to = 0;

	for (uint64_t i = 0; i < nr; i++) {
		struct heap_leak *last = to ? &row[to - 1] : NULL;

		if (!last || heap_leak_order(last, &row[i])) {
			row[to++] = row[i];
			continue;
		}
		last->blocks += row[i].blocks;
		last->bytes += row[i].bytes;
		last->indirect_blocks += row[i].indirect_blocks;
		last->indirect_bytes += row[i].indirect_bytes;
		last->held_blocks += row[i].held_blocks;
		last->chained_blocks += row[i].chained_blocks;
		last->oldest_ns = last->oldest_ns < row[i].oldest_ns ? last->oldest_ns : row[i].oldest_ns;
		last->newest_ns = last->newest_ns > row[i].newest_ns ? last->newest_ns : row[i].newest_ns;
	}
	return to;
}

/* Put rows, which are the heap's from now on, in place of what was there. */
static void put_rows(struct heap *h, struct heap_leak *row, uint64_t nr)
{
	vec_qsort(row, nr, sizeof(*row), heap_leak_order);
	free(h->leaks);
	h->leaks = row;
	h->nr_leaks = join_rows(row, nr);
}

int leaks_store(const struct leaks *l, struct heap *h)
{
	struct heap_leak *row = calloc(l->entries.nr + 1, sizeof(*row)), *to = row;

	if (!row)
		return -ENOMEM;
	vec_each(&l->entries, e)
		*to++ = (struct heap_leak){
			.site = e->site, .class = e->class, .holder_site = e->holder_site, .blocks = e->blocks, .bytes = e->bytes,
			.indirect_blocks = e->indirect_blocks, .indirect_bytes = e->indirect_bytes, .oldest_ns = e->oldest_ns,
			.newest_ns = e->newest_ns, .held_blocks = e->held_blocks, .chained_blocks = e->chained_blocks,
		};
	put_rows(h, row, l->entries.nr);
	return 0;
}

int leaks_load(struct leaks *l, const struct heap *h)
{
	*l = (struct leaks){ 0 };
	for (uint64_t i = 0; i < h->nr_leaks; i++) {
		const struct heap_leak *row = &h->leaks[i];
		struct leak_entry e = {
			.site = row->site, .class = row->class, .holder_site = row->holder_site, .blocks = row->blocks,
			.bytes = row->bytes, .indirect_blocks = row->indirect_blocks, .indirect_bytes = row->indirect_bytes,
			.oldest_ns = row->oldest_ns, .newest_ns = row->newest_ns, .fresh_blocks = row->blocks,
			.fresh_bytes = row->bytes, .held_blocks = row->held_blocks, .chained_blocks = row->chained_blocks,
		};

		if (vec_push(&l->entries, e))
			return -ENOMEM;
	}
	return 0;
}

/* The same site in another snapshot; 0 when it is not known there. */
static uint32_t site_there(const struct hash_map *by_number, const struct heap *from, uint32_t site)
{
	uint32_t *there = from->sites[site].number ? hash_find(by_number, from->sites[site].number) : NULL;

	return there ? *there : 0;
}

int leaks_carry(const struct heap *from, struct heap *to)
{
	struct heap_leak *row = calloc(from->nr_leaks + 1, sizeof(*row));
	struct hash_map by_number = { 0 };
	int rc = row ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < to->nr_sites; i++)
		if (to->sites[i].number)
			rc = hash_put(&by_number, to->sites[i].number, i);
	for (uint64_t i = 0; !rc && i < from->nr_leaks; i++) {
		row[i] = from->leaks[i];
		row[i].site = site_there(&by_number, from, row[i].site);
		if (row[i].holder_site != HEAP_NO_SITE)
			row[i].holder_site = site_there(&by_number, from, row[i].holder_site);
	}
	hash_fini(&by_number);
	if (rc) {
		free(row);
		return rc;
	}
	put_rows(to, row, from->nr_leaks);
	to->search = from->search;
	return 0;
}
