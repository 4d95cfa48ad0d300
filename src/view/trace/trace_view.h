/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a trace as a document: what it covered and what it lost, first; then sums by kind,
 * times as histograms, processes, stacks.
 */
#ifndef VIEW_TRACE_TRACE_VIEW_H
#define VIEW_TRACE_TRACE_VIEW_H

#include "src/analyze/trace/heap_rows.h"
#include "src/analyze/trace/trace_rank.h"
#include "src/document/doc.h"
#include "src/kernel/kernel_rows.h"
#include "src/kernel/ksyms.h"
#include "src/kernel/mounts.h"
#include "src/kernel/slabinfo.h"
#include "src/kernel/stack_table.h"
#include "src/kernel/vmstat.h"
#include "src/names/names.h"
#include "src/names/stack_names.h"

/* One process's heap, of class `heap`. */
struct trace_heap_result {
	pid_t pid;
	const char *comm;
	const struct heap *heap;	/* NULL: not known */
	struct names *names;
	const struct heap_rows *rows;
	const char *why;		/* it is not known */
};

/* A tracked process's faults: its kernel rows. */
struct trace_block_result {
	pid_t pid;
	const struct heap *heap;
	struct names *names;
};

struct libc_files;

struct trace_result {
	const char *scope;		/* "process 4711 and its children" */
	const char *source;		/* "bpf", "perf"; for machines */
	uint64_t start_realtime_ns, duration_ns;
	uint32_t classes;		/* that were asked for */
	uint32_t stack_bytes;
	const struct trace_totals *totals;
	const struct trace_counts *counts;		/* of each kind */
	const struct kernel_group_state *groups;	/* each */
	const struct kernel_rows *rows;			/* each table's; none where not read */
	/* NULL: no stacks were asked for; the totals' stacks have numbers of the table */
	const struct stack_table *stacks;
	struct stack_names *names;
	const uint64_t *stack_ends;	/* how many of all stacks ended so: enum user_stack_end */
	uint64_t mappings_lost;		/* the kernel's records of them that had no room */
	const char *no_mappings;	/* why there are no such records; NULL: there are */
	/* the machine's counters as the time began and ended; empty: not known */
	const struct vmstat *before, *after;
	struct ksyms *ksyms;		/* names of the kernel's functions; NULL: none */
	uint64_t min_ns;		/* what was shorter was counted only */
	enum trace_sort sort;		/* of processes and stacks */
	uint64_t top;			/* rows of a table; 0 = all */
	uint64_t frames;		/* of a stack in text; 0 = all */
	uint64_t min_bytes;		/* smaller events are counted only; 0: by class */
	const struct mounts *mounts;	/* NULL: not read */
	/* class `libc` */
	const struct libc_files *libc;			/* NULL: not looked for */
	bool libc_by_calls;				/* there are no probes to be seen */
	uint64_t libc_others;				/* calls that malloc has not made */
	uint64_t libc_unknown;				/* calls without a stack */
	/* class `kernel` */
	uint32_t kmem_sample;				/* 1 of so many objects is followed */
	uint64_t now_ns, older_ns;			/* ages from this on; 0: not asked for */
	const struct kernel_rows *sites_before;		/* at the result before; NULL: none */
	const struct slabinfo *slabs, *slabs_before;	/* now, at the start; NULL: not read */
	/* class `heap` */
	const struct trace_heap_result *heaps;
	size_t nr_heaps;
	const struct trace_block_result *blocks;
	size_t nr_blocks;
};

/* doc_fini() follows; trouble is in the document (doc_error()). */
void trace_document(struct doc *d, const struct trace_result *t);

/* Where events can be had from, if not from programs in the kernel. */
struct trace_list_form {
	const char *name;		/* "bpf", "perf", "figures": no events */
	struct kernel_group_state why;	/* with the cause and the remedy; of "bpf" nothing */
	struct kernel_group_state no_perf; /* of "figures": why there are no perf events either */
};

/* Which events work here: `groups` as a trial has left them. NULL: out of memory. */
struct table *trace_list_table(const struct kernel_group_state *groups,
			       const struct trace_list_form *form, const char *title);
void trace_list_document(struct doc *d, const struct kernel_group_state *groups,
			 const struct trace_list_form *form);

#endif
