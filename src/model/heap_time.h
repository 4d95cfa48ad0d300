/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a process over time beside its heap: the kernel's figures of it, seen from
 * outside, and what happened when. Part of struct heap (heap.h).
 */
#ifndef MODEL_HEAP_TIME_H
#define MODEL_HEAP_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Which figures of a point are known; the others are 0. */
enum heap_usage_known {
	HEAP_USAGE_TIMES = 1 << 0,	/* threads, page faults, CPU time */
	HEAP_USAGE_SIZES = 1 << 1,	/* resident bytes by kind, swapped bytes */
	HEAP_USAGE_PSS = 1 << 2,
	HEAP_USAGE_ALL = (1 << 3) - 1,
};

/* The kernel's figures of the process at one time; a series has them in order of time. */
struct heap_usage_point {
	uint64_t time_ns;
	uint8_t known;			/* enum heap_usage_known, at least one */
	uint32_t threads;		/* 0: it had ended, and its figures are the last ones */
	uint64_t minor_faults, major_faults;	/* of all threads since the process began */
	uint64_t user_ns, system_ns;	/* CPU time likewise, by the kernel's clock (10 ms) */
	uint64_t anon_bytes, file_bytes, shmem_bytes; /* resident; together VmRSS */
	uint64_t swap_bytes;
	uint64_t pss_bytes;		/* resident, with its share of what others have, too */
};

/* Why figures are missing in all points. Stored in captures. */
enum heap_usage_why {
	HEAP_USAGE_KNOWN,		/* they are not */
	HEAP_USAGE_NONE,		/* the kernel has no such file */
	HEAP_USAGE_DENIED,		/* it may not be read: another user's, or hidden */
	/* the process ended before it could be read, or reading it would have taken too long */
	HEAP_USAGE_DEAR,
	HEAP_USAGE_FAILED,
	HEAP_NR_USAGE_WHYS,
};

/* Of the series as a whole. */
struct heap_usage {
	bool sampled;			/* else there is none, and all below is 0 */
	uint8_t why, pss_why;		/* enum heap_usage_why */
	/* CPU time that reading took pmm; how long the process's page tables were gone through */
	uint64_t took_ns, pss_took_ns;
};

/* What happened to a process, as its monitor heard of it. Stored in captures. */
enum heap_mark_kind {
	HEAP_MARK_FORK,			/* it made a process: pid and name are the child's */
	HEAP_MARK_CHILD_EXEC,		/* a child executed a program, whose name it is */
	HEAP_NR_MARKS,
};

#define HEAP_MARK_NAME_BYTES	40
#define HEAP_MAX_MARKS		(1u << 16)

/* A series has them in order of time. */
struct heap_mark {
	uint64_t time_ns, last_ns;	/* of the first and the last of `count` such events */
	uint64_t count;			/* at least 1; pid and name are the first one's */
	uint32_t pid;			/* 0: not known */
	uint8_t kind;			/* enum heap_mark_kind; of a newer pmm: more */
	char name[HEAP_MARK_NAME_BYTES];	/* "" if unknown */
};

#endif
