/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of sites, in two tables of rows. */
#include "src/analyze/trace/kmem_sums.h"

#include <errno.h>
#include <string.h>

#include "src/base/hash.h"

struct making {
	struct kmem_sums *s;
	const struct kmem_tables *t;
	struct hash_map site_at;	/* hash of a site -> its row in `before` */
	struct hash_map old_at;		/* hash of a site -> number in `old` */
	struct hash_map stack_at, cache_at;
	VEC(uint64_t) old;		/* objects that are old */
};

static uint64_t site_key(const struct kernel_rows *rows, size_t i)
{
	return *(const uint64_t *)kernel_rows_key(rows, i);
}

static uint64_t outstanding(const struct kmem_site *site)
{
	/* counts of a site that changes meanwhile */
	return site->allocated > site->freed ? site->allocated - site->freed : 0;
}

static int find_former(struct making *m)
{
	const struct kernel_rows *before = m->t->before;
	int rc = 0;

	for (size_t i = 0; before && !rc && i < before->nr; i++)
		rc = hash_put(&m->site_at, site_key(before, i), i);
	return rc;
}

static int find_old(struct making *m)
{
	const struct kernel_rows *objects = m->t->objects;

	for (size_t i = 0; objects && i < objects->nr; i++) {
		const struct kmem_object *object = kernel_rows_value(objects, i);
		uint32_t *at;
		bool added;

		if (object->time_ns >= m->t->born_before_ns)
			continue;
		at = hash_add(&m->old_at, object->site, m->old.nr, &added);
		if (!at || (added && vec_push(&m->old, (uint64_t)0)))
			return -ENOMEM;
		m->old.v[*at]++;
	}
	return 0;
}

static struct kmem_sum sum_of(const struct making *m, uint64_t key, const struct kmem_site *site)
{
	uint64_t n = m->t->sample, objects = outstanding(site) * n, former = 0;
	const uint32_t *at = hash_find(&m->site_at, key), *old = hash_find(&m->old_at, key);
	struct kmem_sum sum = {
		.objects = objects,
		.bytes = objects * site->object_bytes,
		.allocated = site->allocated * n,
		.freed = site->freed * n,
		.reused = site->reused * n,
	};

	if (at)
		former = outstanding(kernel_rows_value(m->t->before, *at)) * n;
	sum.grown_objects = (int64_t)(objects - former);
	sum.grown_bytes = sum.grown_objects * (int64_t)site->object_bytes;
	if (old) {
		sum.old_objects = m->old.v[*old] * n;
		sum.old_bytes = sum.old_objects * site->object_bytes;
	}
	return sum;
}

static void add_sum(struct kmem_sum *to, const struct kmem_sum *s)
{
	to->objects += s->objects;
	to->bytes += s->bytes;
	to->grown_objects += s->grown_objects;
	to->grown_bytes += s->grown_bytes;
	to->allocated += s->allocated;
	to->freed += s->freed;
	to->reused += s->reused;
	to->old_objects += s->old_objects;
	to->old_bytes += s->old_bytes;
}

static uint64_t stack_key(const struct kmem_site *site)
{
	unsigned first = kmem_first_frame(site);
	unsigned nr = site->depth < KMEM_DEPTH ? site->depth : KMEM_DEPTH;

	return hash_bytes(site->ips + first, (nr - first) * sizeof(site->ips[0]));
}

static uint64_t cache_key(const struct kmem_site *site)
{
	uint64_t parts[] = { site->sort, site->cache, site->object_bytes };

	return hash_bytes(parts, sizeof(parts));
}

#define ADD_TO(rows, at, key_, site_, sum_)                                                        \
	({                                                                                         \
		bool added_;                                                                       \
		uint32_t *i_ = hash_add(at, key_, (rows)->nr, &added_);                            \
		int rc_ = !i_ ? -ENOMEM                                                            \
			: !added_ ? 0                                                              \
			: vec_push(rows, (struct kmem_row){ .key = (key_), .site = (site_) });     \
		if (!rc_)                                                                          \
			add_sum(&(rows)->v[*i_].sum, sum_);                                        \
		rc_;                                                                               \
	})

static int add_sites(struct making *m)
{
	const struct kernel_rows *sites = m->t->sites;
	struct kmem_sums *s = m->s;
	int rc = 0;

	for (size_t i = 0; !rc && i < sites->nr; i++) {
		const struct kmem_site *site = kernel_rows_value(sites, i);
		struct kmem_sum sum;

		if (site->sort >= KMEM_NR_SORTS)
			continue;
		sum = sum_of(m, site_key(sites, i), site);
		add_sum(&s->sort[site->sort], &sum);
		add_sum(&s->all, &sum);
		rc = ADD_TO(&s->stacks, &m->stack_at, stack_key(site), site, &sum);
		if (!rc)
			rc = ADD_TO(&s->caches, &m->cache_at, cache_key(site), site, &sum);
	}
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	const struct kmem_row *x = a, *y = b;

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes < y->sum.bytes ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int kmem_sums_make(struct kmem_sums *s, const struct kmem_tables *t)
{
	struct making m = { .s = s, .t = t };
	int rc;

	memset(s, 0, sizeof(*s));
	rc = find_former(&m);
	if (!rc)
		rc = find_old(&m);
	if (!rc)
		rc = add_sites(&m);
	vec_sort(&s->stacks, by_bytes);
	vec_sort(&s->caches, by_bytes);
	hash_fini(&m.site_at);
	hash_fini(&m.old_at);
	hash_fini(&m.stack_at);
	hash_fini(&m.cache_at);
	vec_fini(&m.old);
	return rc;
}

unsigned kmem_first_frame(const struct kmem_site *site)
{
	for (unsigned i = 0; site->caller && i < site->depth && i < KMEM_DEPTH; i++)
		if (site->ips[i] == site->caller)
			return i;
	return 0;
}

void kmem_sums_fini(struct kmem_sums *s)
{
	vec_fini(&s->stacks);
	vec_fini(&s->caches);
}
