/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several heaps compared: what each line, function, module and stack held, held at the peak and did
 * in each of them.
 *
 * Heaps are added one after the other; each is matched with what is known from those before. What
 * is the same in two heaps is decided by names, as addresses differ between processes and builds:
 * functions by name, file and module, the lines of a function by number and by order (lines move
 * between builds), stacks by their functions. Where the build ID of a module is the same in both,
 * its code is compared by offset, exactly. doc/diff.md says it in full.
 *
 * In each of the four lists the rows of a heap add up to its totals, to the byte. Nothing of a heap
 * or its names is kept: both may be released after diff_add().
 */
#ifndef ANALYZE_DIFF_DIFF_H
#define ANALYZE_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/filter.h"
#include "src/analyze/rank.h"
#include "src/names/names.h"

#define DIFF_MAX_SIDES	128u

/* Figures of each row. */
enum diff_metric {
	DIFF_LIVE_BYTES,
	DIFF_LIVE_BLOCKS,
	DIFF_PEAK_BYTES,
	DIFF_PEAK_BLOCKS,
	DIFF_ALLOCATED_BYTES,
	DIFF_ALLOCATIONS,
	DIFF_TEMPORARY,
	DIFF_LEAKED_BYTES,	/* definitely and indirectly lost; 0 without a search */
	DIFF_LEAKED_BLOCKS,
};
#define DIFF_NR_METRICS (DIFF_LEAKED_BLOCKS + 1)

/* What rows are sorted and judged by. */
enum diff_key {
	DIFF_LIVE,
	DIFF_PEAK,
	DIFF_ALLOCATED,
	DIFF_CALLS,
	DIFF_TEMPORARIES,
	DIFF_LEAKED,
};
#define DIFF_NR_KEYS (DIFF_LEAKED + 1)
extern const char *const diff_key_name[DIFF_NR_KEYS + 1];	/* ends with NULL */

/* Does the heap know it? Not all were searched for leaks, and another tool may know less. */
bool diff_known(const struct heap *h, enum diff_key key);

/* The metric that decides, and those that are shown of bytes and number; DIFF_NR_METRICS: none. */
enum diff_metric diff_metric_of(enum diff_key key);
enum diff_metric diff_bytes_of(enum diff_key key);
enum diff_metric diff_count_of(enum diff_key key);

enum diff_list { DIFF_LINES, DIFF_FUNCTIONS, DIFF_MODULES, DIFF_STACKS };
#define DIFF_NR_LISTS (DIFF_STACKS + 1)

/* What a row, or a frame of a stack, is called; names are those of the latest heap that has it. */
struct diff_name {
	const char *function, *file, *module;	/* NULL: not known */
	uint32_t line;				/* 0: not known */
	uint64_t offset;			/* in the module, where there is no function */
	bool mark;				/* no frame: says why the stack ends */
};

/* What could not be compared with another heap, by the figures of one. */
struct diff_unmatched {
	/* no name, and another build of the module is in the other heap */
	int64_t unnamed[DIFF_NR_METRICS];
	/* no name and no build ID: compared by the offset in a file of the same name */
	int64_t guessed[DIFF_NR_METRICS];
	int64_t unknown[DIFF_NR_METRICS];	/* the stack is not known */
	const char *module;			/* one without names; NULL: none */
};

struct diff;

/* An empty comparison; diff_free(). NULL when out of memory. */
struct diff *diff_new(void);
void diff_free(struct diff *d);

/*
 * Add a heap, as far as the selection (NULL: all) passes it; `none`: nothing of it does. 0,
 * -ENOMEM, -ENOSPC (too many different names, stacks or heaps); the comparison is of no use then.
 */
int diff_add(struct diff *d, const struct heap *h, struct names *n, const struct selection *s,
	     bool none);

/* How many heaps were added. The totals of one, DIFF_NR_METRICS of them. */
unsigned diff_sides(const struct diff *d);
const int64_t *diff_total(const struct diff *d, unsigned side);

/* Rows of a list are numbered from 0. The figures of one in a heap. Its name. */
uint32_t diff_rows(const struct diff *d, enum diff_list list);
const int64_t *diff_values(const struct diff *d, enum diff_list list, uint32_t row, unsigned side);
struct diff_name diff_name_of(const struct diff *d, enum diff_list list, uint32_t row);

/* Frames of a row of DIFF_STACKS, innermost first: the one after `at`, from 0 on; 0: no more. */
uint32_t diff_next_frame(const struct diff *d, uint32_t row, uint32_t at, struct diff_name *out);

/* What a heap has that could not be compared. Of two heaps. */
struct diff_unmatched diff_unmatched(const struct diff *d, unsigned side);

/* Rows of a list by what changed between two heaps. */
struct diff_ranking {
	uint32_t *row;		/* largest change first, whatever its sign */
	uint32_t nr, nr_all;	/* listed; that changed */
	/* of all that changed: what their changes that add, and that take off, come to */
	int64_t more, less;
};

/* The `top` first rows (0: all) whose figure by `key` changed. 0 or -ENOMEM. */
int diff_rank(const struct diff *d, enum diff_list list, enum diff_key key, unsigned before,
	      unsigned after, uint64_t top, struct diff_ranking *out);
void diff_ranking_fini(struct diff_ranking *r);

#endif
