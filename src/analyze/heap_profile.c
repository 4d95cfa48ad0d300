/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap's call sites as a profile.
 */
#include "src/analyze/heap_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/vec.h"

static const struct profile_metric metrics[HEAP_PROFILE_NR] = {
	[HEAP_PROFILE_LIVE_BYTES] = { "live", "bytes" },
	[HEAP_PROFILE_LIVE_BLOCKS] = { "live", "blocks" },
	[HEAP_PROFILE_PEAK_BYTES] = { "peak", "bytes" },
	[HEAP_PROFILE_PEAK_BLOCKS] = { "peak", "blocks" },
	[HEAP_PROFILE_ALLOCATED_BYTES] = { "allocated", "bytes" },
	[HEAP_PROFILE_ALLOCATIONS] = { "allocations", "calls" },
	[HEAP_PROFILE_TEMPORARY] = { "temporary", "calls" },
};

enum heap_profile_metric heap_profile_metric(enum rank_key key)
{
	static const enum heap_profile_metric metric[RANK_NR] = {
		[RANK_LIVE] = HEAP_PROFILE_LIVE_BYTES,
		[RANK_PEAK] = HEAP_PROFILE_PEAK_BYTES,
		[RANK_ALLOCATED] = HEAP_PROFILE_ALLOCATED_BYTES,
		[RANK_CALLS] = HEAP_PROFILE_ALLOCATIONS,
		[RANK_TEMPORARY] = HEAP_PROFILE_TEMPORARY,
	};

	return metric[key];
}

struct stack {
	VEC(uint32_t) frames; /* by number in the profile */
	/*
	 * of each node, so that those of a deep stack that many sites share are named once: how
	 * many, then the frames; `known` has where that is, + 1, by node
	 */
	VEC(uint32_t) named;
	uint32_t *known;
};

/* Name the frames of a node, innermost first. */
static int name_node(struct stack *st, struct profile *p, struct names *n, uint32_t node)
{
	unsigned nr;
	const struct frame_name *name = names_find(n, node, &nr);
	size_t at = st->named.nr;
	int rc = vec_push(&st->named, nr);

	for (unsigned i = 0; i < nr && !rc; i++) {
		int64_t frame = profile_frame(
			p, &(struct profile_frame){ name[i].function, name[i].file, name[i].module,
						    name[i].line });

		rc = frame < 0 ? (int)frame : vec_push(&st->named, (uint32_t)frame);
	}
	if (!rc)
		st->known[node] = (uint32_t)at + 1;
	return rc;
}

/* The frames of a node behind those that are there. */
static int push_node(struct stack *st, struct profile *p, struct names *n, uint32_t node)
{
	int rc = st->known[node] ? 0 : name_node(st, p, n, node);

	for (uint32_t i = 0; !rc && i < st->named.v[st->known[node] - 1]; i++)
		rc = vec_push(&st->frames, st->named.v[st->known[node] + i]);
	return rc;
}

static void reverse(struct stack *st)
{
	for (size_t i = 0, k = st->frames.nr; i + 1 < k; i++) {
		uint32_t last = st->frames.v[--k];

		st->frames.v[k] = st->frames.v[i];
		st->frames.v[i] = last;
	}
}

bool heap_profile_weigh(const struct heap *h, const struct selection *s, uint32_t site,
			int64_t *value)
{
	const struct weight live = rank_weight(h, s, RANK_LIVE, site),
			    peak = rank_weight(h, s, RANK_PEAK, site),
			    all = rank_weight(h, s, RANK_ALLOCATED, site),
			    temporary = rank_weight(h, s, RANK_TEMPORARY, site);

	value[HEAP_PROFILE_LIVE_BYTES] = heap_profile_value(live.bytes);
	value[HEAP_PROFILE_LIVE_BLOCKS] = heap_profile_value(live.count);
	value[HEAP_PROFILE_PEAK_BYTES] = heap_profile_value(peak.bytes);
	value[HEAP_PROFILE_PEAK_BLOCKS] = heap_profile_value(peak.count);
	value[HEAP_PROFILE_ALLOCATED_BYTES] = heap_profile_value(all.bytes);
	value[HEAP_PROFILE_ALLOCATIONS] = heap_profile_value(all.count);
	value[HEAP_PROFILE_TEMPORARY] = heap_profile_value(temporary.count);
	for (unsigned i = 0; i < HEAP_PROFILE_NR; i++)
		if (value[i])
			return true;
	return false;
}

/* The number of its node, or -errno. */
static int64_t add_site(struct profile *p, struct names *n, const struct heap *h, uint32_t stack,
		    const int64_t *value, struct stack *st)
{
	int64_t rc = 0;

	st->frames.nr = 0;
	for (uint32_t node = stack; node && !rc; node = h->nodes[node].parent)
		rc = push_node(st, p, n, node);
	reverse(st);
	if (!rc)
		rc = profile_add(p, st->frames.v, st->frames.nr, value);
	return rc;
}

int heap_profile(const struct heap *h, struct names *n, const struct selection *s,
		 struct profile **out)
{
	return heap_profile_nodes(h, n, s, NULL, out);
}

int heap_profile_nodes(const struct heap *h, struct names *n, const struct selection *s,
		       uint32_t *node, struct profile **out)
{
	int64_t value[HEAP_PROFILE_NR], at;
	struct stack st = { 0 };
	int rc;

	*out = profile_new(metrics, HEAP_PROFILE_NR);
	st.known = calloc((size_t)h->nr_nodes + 1, sizeof(*st.known));
	rc = *out && st.known ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < h->nr_sites && !rc; i++) {
		bool some = heap_profile_weigh(h, s, i, value);

		at = some ? add_site(*out, n, h, h->sites[i].node, value, &st) : 0;
		rc = at < 0 ? (int)at : 0;
		if (node)
			node[i] = some ? (uint32_t)at : UINT32_MAX;
	}
	if (!rc)
		rc = profile_sum(*out);
	vec_fini(&st.frames);
	vec_fini(&st.named);
	free(st.known);
	if (rc) {
		profile_free(*out);
		*out = NULL;
	}
	return rc;
}
