/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors of a tree of processes. */
#include "src/analyze/findings_tree.h"

#include <stdlib.h>
#include <string.h>

#include "include/pmm/check.h"
#include "src/analyze/findings.h"

#define MOST_THREADS	(HEAP_NO_THREAD - 8)

/* ---- equal ones ---- */

static uint32_t site_of(struct merge *m, uint32_t site)
{
	return site == HEAP_NO_SITE ? HEAP_NO_SITE : merge_site(m, site, false);
}

/* In terms of the merged heap, but for threads and text, which make no difference. */
static struct heap_finding translated(struct merge *m, const struct heap_finding *f)
{
	struct heap_finding to = *f;

	to.site = site_of(m, f->site);
	to.alloc_site = site_of(m, f->alloc_site);
	to.free_site = site_of(m, f->free_site);
	return to;
}

static uint64_t key_of(const struct heap_finding *f, uint32_t program)
{
	uint64_t kind = (uint64_t)f->type << 40 | (uint64_t)f->by << 32 |
			(uint64_t)f->access << 24 | (uint64_t)f->place << 16 |
			(uint64_t)f->kind << 8 | f->release;

	return hash_u64(kind ^ hash_u64((uint64_t)program << 32 | f->site) ^
			hash_u64(hash_u64((uint64_t)f->alloc_site << 32 | f->free_site)));
}

static bool equal(const struct findings_entry *e, const struct heap_finding *f, uint32_t program)
{
	const struct heap_finding *g = &e->f;

	return e->group.program == program && g->type == f->type && g->by == f->by &&
	       g->access == f->access && g->place == f->place && g->kind == f->kind &&
	       g->release == f->release && g->site == f->site && g->alloc_site == f->alloc_site &&
	       g->free_site == f->free_site && !strcmp(g->function, f->function) &&
	       !strcmp(g->text, f->text ? f->text : "");
}

/* The entry, NULL: none; *first (may be NULL) gets the chain's first one + 1. */
static struct findings_entry *find(const struct findings_tree *t, const struct heap_finding *f,
				   uint64_t key, uint32_t *first)
{
	const uint32_t *at = hash_find(&t->by_key, key);

	if (first)
		*first = at ? *at : 0;
	for (uint32_t i = at ? *at : 0; i; i = t->entries.v[i - 1].next)
		if (equal(&t->entries.v[i - 1], f, t->merge.program))
			return &t->entries.v[i - 1];
	return NULL;
}

/* ---- new ones ---- */

/* The main thread of any process is that of the whole. */
static uint16_t add_thread(struct findings_tree *t, const struct heap *from, uint16_t thread)
{
	struct heap *h = t->merge.heap;
	struct heap_thread *grown;

	if (thread == HEAP_NO_THREAD || thread >= from->nr_threads || h->nr_threads >= MOST_THREADS)
		return HEAP_NO_THREAD;
	if (h->nr_threads >= t->room_threads) {
		uint32_t room = t->room_threads ? 2 * t->room_threads : 64;

		grown = realloc(h->threads, room * sizeof(*grown));
		if (!grown)
			return HEAP_NO_THREAD;
		h->threads = grown;
		t->room_threads = room;
	}
	h->threads[h->nr_threads] = from->threads[thread];
	if (from->threads[thread].tid == from->pid)
		h->threads[h->nr_threads].tid =
			0; /* until it is known what the whole is called: findings_tree_begin() */
	return (uint16_t)h->nr_threads++;
}

static uint16_t second_thread(struct findings_tree *t, const struct heap *h,
			      const struct heap_finding *f, uint16_t thread, uint16_t first)
{
	return thread == f->thread ? first : add_thread(t, h, thread);
}

static int enter(struct findings_tree *t, const struct heap *h, const struct heap_finding *f,
		 struct heap_finding *to, uint64_t serial)
{
	struct findings_entry new = { .f = *to,
				      .death = findings_death(h, f),
				      .group.program = t->merge.program };
	uint64_t key = key_of(to, t->merge.program);

	if (t->entries.nr >= FINDINGS_TREE_MAX) {
		t->nr_more++;
		return 1;
	}
	find(t, to, key, &new.next);
	new.f.text = strdup(f->text ? f->text : "");
	if (!new.f.text)
		return -ENOMEM;
	new.f.thread = add_thread(t, h, f->thread);
	new.f.alloc_thread = second_thread(t, h, f, f->alloc_thread, new.f.thread);
	new.f.free_thread = second_thread(t, h, f, f->free_thread, new.f.thread);
	merge_group_add(&new.group, serial, h->pid);
	if (vec_push(&t->entries, new)) {
		free(new.f.text);
		return -ENOMEM;
	}
	return hash_put(&t->by_key, key, (uint32_t)t->entries.nr) ? -ENOMEM : 1;
}

static int add(struct findings_tree *t, const struct heap *h, const struct heap_finding *f,
	       uint64_t serial)
{
	struct heap_finding to = translated(&t->merge, f);
	struct findings_entry *e = find(t, &to, key_of(&to, t->merge.program), NULL);

	t->times += f->count;
	if (!e)
		return enter(t, h, f, &to, serial);
	e->f.count += f->count;
	merge_group_add(&e->group, serial, h->pid);
	return 0;
}

