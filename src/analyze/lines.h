/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source lines hold the memory: sites grouped by the frame that answers for them.
 *
 * Many stacks end in the same line; a ranking of stacks splinters it.
 */
#ifndef ANALYZE_LINES_H
#define ANALYZE_LINES_H

#include "src/names/names.h"
#include "src/analyze/rank.h"

struct line {
	const struct frame_name *frame; /* as names_responsible(); NULL: stack unknown */
	struct weight weight;
	uint32_t nr_sites;
};

struct lines {
	struct line *line; /* largest first */
	uint32_t nr, nr_all; /* listed; lines that there are */
	struct weight total; /* over all sites that pass */
};

/* The `top` first lines, 0: all. 0 or -ENOMEM. */
int lines_rank(const struct heap *h, const struct selection *s, struct names *n, enum rank_key key,
	       uint64_t top, struct lines *out);

void lines_fini(struct lines *l);

#endif
