/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel did about the memory of a heap's process (`--trace`): sums of its events by user
 * stack and by the block they are about, and counts over time. Part of struct heap.
 *
 * Kinds are those of the kernel's events (enum trace_kind, bpf/trace_abi.h), details those of their
 * kind: of page faults HEAP_KERNEL_AREA and the bits above it. Times are on the heap's axis.
 */
#ifndef MODEL_HEAP_KERNEL_H
#define MODEL_HEAP_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_KERNEL_MAX_KINDS	128	/* kinds are less than this */
#define HEAP_KERNEL_MAX_ROWS	(1u << 20)
#define HEAP_KERNEL_MAX_BINS	(1u << 16)

/* Detail of a page fault: enum fault_area (bpf/faults_abi.h), and how it came about. */
#define HEAP_KERNEL_AREA	0xff
#define HEAP_KERNEL_WRITE	0x100
#define HEAP_KERNEL_PRESENT	0x200	/* there was a page: copy on write, a first write */

/* What an event is about, as the ledger knew it at most some 10 ms later. */
enum heap_kernel_of {
	HEAP_KERNEL_OF_NOTHING,		/* it has no address, or no memory of the heap is there */
	HEAP_KERNEL_OF_BLOCK,		/* a block that was live: `site` is its call site */
	HEAP_KERNEL_OF_MAPPING,		/* a mapping made through mmap: `site` in map_sites */
	HEAP_KERNEL_OF_AGENT,		/* caused by pmm's own agent in the process */
	HEAP_KERNEL_OF_UNKNOWN,		/* it could not be looked up */
	HEAP_KERNEL_NR_OF,
};

/* Whether events were looked for, and how much of them was seen. All zero: they were not. */
struct heap_kernel {
	bool traced;
	bool stacks;			/* events have user stacks */
	/* stacks of 1 of so many page faults; 0: as many as can be */
	uint32_t sample;
	/* bit per event class that was asked for (event_class.h) */
	uint64_t classes;
	uint64_t unseen_classes;	/* of them: cannot be seen here, or in part */
	uint64_t bin_ns;		/* length of the bins */
	/* stacks that are complete, and all that were taken, of all traced processes */
	uint64_t complete_stacks, all_stacks;
	/* events that no row, no bin had room for */
	uint64_t rows_lost, bins_lost;
	/* page faults of the process, each counted in the kernel; of them: waited for a device */
	bool faults_counted;
	uint64_t faults, major_faults;
	char *unseen;			/* why, a sentence for each; "" = none. Never NULL */
};

/* One kind's events, as far as they are known without their records. */
struct heap_kernel_kind {
	uint32_t kind;
	/*
	 * of this process: counted in the kernel where heap_kernel.faults_counted says so, else
	 * the sum of the rows
	 */
	uint64_t events;
	/* of all traced processes: the ring was full; a table was full or a program interrupted */
	uint64_t lost, dropped;
};

/* Events of one kind, detail, user stack, and call site of what they are about. */
struct heap_kernel_row {
	uint32_t kind, detail;
	uint32_t node;			/* index into nodes, innermost frame; 0: no stack */
	uint32_t site;			/* index into sites or map_sites; HEAP_NO_SITE: none */
	uint8_t of;			/* enum heap_kernel_of */
	uint64_t events;		/* estimates, where one record stands for several */
	uint64_t records;		/* that they are estimated from */
	uint64_t failed;
	uint64_t bytes, ns, max_ns;	/* as far as the kind has such */
	uint64_t first_ns, last_ns;
};

/* Events of one kind in [time_ns, time_ns + heap_kernel.bin_ns). By time, then kind. */
struct heap_kernel_bin {
	uint64_t time_ns;
	uint32_t kind;
	uint32_t reserved;
	uint64_t events, bytes, ns;
};

#endif
