/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outstanding allocations of the kernel, summed up by stack, by cache and by sort, from the tables
 * of the group kmem (bpf/kmem_abi.h).
 *
 * All numbers are multiplied by the sampling factor: exact where it is 1, estimates otherwise.
 */
#ifndef ANALYZE_TRACE_KMEM_SUMS_H
#define ANALYZE_TRACE_KMEM_SUMS_H

#include "src/base/vec.h"
#include "src/kernel/kernel_rows.h"

struct kmem_sum {
	uint64_t objects, bytes;		/* outstanding */
	int64_t grown_objects, grown_bytes;	/* since the look before */
	uint64_t allocated, freed;		/* objects, since the start */
	uint64_t reused;			/* of `freed`: no free of it was seen */
	uint64_t old_objects, old_bytes;	/* outstanding and older than asked for */
};

struct kmem_row {
	uint64_t key;
	const struct kmem_site *site;		/* one of those in it; of a rows' table */
	struct kmem_sum sum;
};

struct kmem_sums {
	VEC(struct kmem_row) stacks, caches;	/* by outstanding bytes, most first */
	struct kmem_sum sort[KMEM_NR_SORTS], all;
};

struct kmem_tables {
	const struct kernel_rows *sites, *before;	/* `before`: NULL = no look before */
	const struct kernel_rows *objects;		/* NULL: ages are not asked for */
	uint64_t born_before_ns;			/* CLOCK_MONOTONIC: older are old */
	uint64_t sample;
};

/* 0 or -ENOMEM. The tables must outlive it. */
int kmem_sums_make(struct kmem_sums *s, const struct kmem_tables *t);

/*
 * Where a stack begins that people want to see: at the caller of the allocator, where that is
 * known and in it.
 */
unsigned kmem_first_frame(const struct kmem_site *site);

void kmem_sums_fini(struct kmem_sums *s);

#endif
