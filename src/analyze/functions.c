/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by what is held through them. */
#include "src/analyze/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"

struct work {
	const struct heap *h;
	struct names *names;
	struct intern known;		/* "function\1module" */
	struct hash_map by_frame;	/* address of a frame_name -> number of the function */
	VEC(struct function_sum) sums;	/* by number */
	VEC(uint32_t) seen_in;		/* by number: the last site it was counted for, plus 1 */
};

/* The number of a frame's function; -ENOMEM. Frames stay where they are as long as the names do. */
static int64_t number_of(struct work *w, const struct frame_name *f)
{
	uint32_t *known = hash_find(&w->by_frame, (uint64_t)(uintptr_t)f);
	struct str key = STR_INIT;
	int64_t number;

	if (known)
		return *known;
	str_add(&key, f->function);
	str_addc(&key, '\1');
	str_add(&key, f->module ? f->module : "");
	number = str_error(&key) ? -ENOMEM : intern_add(&w->known, str_text(&key));
	str_fini(&key);
	if (number >= 0 && hash_put(&w->by_frame, (uint64_t)(uintptr_t)f, (uint32_t)number))
		return -ENOMEM;
	if (number == (int64_t)w->sums.nr &&
	    (vec_push(&w->sums, (struct function_sum){ .frame = f }) || vec_push(&w->seen_in, 0)))
		return -ENOMEM;
	return number;
}

static int count(struct work *w, const struct frame_name *f, uint32_t site, struct weight weight)
{
	int64_t number = number_of(w, f);

	if (number < 0)
		return (int)number;
	if (w->seen_in.v[number] == site + 1)
		return 0;		/* it calls itself */
	w->seen_in.v[number] = site + 1;
	w->sums.v[number].weight.bytes += weight.bytes;
	w->sums.v[number].weight.count += weight.count;
	w->sums.v[number].nr_sites++;
	return 0;
}

static int count_site(struct work *w, uint32_t site, struct weight weight)
{
	int rc = 0;

	for (uint32_t at = w->h->sites[site].node; at && !rc; at = w->h->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(w->names, at, &nr);

		for (unsigned i = 0; i < nr && !rc; i++)
			if (f[i].role == FRAME_PROGRAM && f[i].function)
				rc = count(w, &f[i], site, weight);
	}
	return rc;
}

static int order(const struct function_sum *x, const struct function_sum *y, bool by_count)
{
	const uint64_t a = by_count ? x->weight.count : x->weight.bytes,
		       b = by_count ? y->weight.count : y->weight.bytes;

	if (a != b)
		return a < b ? 1 : -1;
	if (x->nr_sites != y->nr_sites)
		return x->nr_sites < y->nr_sites ? 1 : -1;
	return strcmp(x->frame->function, y->frame->function);
}

static int by_bytes(const void *a, const void *b)
{
	return order(a, b, false);
}

static int by_count(const void *a, const void *b)
{
	return order(a, b, true);
}

int functions_rank(const struct heap *h, const struct selection *s, struct names *n,
		   enum rank_key key, uint64_t top, struct functions *out)
{
	struct work w = { .h = h, .names = n };
	int rc = 0;

	*out = (struct functions){ 0 };
	for (uint32_t i = 0; i < h->nr_sites && !rc; i++) {
		struct weight weight = rank_weight(h, s, key, i);

		if (weight_is_nothing(weight))
			continue;
		out->total.bytes += weight.bytes;
		out->total.count += weight.count;
		rc = count_site(&w, i, weight);
	}
	vec_sort(&w.sums, rank_by_count(key) ? by_count : by_bytes);
	out->v = w.sums.v;
	out->nr_all = (uint32_t)w.sums.nr;
	out->nr = top && top < w.sums.nr ? (uint32_t)top : (uint32_t)w.sums.nr;
	vec_fini(&w.seen_in);
	intern_fini(&w.known);
	hash_fini(&w.by_frame);
	if (rc)
		functions_fini(out);
	return rc;
}

void functions_fini(struct functions *f)
{
	free(f->v);
	*f = (struct functions){ 0 };
}
