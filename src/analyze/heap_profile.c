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

/* A heap's nodes in the profile: each is entered once, however many stacks it is part of. */
struct entering {
	const struct heap *h;
	struct names *names;
	struct profile *p;
	uint32_t *node_of;	/* by node of the heap, + 1: 0 is not entered yet */
	/* of the stack that is being entered, innermost first */
	VEC(struct entering_node {
		uint32_t node;
		size_t end;	/* of its frames */
	}) path;
	VEC(uint32_t) frames;
};

/* Note a node and its frames. */
static int note_node(struct entering *e, uint32_t node)
{
	unsigned nr;
	const struct frame_name *name = names_find(e->names, node, &nr);

	for (unsigned i = 0; i < nr; i++) {
		int64_t frame = profile_frame(
			e->p, &(struct profile_frame){ name[i].function, name[i].file,
						       name[i].module, name[i].line });

		if (frame < 0)
			return (int)frame;
		if (vec_push(&e->frames, (uint32_t)frame))
			return -ENOMEM;
	}
	return vec_push(&e->path, (struct entering_node){ node, e->frames.nr });
}

/* The noted nodes below a node of the profile. The number of the innermost, or -errno. */
static int64_t enter_path(struct entering *e, int64_t at)
{
	size_t frame = e->frames.nr;

	for (size_t i = e->path.nr; i-- > 0 && at >= 0;) {
		size_t first = i ? e->path.v[i - 1].end : 0;

		while (frame > first && at >= 0)
			at = profile_child(e->p, (uint32_t)at, e->frames.v[--frame]);
		if (at >= 0)
			e->node_of[e->path.v[i].node] = (uint32_t)at + 1;
	}
	return at;
}

/* The number of a stack's node, or -errno. */
static int64_t enter_stack(struct entering *e, uint32_t stack)
{
	uint32_t node = stack;

	e->path.nr = e->frames.nr = 0;
	for (; node && !e->node_of[node]; node = e->h->nodes[node].parent) {
		int rc = note_node(e, node);

		if (rc)
			return rc;
	}
	return enter_path(e, node ? e->node_of[node] - 1 : 0);
}

bool heap_profile_weigh(const struct heap *h, const struct selection *s, uint32_t site,
			int64_t value[HEAP_PROFILE_NR])
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

int heap_profile(const struct heap *h, struct names *n, const struct selection *s,
		 struct profile **out)
{
	return heap_profile_nodes(h, n, s, NULL, out);
}

int heap_profile_nodes(const struct heap *h, struct names *n, const struct selection *s,
		       uint32_t *node, struct profile **out)
{
	struct entering e = { .h = h, .names = n, .p = profile_new(metrics, HEAP_PROFILE_NR) };
	int64_t value[HEAP_PROFILE_NR], at;
	int rc;

	e.node_of = calloc((size_t)h->nr_nodes + 1, sizeof(*e.node_of));
	rc = e.p && e.node_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < h->nr_sites && !rc; i++) {
		bool some = heap_profile_weigh(h, s, i, value);

		at = some ? enter_stack(&e, h->sites[i].node) : 0;
		rc = at < 0 ? (int)at : 0;
		if (some && !rc)
			profile_add_to(e.p, (uint32_t)at, value);
		if (node)
			node[i] = some ? (uint32_t)at : UINT32_MAX;
	}
	if (!rc)
		rc = profile_sum(e.p);
	vec_fini(&e.path);
	vec_fini(&e.frames);
	free(e.node_of);
	if (rc) {
		profile_free(e.p);
		e.p = NULL;
	}
	*out = e.p;
	return rc;
}
