/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the program by what is held through them: whatever a function allocated itself or
 * what it called, at any depth.
 *
 * All stacks have to be named for that, so it takes longer than the lines of lines.h.
 */
#ifndef ANALYZE_FUNCTIONS_H
#define ANALYZE_FUNCTIONS_H

#include "src/names/names.h"
#include "src/analyze/rank.h"

struct function_sum {
	/* one of its frames: function and module are those of all of them */
	const struct frame_name *frame;
	/* of the stacks that it is in, each counted once, however often it is in there */
	struct weight weight;
	uint32_t nr_sites;		/* stacks */
};

struct functions {
	struct function_sum *v;		/* largest first */
	uint32_t nr, nr_all;		/* kept, found */
	struct weight total;		/* over all sites that pass */
};

/* The `top` first (0: all). 0 or -ENOMEM. */
int functions_rank(const struct heap *h, const struct selection *s, struct names *n,
		   enum rank_key key, uint64_t top, struct functions *out);

void functions_fini(struct functions *f);

#endif
