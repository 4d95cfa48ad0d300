/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's figures of one process over time, read from outside: its page faults, CPU time,
 * threads, what is resident and swapped out, its share of what others have mapped, too (PSS).
 *
 * A look pays its way: after one that took pmm t of CPU time it rests for USAGE_REST t, and PSS,
 * for which the kernel goes through all page tables with the lock on the process's mappings, comes
 * at most once in USAGE_PSS_REST times what that took. The first time what it would take is guessed
 * from what is resident and the number of mappings. Where there are many processes all rest as many
 * times longer.
 *
 * At most USAGE_MAX_POINTS are kept: when they are full every second one goes, and the interval
 * doubles. A point with PSS stays rather than its neighbour without; the one with most PSS and the
 * one with most swapped out are never lost.
 */
#ifndef TRACK_USAGE_SERIES_H
#define TRACK_USAGE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/model/heap.h"
#include "src/proc/process_figures.h"

#define USAGE_MAX_POINTS	512
#define USAGE_FIRST_NS		10000000ull
#define USAGE_LONGEST_NS	(1ull << 60)
#define USAGE_REST		4000	/* cost of a look : pause ... */
#define USAGE_REST_EARLY	2000	/* ... and in the first second */
#define USAGE_EARLY_NS		1000000000ull
#define USAGE_PSS_REST		2000
/* of a process that hardly runs looks rest as many times longer, once this is known */
#define USAGE_MOST_IDLE		4
#define USAGE_IDLE_FROM_NS	100000000ull
#define USAGE_PSS_FIRST_NS	20000000ull
/* a guess of what reading PSS takes: at least, of each resident KiB, of each mapping */
#define USAGE_PSS_LEAST_NS	20000u
#define USAGE_PSS_KIB_NS	20u
#define USAGE_PSS_MAPPING_NS	500u

/* All zero is one that has not begun. */
struct usage_series {
	struct heap_usage whole;
	struct heap_usage_point *points;	/* USAGE_MAX_POINTS; NULL: none yet */
	uint32_t nr_points;
	uint64_t start_ns;
	uint64_t interval_ns;		/* between points, doubles */
	uint64_t next_ns, next_pss_ns;	/* UINT64_MAX: not again */
	/* of how many processes is there as much to read? 0 = of this one; who watches sets it */
	size_t share;
	bool ended;			/* the last point is there */
	uint64_t start_ticks;		/* of the process, at the first look; 0: none yet */
	/* its CPU time at the first look, since then, and in how long */
	uint64_t cpu_before_ns, cpu_ns, cpu_in_ns;
	/* who watches counts them now and then; PSS is not read before that */
	bool mappings_asked;
	size_t nr_mappings;
};

/* Begin; interval_ns 0 = USAGE_FIRST_NS. Without memory nothing is kept. */
void usage_series_begin(struct usage_series *u, uint64_t now_ns, uint64_t interval_ns);
void usage_series_fini(struct usage_series *u);

/* Read what is due. One that began at another time has but its number: nothing is taken of it. */
void usage_series_tick(struct usage_series *u, pid_t pid, uint64_t now_ns);

/*
 * It has ended: its last page faults and CPU time, as they were seen, or as they can be as long as
 * nobody has waited for it. The first call that knows them counts.
 */
void usage_series_last(struct usage_series *u, const struct process_figures *f, uint64_t now_ns);
void usage_series_end(struct usage_series *u, pid_t pid, uint64_t now_ns);

/*
 * How many times as long as the process computed did it take for that, as far as is known? 1 to
 * USAGE_MOST_IDLE. Shares of the time that are divided by this are shares of its CPU time.
 */
unsigned usage_series_idle(const struct usage_series *u);

/* Add one point, thinning when full. */
void usage_series_add(struct usage_series *u, const struct heap_usage_point *p);

/* A copy of all into the process's heap, as far as `until_ns`. 0 or -ENOMEM. */
int usage_series_give(const struct usage_series *u, uint64_t until_ns, struct heap *h);

#endif
