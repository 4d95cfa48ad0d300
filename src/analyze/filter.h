/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sites and blocks the user wants to see.
 *
 * Filters on the stack (function, file, module) pass or stop whole sites: at least one frame must
 * match all the patterns given. Filters on the block (thread, size, age) are known only for what is
 * live, so with one of them figures come from the live blocks that pass, and what was freed is
 * unknown.
 */
#ifndef ANALYZE_FILTER_H
#define ANALYZE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/names/names.h"
#include "src/base/fmt.h"
#include "src/model/heap.h"

struct filter {
	const char *function, *file, *module; /* shell patterns, or parts of the name; NULL: any */
	const char *thread;		      /* name (pattern or part) or number; NULL: any */
	struct fmt_range size_bytes, age_ns;
	bool by_size, by_age; /* the ranges above are in use */
};

/* What a filter lets pass of one heap. */
struct selection {
	const struct heap *heap;
	const struct filter *filter;	   /* NULL: everything */
	bool from_blocks;		   /* only live_* are known */
	uint8_t *site;			   /* 1: passes; by site; NULL: all pass */
	uint8_t *thread;		   /* 1: passes; by thread; NULL: all pass */
	int64_t *live_bytes, *live_blocks; /* by site; NULL: the sites' own */
	uint64_t nr_blocks;		   /* live blocks in the capture that pass */
};

bool filter_by_stack(const struct filter *f);
bool filter_by_block(const struct filter *f);

/*
 * Does text match a shell pattern, or, where the pattern has none of *?[, contain it? NULL text
 * never does.
 */
bool filter_match(const char *pattern, const char *text);

/*
 * Apply a filter (NULL: none). Both must outlive the selection. Names are asked for only when the
 * filter is on the stack. 0; -ENOENT when a thread filter names no thread there is (e says so),
 * -ENOMEM.
 */
int selection_init(struct selection *s, const struct heap *h, struct names *n,
		   const struct filter *f, struct err *e);

void selection_fini(struct selection *s);

bool selection_has_block(const struct selection *s, const struct heap_block *b);

#endif
