/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's events of a heap, summed up: by kind; by kind and the line of the program that led
 * to them; by kind and detail. What pmm's own agent has caused is in the sums by kind alone.
 */
#ifndef ANALYZE_TRACE_KERNEL_RANK_H
#define ANALYZE_TRACE_KERNEL_RANK_H

#include "src/model/heap.h"
#include "src/names/names.h"

/* What is shown together; each kind is in one. */
enum kernel_part {
	KERNEL_PART_FAULTS,	/* page faults, major ones, swap-ins */
	KERNEL_PART_CALLS,	/* calls that make and change mappings */
	KERNEL_PART_WAITS,	/* time lost in reclaim and compaction */
	KERNEL_PART_OTHERS,	/* the rest, kinds that are not known among them */
};

enum kernel_part kernel_part_of(uint32_t kind);

struct kernel_sum {
	uint64_t events, records, failed, bytes, ns, max_ns;
};

/* One kind's events of the process. */
struct kernel_kind_sum {
	uint32_t kind;
	/* page faults as the kernel counted them, if it has; else what the rows stand for */
	uint64_t events;
	struct kernel_sum rows;		/* failures, bytes and time without the agent's */
	uint64_t by_agent;		/* of the rows' events */
	uint64_t lost, dropped;		/* of all traced processes */
};

/* Those of the kinds that there is something of, by kind; free() *out. 0 or -ENOMEM. */
int kernel_kinds_sum(const struct heap *h, struct kernel_kind_sum **out, size_t *nr);

/* Events of one kind whose stacks have the same answering frame. */
struct kernel_line {
	uint32_t kind;
	const struct frame_name *frame;	/* NULL: no stack */
	uint32_t node;			/* of the stack with the most of them */
	uint32_t nr_stacks;
	struct kernel_sum sum;
};

struct kernel_lines {
	struct kernel_line *line;
	uint32_t nr, nr_all;		/* listed; lines that there are */
};

/*
 * The `top` first lines of a part, 0 = all: calls by bytes, then by number; else by time, then by
 * number. 0 or -ENOMEM; kernel_lines_fini() in any case.
 */
int kernel_lines_rank(const struct heap *h, struct names *n, enum kernel_part part, uint64_t top,
		      struct kernel_lines *out);
void kernel_lines_fini(struct kernel_lines *l);

/* Events of one kind and detail (trace_detail(), src/kernel/event_class.h). */
struct kernel_detail {
	uint32_t kind, detail;
	struct kernel_sum sum;
};

/* Those of KERNEL_PART_OTHERS, by kind and detail; free() *out. 0 or -ENOMEM. */
int kernel_details_sum(const struct heap *h, struct kernel_detail **out, size_t *nr);

#endif
