/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watching a process has found: a site's stack when its blocks expire, and the table of sites
 * at the end.
 */
#ifndef VIEW_WATCH_H
#define VIEW_WATCH_H

#include "src/analyze/evidence.h"
#include "src/analyze/expiry.h"
#include "src/analyze/growth.h"
#include "src/names/names.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/doc.h"

#define WATCH_SCHEMA "pmm-attach/1.2"

struct watch_site {
	struct expiry_row row;
	struct growth growth;
	struct evidence evidence;	/* where it grows steadily */
};

/* The stack of a site below a line that names it, as a table. NULL when out of memory. */
struct table *watch_stack(const struct heap *h, struct names *n, uint32_t site);

/*
 * The sites that hold expired blocks, grow, or gave expired blocks back, in the given order; how
 * many of all `nr_all` those are is reported. `left_bytes`: what the process may still take,
 * UINT64_MAX = any amount. NULL when out of memory.
 */
struct table *watch_sites(const struct heap *h, struct names *n, const struct watch_site *site,
			  size_t nr, size_t nr_all, uint64_t left_bytes);

/* "1.20 KiB/s", "3.4 KiB/h" for what is slow, with a sign. */
struct fmt watch_pace(double bytes_per_second);

/*
 * When a steady growth seen for so long will have used up what is left: "in about 50 minutes". Not
 * *reached: later than can be known from so short a time (growth_forecast_ns()), so it will not
 * "within 2 hours".
 */
struct fmt watch_forecast(uint64_t left_ns, uint64_t seen_ns, bool *reached);

/*
 * By a clock of this step: "10 ms to 20 ms", "640 ms to 1.28 s", "under 10 ms"; ends that are
 * equal: "50 ms".
 */
struct fmt watch_range(uint64_t from_ns, uint64_t to_ns, uint64_t tick_ns);

/*
 * Append what of a leak a site that grows does not show: the first thing that is missing, "19
 * blocks are too few to tell". Nothing where all is seen.
 */
void watch_doubt(struct str *s, const struct evidence *x);

/* Why something is no steady growth: "it rose and then levelled off". */
const char *watch_reason(enum growth_reason reason);

#endif
