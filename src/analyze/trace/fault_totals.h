/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults as the kernel has counted them, summed up in four ways: by area of memory, by file,
 * by range of a file, by process.
 */
#ifndef ANALYZE_TRACE_FAULT_TOTALS_H
#define ANALYZE_TRACE_FAULT_TOTALS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/fault_area.h"
#include "src/kernel/kernel_rows.h"

struct fault_sum {
	uint64_t faults;			/* all, however they ended */
	uint64_t access[FAULT_NR_ACCESSES];	/* each of `faults` is in one of them */
	uint64_t by_kernel;			/* of `faults`: for a system call */
	uint64_t major;				/* counted apart, at their end */
};

struct fault_file_sum {
	uint32_t device;
	uint64_t inode;
	struct fault_sum sum;
};

struct fault_range_sum {
	uint32_t device;
	uint64_t inode;
	uint64_t start, bytes;			/* of the file */
	struct fault_sum sum;
};

struct fault_process_sum {
	uint32_t tgid;
	char comm[TRACE_COMM_BYTES];		/* that of the most faults of one kind */
	uint64_t comm_faults;			/* how many those are */
	uint64_t area[FAULT_NR_AREAS];		/* faults */
	struct fault_sum sum;
	uint64_t swapped_in;			/* of sum.major: what is in no file */
};

struct fault_totals {
	struct fault_sum area[FAULT_NR_AREAS];
	VEC(struct fault_file_sum) files;	/* most faults first, then most major ones */
	VEC(struct fault_range_sum) ranges;
	VEC(struct fault_process_sum) processes;
	struct hash_map file_at, range_at, process_at;
};

/* Sum up KERNEL_TABLE_FAULTS and KERNEL_TABLE_MAJOR; `t` is all zero. 0 or -ENOMEM. */
int fault_totals_make(struct fault_totals *t, const struct kernel_rows *faults,
		      const struct kernel_rows *major);

void fault_totals_fini(struct fault_totals *t);

#endif
