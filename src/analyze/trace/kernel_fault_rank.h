/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults of a heap: by the line that allocated the memory, with the code that touches it; by
 * the stack that touches. What pmm's own agent has caused is left out.
 */
#ifndef ANALYZE_TRACE_KERNEL_FAULT_RANK_H
#define ANALYZE_TRACE_KERNEL_FAULT_RANK_H

#include "src/base/vec.h"
#include "src/kernel/fault_area.h"
#include "src/model/heap.h"
#include "src/names/names.h"

/* Major faults and swap-ins are events of their own, which may be among the faults. */
struct kernel_faults {
	uint64_t faults, records;	/* records that the faults are estimated from */
	uint64_t present;		/* of them: there was a page */
	uint64_t major, swap_ins;
};

/* What faults are ranked by, where there are such; else major faults and swap-ins. */
static inline uint64_t kernel_faults_weight(const struct kernel_faults *f,
					    const struct kernel_faults *total)
{
	return total->faults ? f->faults : f->major + f->swap_ins;
}

/* Faults that met no page, nor one in swap. */
static inline uint64_t kernel_faults_first(const struct kernel_faults *f)
{
	uint64_t others = f->present + f->swap_ins;

	return f->faults > others ? f->faults - others : 0;
}

/* A line that touches memory of another line. */
struct kernel_toucher {
	uint32_t owner;			/* number of the line whose memory it is */
	const struct frame_name *frame;	/* NULL: the stack is not known */
	struct kernel_faults faults;
};

/* Memory: of the blocks or mappings of a line, else of an area. */
struct kernel_fault_line {
	uint8_t of;			/* enum heap_kernel_of */
	uint8_t area;			/* enum fault_area, of what is no block and no mapping */
	uint32_t number;		/* of it, for `owner` */
	const struct frame_name *frame;	/* of blocks and mappings; NULL: their stack is not known */
	uint32_t nr_sites;
	struct kernel_faults faults;
	uint32_t first_toucher, nr_touchers;	/* in `touchers`, those with the most first */
};

struct kernel_fault_lines {
	VEC(struct kernel_fault_line) lines;	/* blocks and mappings, then areas: most first */
	VEC(struct kernel_toucher) touchers;
	size_t nr_sites;		/* how many of the lines are of blocks and mappings */
	struct kernel_faults total;
};

/* 0 or -ENOMEM; kernel_fault_lines_fini() in any case. */
int kernel_fault_lines_rank(const struct heap *h, struct names *n, struct kernel_fault_lines *out);
void kernel_fault_lines_fini(struct kernel_fault_lines *l);

/* Faults of one stack. */
struct kernel_fault_stack {
	uint32_t node;			/* 0: not known */
	struct kernel_faults faults;
};

/* All of them, most faults first; free() *out. 0 or -ENOMEM. */
int kernel_fault_stacks_rank(const struct heap *h, struct kernel_fault_stack **out, size_t *nr);

#endif
