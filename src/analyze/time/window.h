/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was allocated in a stretch of time and is still there at its end, by call site.
 *
 * Live blocks have their births: where the stretch ends with the heap that is exact. Of an earlier
 * end two things are known. What is live at the end of the heap was live then, too; and what a site
 * held when the stretch began and when it ended is in the series, as far as that has the site. Of
 * what it held at the end as much as it held at the beginning may be older, and what is both older
 * and live at the end of the heap is. So there is a least and a most.
 */
#ifndef ANALYZE_TIME_WINDOW_H
#define ANALYZE_TIME_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/heap.h"

#define WINDOW_UNKNOWN UINT64_MAX

struct window_row {
	uint32_t site;
	/* equal where it is exact; most_bytes WINDOW_UNKNOWN: the series does not have the site */
	uint64_t least_bytes, most_bytes;
	/* of these are live at the end of the heap; estimates in sampled mode, as all bytes here */
	uint64_t kept_bytes, kept_blocks;
};

struct window {
	struct window_row *row;		/* the largest least_bytes first, then most_bytes, site */
	uint32_t nr;			/* sites without anything are left out */
	bool exact;			/* the stretch ends with the heap: from births alone */
};

/* From from_ns to to_ns, both of it; on the heap's axis of time. 0 or -ENOMEM. */
int window_init(struct window *out, const struct heap *h, uint64_t from_ns, uint64_t to_ns);
void window_fini(struct window *w);

#endif
