/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap's call sites as a profile (src/model/profile.h): stacks of named frames, inlined ones
 * among them, with what each site holds, held and did.
 */
#ifndef ANALYZE_HEAP_PROFILE_H
#define ANALYZE_HEAP_PROFILE_H

#include "src/analyze/rank.h"
#include "src/model/profile.h"
#include "src/names/names.h"

/* The metrics of such a profile, in this order. */
enum heap_profile_metric {
	HEAP_PROFILE_LIVE_BYTES,
	HEAP_PROFILE_LIVE_BLOCKS,
	HEAP_PROFILE_PEAK_BYTES, /* live at the heap's highest point */
	HEAP_PROFILE_PEAK_BLOCKS,
	HEAP_PROFILE_ALLOCATED_BYTES,
	HEAP_PROFILE_ALLOCATIONS,
	HEAP_PROFILE_TEMPORARY,
	HEAP_PROFILE_NR,
};

/* A figure as a value of a profile: it stays at the end of the range. */
static inline int64_t heap_profile_value(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/*
 * What a site holds, held and did, by metric, with what rank_weight() gives. Returns whether there
 * is anything.
 */
bool heap_profile_weigh(const struct heap *h, const struct selection *s, uint32_t site,
			int64_t value[HEAP_PROFILE_NR]);

/* What of a profile a key sorts by. */
enum heap_profile_metric heap_profile_metric(enum rank_key key);

/*
 * The sites of a heap that pass (NULL: all), with what rank_weight() gives them; those without a
 * stack are at the root. Frames without a name have their module alone. Totals are made. *out:
 * profile_free(). 0, -ENOMEM, -ENOSPC.
 */
int heap_profile(const struct heap *h, struct names *n, const struct selection *s,
		 struct profile **out);

/* The same; node[i] becomes the node of site i, UINT32_MAX of one that is not in the profile. */
int heap_profile_nodes(const struct heap *h, struct names *n, const struct selection *s,
		       uint32_t *node, struct profile **out);

#endif
