/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's last figures of a process that is watched, for when it is killed, or has too many
 * free chunks to be asked at its end. Taken now and then, which costs the monitor 1/1000 of the
 * time for all its processes, and next to nothing for those that are idle; where there are more
 * free chunks than can be counted in that time they are not, until there is time for twice as many.
 */
#ifndef TRACK_FIGURES_LAST_H
#define TRACK_FIGURES_LAST_H

#include <stdint.h>
#include <sys/types.h>

#include "src/ledger/ledger_map.h"
#include "src/model/heap.h"

struct figures_last {
	/* nothing but names and figures; NULL = not asked for yet */
	struct heap *asked;
	uint64_t events;		/* of its heap, when it was asked last */
	/* while there are no more of these it is not asked for so long */
	uint64_t calm_ns;
	/*
	 * of how many processes has the monitor as much to do? 0 = of this one; who watches sets it
	 */
	size_t share;
	uint64_t rests_ns;		/* since when nothing was asked */
	unsigned too_few;		/* free chunks counted, of more; 0 = of no more */
	uint64_t counted_ns;		/* ... when */
	uint64_t next_ns;		/* ask again not before; 0 = begin to count from now on */
};

/*
 * Ask when it is time, as far as that can be done; a caller with the process's ledger at `m` need
 * not know whether it could.
 */
void figures_last_tick(struct figures_last *l, struct ledger_map *m, pid_t pid, uint64_t now_ns);

/* Into the heap of that process, where it has none that are newer. */
void figures_last_give(const struct figures_last *l, struct heap *h);

void figures_last_fini(struct figures_last *l);

#endif
