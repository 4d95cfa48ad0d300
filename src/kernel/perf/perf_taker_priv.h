/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the taker share: records begun, counted, handed over. */
#ifndef KERNEL_PERF_PERF_TAKER_PRIV_H
#define KERNEL_PERF_PERF_TAKER_PRIV_H

#include "src/kernel/perf/perf_taker.h"

/* Who and when: of samples their beginning, of others their end. */
struct perf_who {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct perf_sample {
	struct perf_who who;
	uint64_t ip, address;
	uint32_t flags;			/* enum trace_flags */
	size_t bytes;			/* of the stack, in t->tail */
};

/* A record of a thread, with the name that it has. */
struct trace_record perf_record(const struct perf_taker *t, enum trace_kind kind,
				const struct perf_who *w);

/* Does the filter by name let it through? */
bool perf_passes(const struct perf_taker *t, const struct trace_record *r);

/* Hand it over if its kind is wanted and it is not too small. 0, or -errno of take(). */
int perf_hand_over(struct perf_taker *t, const struct trace_record *r, const void *tail);

/* The same, and count it: what passes. */
int perf_count(struct perf_taker *t, const struct trace_record *r, const void *tail);

/* Its path is to be known; for areas_read(), with the taker. */
void perf_note_file(void *taker, const struct area_piece *p, const char *path);

/* False: it is none. */
bool perf_sample_read(struct perf_taker *t, const struct perf_kind *kind,
		      const struct perf_event_header *h, struct perf_sample *s);

/* A page fault, or a counter that has advanced by its period. 0 or -errno. */
int perf_sample_take(struct perf_taker *t, const struct perf_kind *kind,
		     const struct perf_sample *s);

#endif
