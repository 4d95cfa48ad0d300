/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on entries: growth, age, suppressions; their order and sums; their place in a heap.
 */
#include "src/analyze/leaks.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/suppress/suppress.h"
#include "src/base/hash.h"

/* ---- one entry ---- */

static uint64_t moment_of(const struct heap *h)
{
	return h->search.how ? h->search.at_ns : h->taken_ns;
}

/* Nothing uses what is there any more. */
static bool has_ended(const struct heap *h)
{
	return h->end != HEAP_RUNNING || h->search.how == HEAP_SEARCH_EXIT ||
	       h->search.how == HEAP_SEARCH_CORE;
}

static bool is_old(const struct heap *h, const struct leak_entry *e, uint64_t old_ns)
{
	uint64_t now_ns = moment_of(h);

	return now_ns >= e->oldest_ns && now_ns - e->oldest_ns >= (old_ns ? old_ns : LEAKS_OLD_NS);
}

static bool has(const struct leak_entry *e, unsigned evidence)
{
	return (e->evidence.has & evidence) == evidence;
}

bool leaks_hide_frees(const struct heap *h)
{
	return (h->missed_frees || h->own_calls) && !heap_allocator_is_glibc(h);
}

static void decide(struct leak_entry *e, enum leak_verdict verdict, enum leak_reason reason)
{
	e->verdict = (uint8_t)verdict;
	e->reason = (uint8_t)reason;
}

/*
 * Programs that keep a header before what they hand out (strings with a length, objects with
 * private data) look like this, and so do numbers that look like pointers. Only where such blocks
 * get more and more is a leak likely. The class has memcheck's verdict.
 */
static void judge_possible(const struct heap *h, struct leak_entry *e, uint64_t old_ns)
{
	if (leaks_hide_frees(h))
		decide(e, LEAK_UNLIKELY, LEAK_OR_FREED);
	else if (!is_old(h, e, old_ns) && !has_ended(h))
		decide(e, LEAK_UNLIKELY, LEAK_YOUNG);
	else if (has(e, EVIDENCE_STEADY | EVIDENCE_MANY | EVIDENCE_SPREAD | EVIDENCE_KEPT))
		decide(e, LEAK_LIKELY, LEAK_INTERIOR);
	else if (has(e, EVIDENCE_STEADY))
		decide(e, LEAK_GROWING, LEAK_FILLS);
	else
		decide(e, LEAK_UNLIKELY,
		       e->growth.verdict == GROWTH_NONE ? LEAK_INTERIOR_STEADY
							: LEAK_INTERIOR_ALONE);
}

static void judge_reachable(const struct heap *h, struct leak_entry *e, uint64_t old_ns)
{
	if (has(e, EVIDENCE_ALL))
		decide(e, LEAK_LIKELY, LEAK_GROWS);
	else if (has(e, EVIDENCE_STEADY) && is_old(h, e, old_ns))
		decide(e, LEAK_GROWING, LEAK_FILLS);
	else
		decide(e, LEAK_UNLIKELY,
		       e->growth.verdict == GROWTH_NONE ? LEAK_STEADY : LEAK_GROWTH_UNKNOWN);
}

static bool is_pointed_at(const struct leak_entry *e)
{
	return e->class == REACH_REACHED || e->class == REACH_POSSIBLE;
}

static int find_growth(struct leak_entry *e, const struct heap *h, const struct leaks_options *o)
{
	int rc = 0;

	e->growth = (struct growth){ 0 };
	e->evidence = (struct evidence){ .site = e->site };
	if (!is_pointed_at(e))
		return 0;
	if (o->growing)
		rc = growing_judge_site(o->growing, h, e->site, &e->growth);
	if (!rc && o->past && e->growth.verdict == GROWTH_UNKNOWN)
		rc = growing_judge_site(o->past, h, e->site, &e->growth);
	return rc;
}

/*
 * What is known of the growth of the entries' sites, and what else speaks for leaks where they
 * grow.
 */
static int find_evidence(struct leaks *l, const struct heap *h, const struct leaks_options *o)
{
	VEC(struct evidence) grown = { 0 };
	struct hash_map by_site = { 0 };	/* -> index into grown */
	bool added = false;
	int rc = 0;

	vec_each(&l->entries, e) {
		if (!rc)
			rc = find_growth(e, h, o);
		if (rc || e->growth.verdict != GROWTH_STEADY)
			continue;
		if (!hash_add(&by_site, e->site, (uint32_t)grown.nr, &added))
			rc = -ENOMEM;
		else if (added)
			rc = vec_push(&grown,
				      (struct evidence){ .site = e->site, .growth = e->growth });
	}
	if (!rc && grown.nr)
		rc = evidence_find(h, o->old_ns ? o->old_ns : LEAKS_OLD_NS, grown.v, grown.nr);
	vec_each(&l->entries, e) {
		const uint32_t *i = is_pointed_at(e) ? hash_find(&by_site, e->site) : NULL;

		if (!rc && i)
			e->evidence = grown.v[*i];
	}
	hash_fini(&by_site);
	vec_fini(&grown);
	return rc;
}

