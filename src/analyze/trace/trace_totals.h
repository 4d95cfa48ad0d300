/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of kernel events: by kind, by process and kind, by stack and kind, by kind and detail.
 *
 * A record stands for `weight` events; counts, bytes and times are multiplied by it. If only some
 * events have a record it is added to its stack alone: all are counted in the kernel. Tables are
 * bounded: what no longer fits is counted in `left_out` and is in the sums by kind alone.
 */
#ifndef ANALYZE_TRACE_TRACE_TOTALS_H
#define ANALYZE_TRACE_TRACE_TOTALS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/event_class.h"

#define TRACE_HISTOGRAM_SLOTS	40	/* powers of two of ns, up to nine minutes */
#define TRACE_MAX_ROWS		(1u << 20)

struct trace_sum {
	uint64_t events, failed, bytes, ns, max_ns;
};

struct trace_kind_total {
	struct trace_sum sum;
	uint64_t histogram[TRACE_HISTOGRAM_SLOTS];	/* [k]: from 2^k ns, below 2^(k+1) */
};

/* One process's, one stack's or one detail's events of one kind. */
struct trace_row {
	uint32_t kind;
	uint32_t id;			/* pid, number of the stack, or trace_detail() */
	char comm[TRACE_COMM_BYTES];	/* of a process, its last */
	struct trace_sum sum;
};

struct trace_totals {
	struct trace_kind_total kind[TRACE_NR_KINDS];
	VEC(struct trace_row) processes, stacks, details;
	struct hash_map process_at, stack_at, detail_at;
	uint64_t left_out;
	uint64_t samples;		/* records that stand for several events */
};

#define TRACE_NO_STACK	UINT32_MAX

/* Add a record; `stack`: its number, TRACE_NO_STACK = none. */
void trace_totals_add(struct trace_totals *t, const struct trace_record *r, uint32_t stack);

/* Forget all; ready for the next interval. */
void trace_totals_clear(struct trace_totals *t);

void trace_totals_fini(struct trace_totals *t);

#endif
