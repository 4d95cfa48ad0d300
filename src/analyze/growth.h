/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a heap, or what one call site holds, grow steadily?
 *
 * Steady growth is a leak's mark: it continues to the end of what was seen, it is spread over time,
 * and the lowest points rise as well. A cache that filled up, the start of a program, a single
 * step, peaks that come and go are none of it. doc/watching.md says how that is decided and how
 * sure it is.
 */
#ifndef ANALYZE_GROWTH_H
#define ANALYZE_GROWTH_H

#include <stdint.h>

#include "src/base/vec.h"

#define GROWTH_MIN_POINTS	16
#define GROWTH_MIN_NS		10000000000ull	/* less says nothing */
#define GROWTH_MAX_POINTS	128		/* kept of a series */

struct growth_point {
	uint64_t time_ns;	/* middle of the looks it stands for */
	double bytes;		/* their mean */
	double low;		/* their least */
};

/*
 * Live bytes over time. All zero is empty. When full, neighbours are joined: any length, bounded
 * memory.
 */
struct growth_series {
	VEC(struct growth_point) points;
	uint32_t looks;		/* that a point stands for; 0 = 1 */
	uint32_t nr_open;	/* looks in `open` so far */
	/* the point being made; times from the first look, summed */
	struct growth_point open;
	uint64_t open_ns;
};

/* Add a look; time must not go back. 0 or -ENOMEM. */
int growth_add(struct growth_series *s, uint64_t time_ns, double bytes);
void growth_fini(struct growth_series *s);

enum growth_verdict {
	GROWTH_UNKNOWN,		/* not watched for long enough */
	GROWTH_NONE,
	GROWTH_STEADY,
};
#define GROWTH_NR_VERDICTS (GROWTH_STEADY + 1)

/* Why it is no steady growth. */
enum growth_reason {
	GROWTH_REASON_NONE,
	GROWTH_NO_TREND,	/* goes up and down, or falls, or stays */
	GROWTH_ONE_STEP,	/* rose at one moment */
	GROWTH_LEVELLED,	/* rose and then stayed */
	GROWTH_PEAKS_ONLY,	/* only the peaks rise, it returns to where it was */
	/* may be: blocks that were not known were freed meanwhile (growing.h) */
	GROWTH_TURNOVER,
};
#define GROWTH_NR_REASONS (GROWTH_TURNOVER + 1)

struct growth {
	enum growth_verdict verdict;
	enum growth_reason reason;	/* with GROWTH_NONE */
	uint64_t since_ns;		/* steady: from this time on; else the first look */
	uint64_t until_ns;
	double slope;			/* steady: bytes per second, ... */
	double slope_low, slope_high;	/* ... within these in 19 of 20 cases */
	double late_slope;		/* steady: bytes per second in the last third */
};

/* The verdict on a series. 0 or -ENOMEM. A few milliseconds at most. */
int growth_judge(const struct growth_series *s, struct growth *out);

/*
 * Nanoseconds until `left_bytes` are used up at `bytes_per_second`; UINT64_MAX when never, or not
 * within a hundred years.
 */
uint64_t growth_time_left(uint64_t left_bytes, double bytes_per_second);

/*
 * How far ahead a forecast may reach that rests on so long a time: what is forecast beyond that is
 * not known.
 */
uint64_t growth_forecast_ns(uint64_t seen_ns);

#endif
