/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rankings: collect (value, number) pairs, sort, keep the top.
 */
#include "src/analyze/rank.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/vec.h"

const char *const rank_key_name[RANK_NR + 1] = {
	[RANK_LIVE] = "live",	[RANK_PEAK] = "peak",		[RANK_ALLOCATED] = "allocated",
	[RANK_CALLS] = "calls", [RANK_TEMPORARY] = "temporary", [RANK_NR] = NULL,
};
_Static_assert(RANK_NR == 5, "a name for each");

struct pair {
	uint64_t value, second;
	uint64_t number;
};

enum rank_key rank_default(const struct heap *h)
{
	if (!h->live_bytes || (h->end != HEAP_RUNNING && h->live_bytes < h->peak_bytes / 10))
		return RANK_PEAK;
	return RANK_LIVE;
}

enum rank_key rank_chosen(const struct heap *h, const struct selection *s, bool given,
			  enum rank_key key)
{
	if (given)
		return key;
	return s->from_blocks ? RANK_LIVE : rank_default(h);
}

bool rank_by_count(enum rank_key key)
{
	return key == RANK_CALLS || key == RANK_TEMPORARY;
}

static uint64_t at_least_0(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

static struct weight weight_of(const struct heap_site *s, enum rank_key key)
{
	switch (key) {
	case RANK_LIVE:
		return (struct weight){ at_least_0(s->live_bytes), at_least_0(s->live_blocks) };
	case RANK_PEAK:
		return (struct weight){ at_least_0(s->peak_bytes), at_least_0(s->peak_blocks) };
	case RANK_TEMPORARY:
		return (struct weight){ 0, s->temporary };
	case RANK_ALLOCATED:
	case RANK_CALLS:
	case RANK_NR:
		break;
	}
	return (struct weight){ s->bytes_in, s->allocs };
}

struct weight rank_weight(const struct heap *h, const struct selection *s, enum rank_key key,
			  uint32_t site)
{
	if (s && s->site && !s->site[site])
		return (struct weight){ 0, 0 };
	if (s && s->live_bytes) {
		if (key != RANK_LIVE)
			return (struct weight){ 0, 0 };
		return (struct weight){ at_least_0(s->live_bytes[site]),
					at_least_0(s->live_blocks[site]) };
	}
	return weight_of(&h->sites[site], key);
}

uint64_t rank_value(enum rank_key key, struct weight w)
{
	return rank_by_count(key) ? w.count : w.bytes;
}

/* Largest first; among equals the lower number, so that output does not depend on the sort. */
static int by_value(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	if (x->second != y->second)
		return x->second < y->second ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int keep_top(struct pair *pair, size_t nr, uint64_t top, struct ranking *out)
{
	vec_qsort(pair, nr, sizeof(*pair), by_value);
	out->nr_all = (uint32_t)nr;
	out->nr = top && top < nr ? (uint32_t)top : (uint32_t)nr;
	out->site = malloc((out->nr + 1) * sizeof(*out->site));
	if (!out->site)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->nr; i++)
		out->site[i] = (uint32_t)pair[i].number;
	return 0;
}

/* Is there anything to tell of a site that has no weight? */
static bool did_anything(const struct heap *h, const struct selection *s, uint32_t site)
{
	const struct heap_site *at = &h->sites[site];

	if (s && (s->live_bytes || (s->site && !s->site[site])))
		return false;
	return at->allocs || at->frees || at->failed;
}

bool rank_passes_any(const struct heap *h, const struct selection *s)
{
	for (uint32_t i = 0; i < h->nr_sites; i++)
		if (did_anything(h, s, i) || rank_weight(h, s, RANK_LIVE, i).count ||
		    rank_weight(h, s, RANK_PEAK, i).count)
			return true;
	return false;
}

int rank_sites(const struct heap *h, const struct selection *s, enum rank_key key, uint64_t top,
	       struct ranking *out)
{
	VEC(struct pair) pairs = { 0 };
	int rc = 0;

	*out = (struct ranking){ 0 };
	for (uint32_t i = 0; i < h->nr_sites && !rc; i++) {
		struct weight w = rank_weight(h, s, key, i);

		if (weight_is_nothing(w)) {
			bool idle = did_anything(h, s, i);

			out->nr_idle += idle && top;
			if (top || !idle)
				continue;
		}
		out->total.bytes += w.bytes;
		out->total.count += w.count;
		rc = vec_push(&pairs, (struct pair){ rank_value(key, w), w.bytes + w.count, i });
	}
	if (!rc)
		rc = keep_top(pairs.v, pairs.nr, top, out);
	vec_fini(&pairs);
	return rc;
}

int rank_map_sites(const struct heap *h, uint64_t top, struct ranking *out)
{
	VEC(struct pair) pairs = { 0 };
	int rc = 0;

	*out = (struct ranking){ 0 };
	for (uint32_t i = 0; i < h->nr_map_sites && !rc; i++) {
		const struct heap_site *s = &h->map_sites[i];
		struct weight w = weight_of(s, RANK_LIVE);

		if (!s->allocs && !w.bytes && !s->failed)
			continue;
		out->total.bytes += w.bytes;
		out->total.count += w.count;
		rc = vec_push(&pairs, (struct pair){ w.bytes, s->bytes_in, i });
	}
	if (!rc)
		rc = keep_top(pairs.v, pairs.nr, top, out);
	vec_fini(&pairs);
	return rc;
}

int rank_blocks(const struct heap *h, const struct selection *s, uint64_t top, uint64_t **out,
		uint64_t *nr)
{
	VEC(struct pair) pairs = { 0 };
	int rc = 0;

	*out = NULL;
	*nr = 0;
	for (uint64_t i = 0; i < h->nr_blocks && !rc; i++)
		if (!s || selection_has_block(s, &h->blocks[i]))
			rc = vec_push(&pairs, (struct pair){ h->blocks[i].size_bytes, 0, i });
	if (rc)
		goto out;
	vec_sort(&pairs, by_value);
	*nr = top && top < pairs.nr ? top : pairs.nr;
	*out = malloc((*nr + 1) * sizeof(**out));
	if (!*out)
		rc = -ENOMEM;
	for (uint64_t i = 0; !rc && i < *nr; i++)
		(*out)[i] = pairs.v[i].number;
out:
	vec_fini(&pairs);
	return rc;
}

void ranking_fini(struct ranking *r)
{
	free(r->site);
	r->site = NULL;
}
