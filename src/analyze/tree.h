/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree with sums: from main down to what allocated, or from what allocated up to main.
 */
#ifndef ANALYZE_TREE_H
#define ANALYZE_TREE_H

#include "src/analyze/rank.h"

#define TREE_MAX_DEPTH HEAP_MAX_DEPTH

struct tree_limits {
	uint64_t depth;	    /* levels of frames, 0: all (up to TREE_MAX_DEPTH) */
	uint64_t top;	    /* children shown of each, 0: all */
	double min_percent; /* of the total; smaller children are not shown one by one */
};

struct tree_row {
	uint32_t node;	      /* 0: stack unknown */
	uint32_t more;	      /* not 0: stands for so many siblings not shown one by one */
	uint32_t depth;	      /* 0: outermost (top-down) or innermost (bottom-up) */
	struct weight weight; /* of all stacks through here */
	struct weight self;   /* of those that end here */
};

struct tree {
	struct tree_row *row; /* parents before children, largest first among siblings */
	size_t nr;
	struct weight total;
};

/* Sums from the outermost frame inward. *out: tree_fini(). 0 or -ENOMEM. */
int tree_top_down(const struct heap *h, const struct selection *s, enum rank_key key,
		  const struct tree_limits *limits, struct tree *out);

/* Sums from the innermost frame outward; frames inside the allocator are left out. 0 or -ENOMEM. */
int tree_bottom_up(const struct heap *h, const struct selection *s, enum rank_key key,
		   const struct tree_limits *limits, struct tree *out);

void tree_fini(struct tree *t);

#endif
