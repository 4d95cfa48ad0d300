/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does memory grow? A line of least squares through the last samples, in integers.
 */
#ifndef KMOD_PMM_TREND_H
#define KMOD_PMM_TREND_H

#include "pmm_os.h"

#define PMM_TREND_MAX	64	/* samples */
#define PMM_TREND_MIN	8	/* before there are so many, nothing grows */

struct pmm_trend {
	u32 window;		/* samples used, PMM_TREND_MIN to PMM_TREND_MAX */
	u32 nr, next;
	struct {
		u64 time_ms, bytes;
	} samples[PMM_TREND_MAX];	/* a ring; `next` is the oldest once it is full */
};

void pmm_trend_init(struct pmm_trend *t, u32 window);

/* Samples come in order of time; one of the same millisecond takes the place of the last. */
void pmm_trend_add(struct pmm_trend *t, u64 time_ms, u64 bytes);

/* The line's slope; 0 with fewer than two samples. Values beyond +-2^62 are cut. */
s64 pmm_trend_bytes_per_s(const struct pmm_trend *t);

/*
 * Bytes gained steadily within the window, 0 if it does not grow: what the line gains from the
 * first to the last sample, if there are PMM_TREND_MIN samples, the lowest of each third of them
 * is above that of the third before, and that floor has risen by at least as much as memory ever
 * fell. So neither one step nor the ups and downs of a garbage collector are growth.
 */
u64 pmm_trend_growth(const struct pmm_trend *t);

#endif
