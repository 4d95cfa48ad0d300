/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Free address space near code: the nearest room below, else above. */
#include "src/inject/gap.h"

#include <string.h>

#define PAGE		4096ull
#define LOWEST		(64ull << 10)		/* vm.mmap_min_addr */
#define HIGHEST		((1ull << 47) - PAGE)
/* of the reach: displacements count from the instruction's end */
#define MARGIN		(1ull << 20)
#define HEAP_ROOM	(1ull << 30)		/* for brk to grow */
#define STACK_ROOM	(64ull << 20)		/* for a stack to grow */

/*
 * The free range before mapping i (nr: behind the last one), less what its neighbours may grow
 * into.
 */
static void gap_before(const struct proc_maps *maps, size_t i, uint64_t *from, uint64_t *to)
{
	const struct proc_map *below = i ? &maps->v[i - 1] : NULL,
			      *above = i < maps->nr ? &maps->v[i] : NULL;
	uint64_t room_below = PAGE, room_above = PAGE;

	if (below && !strcmp(below->path, "[heap]"))
		room_below = HEAP_ROOM;
	if (above && !strcmp(above->path, "[stack]"))
		room_above = STACK_ROOM;
	*from = below ? below->end + room_below : LOWEST;
	*to = above ? above->start : HIGHEST;
	*to = *to > room_above ? *to - room_above : 0;
}

uint64_t gap_near(const struct proc_maps *maps, uint64_t low, uint64_t high, uint64_t bytes)
{
	uint64_t least = high > GAP_REACH - MARGIN ? high - (GAP_REACH - MARGIN) : 0;
	uint64_t most = low + (GAP_REACH - MARGIN), best = 0, best_distance = UINT64_MAX;

	for (size_t i = 0; i <= maps->nr; i++) {
		uint64_t from, to, at, distance;

		gap_before(maps, i, &from, &to);
		from = from > least ? from : least;
		to = to < most ? to : most;
		from = (from + PAGE - 1) & ~(PAGE - 1);
		to &= ~(PAGE - 1);
		if (from >= to || to - from < bytes)
			continue;
		at = to <= low ? to - bytes : from;	/* the end that is nearer */
		distance = at < low ? low - at : at - low;
		if (distance < best_distance) {
			best = at;
			best_distance = distance;
		}
	}
	return best;
}
