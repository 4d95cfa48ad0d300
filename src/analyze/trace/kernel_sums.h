/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel events of one process summed up for its heap: by kind, detail, stack and the call site of
 * the memory they are about, and over time. What it gives is struct heap_kernel_row and
 * heap_kernel_bin (src/model/heap_kernel.h), with numbers of the trace and of the ledger in place
 * of the heap's: `node` is the stack's number, `site` the ledger's. kernel_join() makes them the
 * heap's.
 *
 * Bounded: events that no row has room for are counted; bins become longer as they become many.
 */
#ifndef ANALYZE_TRACE_KERNEL_SUMS_H
#define ANALYZE_TRACE_KERNEL_SUMS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/event_class.h"
#include "src/model/heap.h"

#define KERNEL_BIN_NS	10000000ull	/* the first length */

/* All zero is empty. */
struct kernel_sums {
	VEC(struct heap_kernel_row) rows;
	VEC(struct heap_kernel_bin) bins;	/* in no order */
	struct hash_map row_at, bin_at;
	uint64_t bin_ns;
	uint64_t rows_lost, bins_lost;		/* events */
};

/* What an event is about. */
struct kernel_about {
	enum heap_kernel_of of;
	uint32_t site;			/* the ledger's number; HEAP_NO_SITE: none */
};

/*
 * Add a record with the number of its stack (0: none), at `time_ns` on the heap's axis. What there
 * is no memory for is counted as lost.
 */
void kernel_sums_add(struct kernel_sums *s, const struct trace_record *r, uint32_t stack,
		     struct kernel_about about, uint64_t time_ns);

/* The record's detail as rows have it. */
uint32_t kernel_sums_detail(const struct trace_record *r);

/* By time, then kind. */
void kernel_sums_sort_bins(struct kernel_sums *s);

void kernel_sums_fini(struct kernel_sums *s);

#endif
