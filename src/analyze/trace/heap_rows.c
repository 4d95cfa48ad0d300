/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One pass over the sites, one over the blocks if their age is asked for. */
#include "src/analyze/trace/heap_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t positive(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

/* What was there before; it is the sites' numbers that stay the same. */
static const struct heap_site_sum *before(const struct heap_rows *r, const struct heap_site *s)
{
	const uint32_t *at = s->number ? hash_find(&r->before_at, s->number) : NULL;

	return at ? &r->before.v[*at] : NULL;
}

static void add(struct heap_site_sum *to, const struct heap_site_sum *s)
{
	to->bytes += s->bytes;
	to->objects += s->objects;
	to->grown_bytes += s->grown_bytes;
	to->grown_objects += s->grown_objects;
	to->old_bytes += s->old_bytes;
	to->old_objects += s->old_objects;
	to->allocated += s->allocated;
	to->freed += s->freed;
}

static struct heap_site_sum *sum_sites(const struct heap_rows *r, const struct heap *h)
{
	struct heap_site_sum *sums = calloc((size_t)h->nr_sites + 1, sizeof(*sums));

	for (uint32_t i = 0; sums && i < h->nr_sites; i++) {
		const struct heap_site *s = &h->sites[i];
		const struct heap_site_sum *was = before(r, s);

		sums[i] = (struct heap_site_sum){ .site = i,
						  .bytes = positive(s->live_bytes),
						  .objects = positive(s->live_blocks),
						  .allocated = s->allocs,
						  .freed = s->frees };
		sums[i].grown_bytes = (int64_t)(sums[i].bytes - (was ? was->bytes : 0));
		sums[i].grown_objects = (int64_t)(sums[i].objects - (was ? was->objects : 0));
	}
	return sums;
}

static void sum_ages(const struct heap *h, struct heap_site_sum *sums, uint64_t old_before_ns)
{
	for (uint64_t i = 0; old_before_ns && i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];

		if (b->birth_ns >= old_before_ns)
			continue;
		sums[b->site].old_bytes += b->size_bytes;
		sums[b->site].old_objects++;
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct heap_site_sum *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* The next look's before. */
static int keep(struct heap_rows *r, const struct heap *h, const struct heap_site_sum *sums)
{
	int rc = 0;

	r->before.nr = 0;
	hash_fini(&r->before_at);
	for (uint32_t i = 0; !rc && i < h->nr_sites; i++) {
		if (!h->sites[i].number || !sums[i].objects)
			continue;
		rc = vec_push(&r->before, sums[i]);
		if (!rc)
			rc = hash_put(&r->before_at, h->sites[i].number, r->before.nr - 1);
	}
	return rc;
}

int heap_rows_look(struct heap_rows *r, const struct heap *h, uint64_t old_before_ns,
		   uint64_t min_bytes)
{
	struct heap_site_sum *sums = sum_sites(r, h);
	int rc = sums ? 0 : -ENOMEM;

	r->rows.nr = 0;
	memset(&r->all, 0, sizeof(r->all));
	if (!rc)
		sum_ages(h, sums, old_before_ns);
	for (uint32_t i = 0; !rc && i < h->nr_sites; i++) {
		add(&r->all, &sums[i]);
		if ((sums[i].objects || sums[i].grown_objects) && sums[i].bytes >= min_bytes)
			rc = vec_push(&r->rows, sums[i]);
	}
	if (!rc)
		rc = keep(r, h, sums);
	vec_sort(&r->rows, by_bytes);
	free(sums);
	return rc;
}

void heap_rows_fini(struct heap_rows *r)
{
	vec_fini(&r->rows);
	vec_fini(&r->before);
	hash_fini(&r->before_at);
	memset(r, 0, sizeof(*r));
}
