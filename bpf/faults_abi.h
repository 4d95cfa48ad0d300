/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of the groups `faults` and `major`: page faults by process, area of memory and file, and
 * the names of those files. Included by both sides.
 */
#ifndef BPF_FAULTS_ABI_H
#define BPF_FAULTS_ABI_H

#include "bpf/trace_abi.h"

/* The processor's error code of a page fault: TRACE_FAULT, TRACE_FAULT_MAJOR; a[2]. */
enum trace_fault_bits {
	TRACE_FAULT_PRESENT = 1,	/* there is a page: copy on write, or a protection */
	TRACE_FAULT_WRITE = 2,
	TRACE_FAULT_USER = 4,		/* not by the kernel for a system call */
	TRACE_FAULT_FETCH = 16,		/* of an instruction */
	TRACE_FAULT_NO_ACCESS = 1 << 20, /* not the processor's: nothing else than the above is known */
};

#define TRACE_FAULT_AREA_SHIFT	32	/* a[2] has the area, enum fault_area, from this bit on */

enum fault_area {
	FAULT_UNKNOWN,			/* this kernel cannot say, or could not at that moment */
	FAULT_NOWHERE,			/* in no area: a wild address */
	FAULT_ANONYMOUS,
	FAULT_ADVISED,			/* anonymous, with MADV_HUGEPAGE */
	FAULT_HEAP,			/* of the program break */
	FAULT_STACK,			/* of the first thread */
	FAULT_STACK_GROWTH,		/* below it, which makes it longer */
	FAULT_FILE_PRIVATE,
	FAULT_FILE_SHARED,
	FAULT_SHMEM,			/* tmpfs, shared: POSIX and System V, shared anonymous, memfd */
	FAULT_HUGETLB,
	FAULT_SPECIAL,			/* [vdso] and others that are made by the kernel */
	FAULT_NR_AREAS
};

/* fault_rows, major_rows: this -> struct fault_row, struct major_row */
struct fault_key {
	__u64 inode;			/* 0: no file */
	__u32 device;			/* as the kernel has it: major << 20 | minor */
	__u32 tgid;
	__u32 range;			/* of the file: its offset >> shift */
	__u16 area;			/* enum fault_area */
	__u16 shift;			/* bytes of a range: 1 << shift; 0: not by offset */
};

enum fault_access {
	FAULT_READ,
	FAULT_WRITE,
	FAULT_FETCH,
	FAULT_READ_PRESENT,		/* the same, where a page is there */
	FAULT_WRITE_PRESENT,		/* copy on write, or a first write to a page that was read */
	FAULT_FETCH_PRESENT,
	FAULT_NO_ACCESS,		/* read or write: perf events do not say */
	FAULT_NR_ACCESSES
};

struct fault_row {
	__u64 faults[FAULT_NR_ACCESSES];	/* each fault is in one of them */
	__u64 by_kernel;			/* of them: for a system call */
	char comm[TRACE_COMM_BYTES];		/* the process's name as the row was made */
};

struct major_row {
	__u64 faults;
	char comm[TRACE_COMM_BYTES];
};

/* fault_programs: this -> struct fault_program; with TRACE_FAULTS_BY_PROGRAM alone */
struct fault_program_key {
	__u64 begun_ns;			/* struct trace_target */
	__u32 tgid;
	__u32 pad;
};

struct fault_program {
	__u64 faults;
	__u64 major;			/* counted apart, at their end */
};

/* fault_files, major_files: this -> struct fault_file */
struct fault_file_key {
	__u64 inode;
	__u32 device;
	__u32 pad;
};

#define FAULT_PATH_BYTES	1024
#define FAULT_NAME_BYTES	256

/* The path, last name first: names that each end with a NUL, `bytes` in all. */
struct fault_file {
	__u16 bytes;
	__u8 cut;			/* names before the first are missing */
	__u8 deleted;			/* the file had no name in any directory */
	char names[FAULT_PATH_BYTES];
};

/* fault_sampling: 0 -> this, for each processor. */
struct fault_sampling {
	__u64 last_ns;			/* the last stack was copied then */
	__s64 allowed_bytes;		/* may be copied at once */
	__u32 every;			/* about one of so many has a stack */
	__u32 gap, left;		/* this time one of so many; how many of them are to come */
	__u32 pad;
};

/*
 * Stacks of faults that are copied, on each processor: 4 MB a second, and so much at once after a
 * time of rest; at least one fault of so many has a stack.
 */
#define FAULT_STACK_NS_PER_BYTE	256
#define FAULT_STACK_BURST	(1ull << 20)
#define FAULT_MAX_GAP		65536u

#endif