static void judge_entry(const struct heap *h, struct leak_entry *e, const struct leaks_options *o)
{
	e->suppression = NULL;
	if (e->class == REACH_REACHED)
		judge_reachable(h, e, o->old_ns);
	else if (e->class == REACH_POSSIBLE)
		judge_possible(h, e, o->old_ns);
	else
		decide(e, LEAK_CERTAIN,
		       e->class == REACH_DEFINITE ? LEAK_UNREACHABLE : LEAK_LOST_WITH);
}

/* ---- suppressions ---- */

static void suppress_entry(struct leak_entry *e, const struct leaks_options *o)
{
	e->suppression = suppress_match(o->suppress, e->site, e->class, e->blocks, e->bytes);
	if (e->suppression)
		e->verdict = LEAK_SUPPRESSED;
}

/*
 * Indirect blocks go with the definite ones that they are lost with; only if those are reported,
 * their own stack is asked.
 */
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
			add_to(&l->suppressed, e->blocks, e->bytes, &seen[e->site],
			       1u << SUPPRESSED);
		else
			add_to(&l->by_class[e->class], e->blocks, e->bytes, &seen[e->site],
			       (uint8_t)(1u << e->class));
		add_to(&l->by_verdict[e->verdict], e->blocks, e->bytes, &by_verdict_seen[e->site],
		       (uint8_t)(1u << e->verdict));
	}
	free(seen);
	free(by_verdict_seen);
	return rc;
}

/* What was watched and what the heap tells are mostly of the same sites. */
static uint64_t unjudged(const struct leaks_options *o)
{
	uint64_t watched = o->growing ? o->growing->nr_left_out : 0;
	uint64_t past = o->past ? o->past->nr_left_out : 0;

	return watched > past ? watched : past;
}

int leaks_judge(struct leaks *l, const struct heap *h, const struct leaks_options *o)
{
	int rc = 0;

	if (!l->merged) {
		l->nr_unjudged = unjudged(o);
		rc = find_evidence(l, h, o);
		vec_each(&l->entries, e)
			judge_entry(h, e, o);
	}
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
		last->habit_blocks += row[i].habit_blocks;
		last->habit_bytes += row[i].habit_bytes;
		last->header_bytes = row[i].header_bytes ? row[i].header_bytes : last->header_bytes;
		last->oldest_ns = last->oldest_ns < row[i].oldest_ns ? last->oldest_ns
								     : row[i].oldest_ns;
		last->newest_ns = last->newest_ns > row[i].newest_ns ? last->newest_ns
								     : row[i].newest_ns;
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
			.site = e->site,
			.class = e->class,
			.holder_site = e->holder_site,
			.blocks = e->blocks,
			.bytes = e->bytes,
			.indirect_blocks = e->indirect_blocks,
			.indirect_bytes = e->indirect_bytes,
			.oldest_ns = e->oldest_ns,
			.newest_ns = e->newest_ns,
			.held_blocks = e->held_blocks,
			.chained_blocks = e->chained_blocks,
			.habit_blocks = e->habit_blocks,
			.habit_bytes = e->habit_bytes,
			.header_bytes = e->header_bytes,
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
			.site = row->site,
			.class = row->class,
			.holder_site = row->holder_site,
			.blocks = row->blocks,
			.bytes = row->bytes,
			.indirect_blocks = row->indirect_blocks,
			.indirect_bytes = row->indirect_bytes,
			.oldest_ns = row->oldest_ns,
			.newest_ns = row->newest_ns,
			.fresh_blocks = row->blocks,
			.fresh_bytes = row->bytes,
			.held_blocks = row->held_blocks,
			.chained_blocks = row->chained_blocks,
			.habit_blocks = row->habit_blocks,
			.habit_bytes = row->habit_bytes,
			.header_bytes = row->header_bytes,
		};

		if (vec_push(&l->entries, e))
			return -ENOMEM;
	}
	return 0;
}

/* The same site in another snapshot; 0 when it is not known there. */
static uint32_t site_there(const struct hash_map *by_number, const struct heap *from, uint32_t site)
{
	uint32_t *there = from->sites[site].number ? hash_find(by_number, from->sites[site].number)
						   : NULL;

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
	if (!rc && from->nr_forgotten)
		rc = heap_forget_as(from, to);
	if (rc) {
		free(row);
		return rc;
	}
	put_rows(to, row, from->nr_leaks);
	to->search = from->search;
	return 0;
}
