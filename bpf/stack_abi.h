/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of threads: the table of the group `stack`, and a[2] of TRACE_SEGV. Both sides. */
#ifndef BPF_STACK_ABI_H
#define BPF_STACK_ABI_H

#include "bpf/trace_abi.h"

enum stack_sort {
	STACK_UNKNOWN,
	STACK_MAIN,		/* the kernel made it and lets it grow up to RLIMIT_STACK */
	STACK_THREAD,		/* a mapping with the thread's control block, above a guard */
	STACK_OTHER,		/* a mapping that the stack pointer is in: coroutines, signals */
	STACK_NR_SORTS
};

/* stack_threads: this -> struct stack_row */
struct stack_key {
	__u64 start_ns;		/* of the thread: numbers are used again */
	__u32 tid, pad;
};

/* STACK_UNKNOWN: all but the last three are 0. */
struct stack_row {
	__u64 depth;		/* from the top to the end of the deepest page touched; bytes */
	__u64 limit;		/* 0: unlimited */
	__u64 top;
	__u32 tgid;
	__u32 sort;		/* enum stack_sort */
	char comm[TRACE_COMM_BYTES];
};

/* A record for each doubling of a stack's depth from here on, unless --min-size says otherwise. */
#define STACK_FIRST_BYTES	(256u << 10)

/* a[2] of TRACE_SEGV: the signal, enum stack_sort, flags, and si_code from bit 32 on. */
#define STACK_SIGNAL_MASK	0xffu
#define STACK_SORT_SHIFT	8
#define STACK_SORT_MASK		0xfu
#define STACK_CODE_SHIFT	32

enum stack_flags {
	STACK_HANDLED = 1 << 12,	/* the process has a handler */
	STACK_HIT_GUARD = 1 << 13,	/* the address is in the guard, whose size is a[5] */
	STACK_NEIGHBOUR = 1 << 14,	/* a mapping that ends at a[5] is too near below */
	STACK_NO_AREAS = 1 << 15,	/* this kernel cannot look up areas */
};

#define STACK_GUARD_GAP		(1u << 20)	/* stack_guard_gap: 256 pages */

#endif
