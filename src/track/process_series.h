/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time series of one process: totals and top sites, taken at an interval that grows with the
 * run.
 *
 * At most SERIES_MAX_POINTS are kept: when they are full every second one goes and the interval
 * doubles, so a run of any length leaves between 256 and 512 points, evenly spread. The look at the
 * sites pays its way: after a scan that took t it rests for at least SERIES_REST t. While nothing
 * is allocated or freed the last scan counts again.
 *
 * A scan has the largest sites of its moment, and those that held most in any scan before, so that
 * what was large only for a while does not vanish without a trace.
 */
#ifndef TRACK_PROCESS_SERIES_H
#define TRACK_PROCESS_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ledger/ledger_heap.h"
#include "src/model/heap.h"

#define SERIES_MAX_POINTS 512
#define SERIES_MAX_SCANS  256
#define SERIES_TOP_SITES  20
#define SERIES_FOLLOWED	  12
#define SERIES_SCAN_SITES (SERIES_TOP_SITES + SERIES_FOLLOWED)
#define SERIES_FIRST_NS	  10000000ull
#define SERIES_REST	  2000 /* scan cost : pause */

struct series {
	uint64_t interval_ns; /* between points, doubles */
	uint64_t next_ns, next_scan_ns;
	uint64_t scan_interval_ns;
	struct heap_point *points;     /* SERIES_MAX_POINTS */
	uint32_t largest;	       /* the point with most resident memory: never dropped */
	struct heap_site_point *sites; /* SERIES_MAX_SCANS * SERIES_SCAN_SITES, scan by scan */
	uint32_t nr_points, nr_sites, nr_scans;
	struct ledger_top *top;
	/* the sites that held most, and how much that was; site by the ledger's number */
	struct series_most { uint32_t site; int64_t bytes; } followed[SERIES_FOLLOWED];
	unsigned nr_followed;
	/* the last scan, and what had happened to the heap when it was made */
	struct ledger_top_site last[SERIES_SCAN_SITES];
	unsigned nr_last;
	struct ledger_totals last_totals;
	/* scans rest as many times longer; 0 = 1; who watches sets it */
	unsigned share;
	bool last_settled;	/* nothing more had happened than at the one before */
};

/* Begin at `now_ns`. interval_ns 0 = SERIES_FIRST_NS. 0 or -ENOMEM. */
int series_init(struct series *s, uint64_t now_ns, uint64_t interval_ns);
void series_fini(struct series *s);

/* Is a point or a scan due? */
bool series_due(const struct series *s, uint64_t now_ns);

/* Take what is due from the ledger; `rss_bytes` 0 = not known. */
void series_take(struct series *s, struct ledger_map *m, uint64_t now_ns, uint64_t rss_bytes);

/* Add one point, thinning when full. */
void series_add(struct series *s, const struct heap_point *p);

/*
 * Add the top sites at one time, at most SERIES_SCAN_SITES, thinning when full; `cost_ns` is what
 * finding them took.
 */
void series_add_scan(struct series *s, uint64_t now_ns, const struct ledger_top_site *top,
		     unsigned n, uint64_t cost_ns);

/*
 * Which sites are followed from now on, given the largest ones of a scan. Those of them that are
 * not among these go to rest[SERIES_FOLLOWED]; their number.
 */
unsigned series_follow(struct series *s, const struct ledger_top_site *top, unsigned n,
		       uint32_t *rest);

#endif
