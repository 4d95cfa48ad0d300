/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: one heap as a document, and what the user may ask of it.
 */
#ifndef VIEW_REPORT_VIEW_H
#define VIEW_REPORT_VIEW_H

#include "src/analyze/filter.h"
#include "src/analyze/history.h"
#include "src/analyze/lines.h"
#include "src/analyze/trace/kernel_fault_rank.h"
#include "src/analyze/trace/kernel_rank.h"
#include "src/names/names.h"
#include "src/analyze/rank.h"
#include "src/base/fmt.h"
#include "src/document/doc.h"
#include "src/model/heap_lifetimes.h"
#include "src/model/stack_cut.h"

#define REPORT_SCHEMA "pmm-report/1.5"

enum report_shape { REPORT_LIST, REPORT_TOP_DOWN, REPORT_BOTTOM_UP };
#define REPORT_NR_SHAPES (REPORT_BOTTOM_UP + 1)

/* Lists that `top` cuts. */
enum report_list {
	REPORT_LINES,
	REPORT_FUNCTIONS,
	REPORT_BLOCKS,
	REPORT_SITES,
	REPORT_TREE,	/* nodes of the call tree that rows with `more` stand for */
	REPORT_MAP_SITES,
	/* of a heap that was traced */
	REPORT_KERNEL_FAULT_SITES,
	REPORT_KERNEL_FAULT_STACKS,
	REPORT_KERNEL_CALLS,
	REPORT_KERNEL_WAITS,
	REPORT_NR_LISTS
};

struct report_options {
	enum rank_key sort;
	bool sort_given; /* else live, or as rank_default() finds */
	uint64_t top;	 /* rows shown, 0: all */
	enum report_shape shape;
	uint64_t depth; /* frames shown, 0: all */
	bool depth_given;
	bool blocks; /* list blocks */
	bool functions; /* list functions with what is held through them */
	const char *source; /* what the user named, for hints; NULL: not known */
	struct filter filter;
};

struct report {
	const struct heap *heap;
	struct names *names;
	struct report_options opt;
	struct selection selection;
	struct ranking sites, map_sites;
	struct history history;
	struct lines lines;
	uint64_t left_out[REPORT_NR_LISTS]; /* rows that `top` leaves out of each */
	uint64_t lifetime[HEAP_NR_LIFETIMES];
	uint64_t *block, nr_blocks; /* the block list, largest first */
	double *site_error_bytes;   /* sampled: by site */
	uint32_t *depth;	    /* by node of the heap */
	struct stack_cut cut, map_cut;	/* of the lists of stacks */
	struct kernel_fault_lines fault_lines;
	struct kernel_fault_stack *fault_stack; /* most faults first */
	struct kernel_lines kernel_calls, kernel_waits;
	struct doc doc;
};

/* For people, a duration by the agent's clock: "30 ms", "under 10 ms". */
struct fmt report_duration(const struct heap *h, uint64_t ns);

/*
 * How long it ran, or was watched: finer than the agent's clock where the monitor knows it. For
 * people: "3.20 ms", "under 10 ms".
 */
uint64_t report_run_ns(const struct heap *h);
struct fmt report_run_time(const struct heap *h);

/* Can these be had together? 0, or -EINVAL with `e` set (exit_code 2). */
int report_check(const struct report_options *opt, struct err *e);

/* Does the heap know that? Another tool's profile may not. 0, or -ENOTSUP with `e` set. */
int report_check_known(const struct heap *h, const struct report_options *o, struct err *e);

/*
 * Build the report of a heap into r->doc; heap, names and the strings of the options must outlive
 * it. report_fini() in any case. 0, -ENOMEM, -ENOENT (a filter names nothing there is) with `e`
 * set.
 */
int report_init(struct report *r, const struct heap *h, struct names *n,
		const struct report_options *opt, struct err *e);

void report_fini(struct report *r);

/* Append "function 'a', size 16 B to any (of live blocks)". False: it is NULL or empty. */
bool report_filter_text(struct str *s, const struct filter *f);

/* What the figures of a heap lack: a table, which text shows only if there is anything. */
void report_warnings(struct doc *d, const struct heap *h);

#endif
