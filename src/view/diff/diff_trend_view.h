/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many heaps compared, as a document: how the totals and each line, function, module and stack
 * grow.
 */
#ifndef VIEW_DIFF_DIFF_TREND_VIEW_H
#define VIEW_DIFF_DIFF_TREND_VIEW_H

#include "src/analyze/diff/diff_trend.h"
#include "src/document/doc.h"

#define DIFF_TREND_SCHEMA "pmm-diff-trend/1.0"

/* One of the heaps, which is gone by now. */
struct diff_trend_capture {
	const char *source;
	char comm[17];
	uint32_t pid;
	uint64_t taken_realtime_ns;
	bool complete;		/* nothing is missing that its report would warn of */
	bool sampled;
};

struct diff_trend_view {
	const struct diff *diff;
	enum diff_key key;
	uint64_t top;
	bool per_hour;			/* else per capture */
	const double *time;		/* of each heap, in hours or captures */
	const struct diff_trend_capture *capture;
	struct diff_trends rows[DIFF_NR_LISTS];
	uint64_t values[DIFF_MAX_SIDES];	/* of the row that is being made */
	struct doc doc;
};

/*
 * Make v->doc; the fields above `rows` are set by the caller, and what they point to outlives it.
 * diff_trend_view_fini() in any case. 0 or -ENOMEM.
 */
int diff_trend_view_init(struct diff_trend_view *v);
void diff_trend_view_fini(struct diff_trend_view *v);

#endif
