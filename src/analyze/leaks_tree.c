/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaks of a tree of processes, merged. */
#include "src/analyze/leaks_tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/model/pools.h"

/* births are kept as ages before this: processes are searched at different times */
#define NOW_NS	(1ull << 62)

/* Numbers of merged sites have 20 bits, that of none one more. */
static uint64_t key_of(const struct leak_entry *e)
{
	uint64_t holder = e->holder_site == HEAP_NO_SITE ? MERGE_MAX_SITES : e->holder_site;

	return (uint64_t)e->site << 32 | holder << 8 | (uint64_t)e->class << 6 |
	       (uint64_t)e->verdict << 4 | e->reason;
}

static uint64_t born(const struct heap *h, uint64_t birth_ns)
{
	uint64_t now_ns = h->search.at_ns;

	return NOW_NS - (now_ns > birth_ns ? now_ns - birth_ns : 0);
}

/* Whatever comes after is reported beside it, and must not take the room of what is lost. */
static bool is_minor(const struct leak_entry *e)
{
	return e->verdict > LEAK_LIKELY;
}

/* The entry in terms of the merged heap. */
static struct leak_entry translated(struct leaks_tree *t, const struct heap *h,
				    const struct leak_entry *e)
{
	struct leak_entry to = *e;

	to.site = merge_site(&t->merge, e->site, is_minor(e));
	if (e->holder_site != HEAP_NO_SITE)
		to.holder_site = merge_site(&t->merge, e->holder_site, is_minor(e));
	to.oldest_ns = born(h, e->oldest_ns);
	to.newest_ns = born(h, e->newest_ns);
	to.example = 0;
	to.nr_contents = 0;
	return to;
}

static void sum(struct leak_entry *to, const struct leak_entry *e)
{
	to->blocks += e->blocks;
	to->bytes += e->bytes;
	to->indirect_blocks += e->indirect_blocks;
	to->indirect_bytes += e->indirect_bytes;
	to->fresh_blocks += e->fresh_blocks;
	to->fresh_bytes += e->fresh_bytes;
	to->held_blocks += e->held_blocks;
	to->chained_blocks += e->chained_blocks;
	to->habit_blocks += e->habit_blocks;
	to->habit_bytes += e->habit_bytes;
	to->oldest_ns = to->oldest_ns < e->oldest_ns ? to->oldest_ns : e->oldest_ns;
	to->newest_ns = to->newest_ns > e->newest_ns ? to->newest_ns : e->newest_ns;
	if (e->growth.slope > to->growth.slope)
		to->growth = e->growth;		/* of the process where it grows most */
}

static int add_entry(struct leaks_tree *t, const struct heap *h, const struct leak_entry *e)
{
	struct leak_entry new = translated(t, h, e);
	struct merge_group group = { .program = t->merge.program };
	uint32_t *known = hash_find(&t->by_key, key_of(&new));

	if (known) {
		struct leak_entry *to = &t->leaks.entries.v[*known];

		sum(to, &new);
		merge_group_add(&t->groups.v[to->group], t->nr, h->pid);
		return 0;
	}
	new.group = (uint32_t)t->groups.nr;
	merge_group_add(&group, t->nr, h->pid);
	if (vec_push(&t->groups, group) || vec_push(&t->leaks.entries, new))
		return -ENOMEM;
	return hash_put(&t->by_key, key_of(&new), (uint32_t)t->leaks.entries.nr - 1);
}

/* What can be said of all together. */
static void sum_heap(struct leaks_tree *t, const struct heap *h)
{
	struct heap *to = t->merge.heap;
	const struct heap_search *s = &h->search;

	to->mode = h->mode;
	t->nr_incomplete += !s->complete;
	t->allocs += h->allocs;
	t->skipped_allocs += h->skipped_allocs;
	to->search.how = HEAP_SEARCH_EXIT;
	to->search.complete = !t->nr_incomplete;
	to->search.at_ns = NOW_NS;
	to->search.pause_ns = to->search.pause_ns > s->pause_ns ? to->search.pause_ns : s->pause_ns;
	to->search.took_ns += s->took_ns;
	to->search.read_bytes += s->read_bytes;
	to->search.unread_bytes += s->unread_bytes;
	merge_drops(&t->merge);
	to->dropped_bytes += h->dropped_bytes;
	if (!to->off_reason)
		to->off_reason = h->off_reason;
}

static int judge(struct leaks *l, const struct heap *h, uint64_t old_ns)
{
	struct growing past = { 0 };
	const struct leaks_options options = { .past = &past, .old_ns = old_ns };
	int rc = leaks_load(l, h);

	if (!rc)
		rc = growing_past(&past, h);
	if (!rc)
		rc = leaks_judge(l, h, &options);
	growing_fini(&past);
	return rc;
}

int leaks_tree_add(struct leaks_tree *t, const struct heap *h, uint64_t old_ns)
{
	struct leaks l = { 0 };
	int rc = merge_open(&t->merge, h);

	if (!rc)
		rc = judge(&l, h, old_ns);
	t->leaks.merged = true;
	t->leaks.nr_unjudged += l.nr_unjudged;
	t->nr++;
	t->pools |= pools_of(h);
	vec_each(&l.entries, e)
		if (!rc)
			rc = add_entry(t, h, e);
	if (t->merge.heap)
		sum_heap(t, h);
	merge_close(&t->merge);
	leaks_fini(&l);
	return rc;
}

int leaks_tree_begin(struct leaks_tree *t, const struct heap *root)
{
	struct heap *h = t->merge.heap;

	if (!h)
		h = t->merge.heap = heap_new();
	if (!h)
		return -ENOMEM;
	t->leaks.merged = true;
	if (!t->nr) {
		h->search.how = HEAP_SEARCH_EXIT;
		h->search.complete = true;
	}
	return root ? merge_name(&t->merge, root) : 0;
}

const struct merge_group *leaks_tree_group(const struct leaks_tree *t, const struct leak_entry *e)
{
	return &t->groups.v[e->group];
}

void leaks_tree_fini(struct leaks_tree *t)
{
	merge_fini(&t->merge);
	leaks_fini(&t->leaks);
	vec_fini(&t->groups);
	hash_fini(&t->by_key);
	*t = (struct leaks_tree){ 0 };
}
