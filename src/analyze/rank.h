/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites in order of what they hold, held or did.
 */
#ifndef ANALYZE_RANK_H
#define ANALYZE_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/filter.h"
#include "src/model/heap.h"

enum rank_key { RANK_LIVE, RANK_PEAK, RANK_ALLOCATED, RANK_CALLS, RANK_TEMPORARY, RANK_NR };

/*
 * What holds the memory, as far as one can tell before being asked: what is live; in a program that
 * ended and gave back nine tenths of its peak, what it held then.
 */
enum rank_key rank_default(const struct heap *h);

/* The key that was asked for, else what fits: live blocks where those alone are known. */
enum rank_key rank_chosen(const struct heap *h, const struct selection *s, bool given,
			  enum rank_key key);

extern const char *const rank_key_name[RANK_NR + 1]; /* ends with NULL */

/* What a key measures of a site or a group of sites. */
struct weight {
	uint64_t bytes; /* 0 by RANK_TEMPORARY: only their number is known */
	uint64_t count; /* blocks or calls */
};

/* Is the key about a number of calls rather than bytes? */
bool rank_by_count(enum rank_key key);

/*
 * The weight of a site; 0 when the selection (NULL: everything) does not pass it. Negative
 * figures count as 0.
 */
struct weight rank_weight(const struct heap *h, const struct selection *s, enum rank_key key,
			  uint32_t site);

/* Does it pass any site of which there is something to tell, live or not? */
bool rank_passes_any(const struct heap *h, const struct selection *s);

/* Nothing at all? Blocks of size zero are something. */
static inline bool weight_is_nothing(struct weight w)
{
	return !w.bytes && !w.count;
}

/* The part of a weight that the key sorts by. */
uint64_t rank_value(enum rank_key key, struct weight w);

struct ranking {
	uint32_t *site; /* the first `nr` in order, largest first */
	uint32_t nr;
	uint32_t nr_all;     /* sites with something to show */
	uint32_t nr_idle;    /* others that asked for memory, which only top 0 lists */
	struct weight total; /* over all of those */
};

/* Rank the heap's sites; top 0: all that pass, also those with nothing to show. 0 or -ENOMEM. */
int rank_sites(const struct heap *h, const struct selection *s, enum rank_key key, uint64_t top,
	       struct ranking *out);

/*
 * The same for mappings (heap.map_sites), by bytes still mapped, then by bytes ever mapped. 0 or
 * -ENOMEM.
 */
int rank_map_sites(const struct heap *h, uint64_t top, struct ranking *out);

/*
 * Blocks that pass, largest first, by number (index into heap.blocks). *out: free(); 0 or
 * -ENOMEM.
 */
int rank_blocks(const struct heap *h, const struct selection *s, uint64_t top, uint64_t **out,
		uint64_t *nr);

void ranking_fini(struct ranking *r);

#endif