int findings_tree_add(struct findings_tree *t, const struct heap *h, uint64_t from, uint64_t serial,
		      bool *known)
{
	int rc = merge_open(&t->merge, h), new;

	for (uint64_t i = from; !rc && i < h->nr_findings; i++) {
		new = add(t, h, &h->findings[i], serial);
		if (known)
			known[i - from] = !new;
		rc = new < 0 ? new : 0;
	}
	merge_close(&t->merge);
	return rc;
}

static void recount(struct findings_tree *t, const struct heap_finding *f, uint64_t more)
{
	struct heap_finding to = translated(&t->merge, f);
	struct findings_entry *e = find(t, &to, key_of(&to, t->merge.program), NULL);

	t->times += more;
	if (e)
		e->f.count += more;
}

int findings_tree_recount(struct findings_tree *t, const struct heap *h, const uint64_t *times,
			  uint64_t nr)
{
	int rc = merge_open(&t->merge, h);

	for (uint64_t i = 0; !rc && i < nr && i < h->nr_findings; i++)
		if (h->findings[i].count > times[i])
			recount(t, &h->findings[i], h->findings[i].count - times[i]);
	merge_close(&t->merge);
	return rc;
}

/* ---- the whole ---- */

static void sum(struct heap_check *to, const struct heap_check *c)
{
	to->level = to->level ? to->level : c->level;
	to->mechanism = to->mechanism ? to->mechanism : c->mechanism;
	to->flags |= c->flags;
	to->guarded += c->guarded;
	to->guarded_most = to->guarded_most > c->guarded_most ? to->guarded_most : c->guarded_most;
	to->canaried += c->canaried;
	to->passed += c->passed;
	to->unguarded_limit += c->unguarded_limit;
	to->unguarded_budget += c->unguarded_budget;
	to->unguarded_large += c->unguarded_large;
	to->unguarded_refused += c->unguarded_refused;
	to->failed_on_purpose += c->failed_on_purpose;
	to->findings_lost += c->findings_lost;
	to->left_open += c->left_open;
	to->passed_early += c->passed_early;
	to->unkept_large += c->unkept_large;
	to->unkept_busy += c->unkept_busy;
	to->scans += c->scans;
}

int findings_tree_ended(struct findings_tree *t, const struct heap *h)
{
	int rc = merge_open(&t->merge, h);

	if (!rc) {
		sum(&t->merge.heap->check, &h->check);
		merge_drops(&t->merge);
	}
	merge_close(&t->merge);
	return rc;
}

/* What does most harm: writes, then releases that harm the allocator, then reads. */
static unsigned harm(const struct heap_finding *f)
{
	bool write = f->access == PMM_ACCESS_WRITE || f->by == PMM_BY_RELEASE ||
		     f->by == PMM_BY_QUARANTINE || f->by == PMM_BY_SCAN;

	switch (f->type) {
	case PMM_FINDING_OVERRUN:
	case PMM_FINDING_UNDERRUN:
	case PMM_FINDING_AFTER_FREE:
	case PMM_FINDING_WILD:
		return write ? 5 : 3;
	case PMM_FINDING_DOUBLE_FREE:
	case PMM_FINDING_BAD_FREE:
	case PMM_FINDING_REALLOC_FREED:
	case PMM_FINDING_STACK_OVERFLOW:
		return 4;
	case PMM_FINDING_MISMATCH:
	case PMM_FINDING_OVERLAP:
		return 2;
	case PMM_FINDING_CRASH:
		return 6;
	default:
		return 1;
	}
}

static int worst_first(const void *a, const void *b)
{
	const struct findings_entry *x = a, *y = b;

	if (harm(&x->f) != harm(&y->f))
		return harm(&x->f) > harm(&y->f) ? -1 : 1;
	if (x->group.processes != y->group.processes)
		return x->group.processes > y->group.processes ? -1 : 1;
	if (x->f.count != y->f.count)
		return x->f.count > y->f.count ? -1 : 1;
	return (x->f.first_ns > y->f.first_ns) - (x->f.first_ns < y->f.first_ns);
}

int findings_tree_begin(struct findings_tree *t, const struct heap *root)
{
	struct heap *h = t->merge.heap ? t->merge.heap : heap_new();

	if (!h)
		return -ENOMEM;
	t->merge.heap = h;
	vec_sort(&t->entries, worst_first);
	h->findings = calloc(t->entries.nr + 1, sizeof(*h->findings));
	if (!h->findings || (root && merge_name(&t->merge, root)))
		return -ENOMEM;
	for (size_t i = 0; i < t->entries.nr; i++) {
		h->findings[i] = t->entries.v[i].f;
		t->entries.v[i].f.text = NULL;		/* the heap's now */
	}
	h->nr_findings = t->entries.nr;
	if (root)
		h->death = root->death;
	for (uint32_t i = 0; i < h->nr_threads; i++)
		if (!h->threads[i].tid)
			h->threads[i].tid = h->pid;
	return 0;
}

void findings_tree_turn(void *tree, uint64_t i)
{
	struct findings_tree *t = tree;

	t->merge.heap->death = t->entries.v[i].death;
	t->merge.heap->death.finding = t->merge.heap->findings[i].number;
}

void findings_tree_fini(struct findings_tree *t)
{
	vec_each(&t->entries, e)
		free(e->f.text);
	vec_fini(&t->entries);
	hash_fini(&t->by_key);
	merge_fini(&t->merge);
	*t = (struct findings_tree){ 0 };
}
