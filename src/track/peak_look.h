/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to look at the most that was ever resident of a process. The kernel counts that itself, but
 * in a file that takes it 60 us to write; what is resident now costs a tenth of that. While that
 * stays the same, looks are further and further apart; when it moves, the next one is due as soon
 * as if it never had stayed.
 */
#ifndef TRACK_PEAK_LOOK_H
#define TRACK_PEAK_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#define PEAK_LOOK_NS	  30000000u	/* between two looks while it moves */
#define PEAK_LOOK_MOST_NS 240000000u

/* All zero: never looked. */
struct peak_look {
	uint64_t rss_bytes;	/* when it was last asked for */
	uint64_t next_ns, rest_ns;
	bool moved;		/* since the last look */
};

/* Is a look due? Then it counts as done. */
bool peak_look_due(struct peak_look *p, uint64_t rss_bytes, uint64_t now_ns);

#endif
