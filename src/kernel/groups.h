/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of programs: each is an object of its own (bpf/NAME.bpf.c) that is loaded or fails by
 * itself; and the tables that some of them count in.
 */
#ifndef KERNEL_GROUPS_H
#define KERNEL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernel_group {
	KERNEL_LIFE,
	KERNEL_CALLS,
	KERNEL_RECLAIM,
	KERNEL_COMPACTION,
	KERNEL_MIGRATE,
	KERNEL_THP,
	KERNEL_OOM,
	KERNEL_FILES,
	KERNEL_STACK,
	KERNEL_KMEM,
	KERNEL_RSS,
	KERNEL_CACHE,
	KERNEL_FAULTS,
	KERNEL_MAJOR,
	KERNEL_PMC,
	KERNEL_LIBC,
	KERNEL_NR_GROUPS
};

enum kernel_table {
	KERNEL_TABLE_NONE,
	KERNEL_TABLE_SHRINKERS,		/* bpf/reclaim_abi.h */
	KERNEL_TABLE_LISTS,
	KERNEL_TABLE_KMEM_SITES,
	KERNEL_TABLE_KMEM_CACHES,
	KERNEL_TABLE_KMEM_COUNTS,
	KERNEL_TABLE_KMEM_OBJECTS,
	KERNEL_TABLE_RSS,
	KERNEL_TABLE_CACHE_FILES,
	KERNEL_TABLE_CACHE_USERS,
	KERNEL_TABLE_FAULTS,	/* struct fault_key, struct fault_row; bpf/faults_abi.h */
	KERNEL_TABLE_FAULT_FILES, /* struct fault_file_key, struct fault_file */
	KERNEL_TABLE_MAJOR,	/* struct fault_key, struct major_row */
	KERNEL_TABLE_MAJOR_FILES,
	KERNEL_TABLE_STACKS,	/* struct stack_key, struct stack_row; bpf/stack_abi.h */
	KERNEL_TABLE_CALL_FILES,	/* of mmap() */
	KERNEL_TABLE_FAULT_PROGRAMS, /* struct fault_program_key, struct fault_program */
	KERNEL_NR_TABLES
};

/* A perf event that a program of section "perf_event" is attached to on each processor. */
struct group_perf {
	const char *program;
	uint32_t type;			/* perf_event_attr.type */
	uint64_t config, period;
	uint32_t kind;			/* of a counter's samples; 0: it is no counter */
};

#define KERNEL_NR_COUNTERS	7

/* What class `pmc` can sample; kernel_options.counters has a bit for each. */
extern const struct group_perf kernel_counters[KERNEL_NR_COUNTERS + 1];

/* The hardware's counters, as bits. */
uint32_t kernel_hardware_counters(void);

/*
 * A helper of the kernel's that newer kernels have: programs whose names end with `with` need it,
 * those that end with `without` take their place where it is missing.
 */
struct group_helper {
	const char *name;		/* of enum bpf_func_id */
	const char *with, *without;
	const char *lacking;		/* what is missing then; a sentence without its full stop */
};

struct kernel_group_info {
	const char *name;
	const unsigned char *object, *object_end; /* NULL: not in this build */
	/* the tracepoint whose number of arguments is in trace_config.nr_args; NULL: none */
	const char *varying;
	/*
	 * Tracepoints that only some kernels have, and others have another one, or do without:
	 * nothing is missing without them. Ends with NULL; NULL: none.
	 */
	const char *const *spare;
	const struct group_perf *perf;	/* ends with a NULL program; NULL: none */
	const struct group_helper *helper; /* NULL: all programs run on all kernels */
	/*
	 * Its programs meet themselves only as they read user memory that is not there: that is no
	 * event, and nothing is missed.
	 */
	bool meets_itself;
	bool libc_probes;		/* its program is for those of kernel_options.libc */
};

extern const struct kernel_group_info kernel_groups[KERNEL_NR_GROUPS];

struct kernel_table_info {
	enum kernel_group group;
	const char *map;
	size_t key_bytes, value_bytes;
	/* values are per processor: they are summed as a list of uint64_t */
	bool summed;
	bool lasting;			/* summed since the start, not since the result before */
	size_t counted_bytes;		/* not summed: so many bytes of a value are counts */
	bool large;			/* read where it is asked for */
};

extern const struct kernel_table_info kernel_tables[KERNEL_NR_TABLES];

#endif
