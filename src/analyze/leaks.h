/*
 * The verdict: which call sites leak, how sure that is and why. Joins reachability (reach.h), age and growth (growth.h, growing.h).
 *
 * One entry per site and class of its blocks, as memcheck's loss records: biggest first within a verdict. Pure: a heap, its classes, what is
 * known of growth, and suppressions in; rows out.
 */
#ifndef ANALYZE_LEAKS_H
#define ANALYZE_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/growing.h"
#include "src/analyze/reach.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

struct suppress;
struct names;

enum leak_verdict {
	LEAK_CERTAIN,		/* definitely lost, or indirectly with it */
	LEAK_LIKELY,		/* possibly lost and old; or reachable, old, growing steadily */
	LEAK_UNLIKELY,		/* reachable: a cache or pool that does not grow any more, or too young to tell */
	LEAK_SUPPRESSED,
	LEAK_NR_VERDICTS,
};

struct leak_entry {
	uint32_t site;			/* index into heap.sites */
	uint8_t class;			/* enum reach_class */
	uint8_t verdict;		/* enum leak_verdict */
	uint64_t blocks, bytes;		/* direct */
	uint64_t indirect_blocks, indirect_bytes;	/* definite: lost with them */
	uint64_t oldest_ns, newest_ns;	/* birth of the oldest and the newest of these blocks */
	uint64_t fresh_blocks, fresh_bytes;	/* not in the search before (--every); all of them in the first */
	uint32_t holder_site;		/* reachable: the site whose blocks hold most of them; UINT32_MAX = roots */
	struct growth growth;		/* reachable and possible: what is known of the site's growth */
	const char *suppression;	/* name of what suppressed it, else NULL; borrowed from the suppressions */
};

struct leak_sum { uint64_t blocks, bytes, sites; };

struct leaks {
	VEC(struct leak_entry) entries;
	struct leak_sum by_class[REACH_NR_CLASSES];	/* without what is suppressed */
	struct leak_sum suppressed;
};

struct leaks_options {
	const struct growing *growing;	/* NULL = growth is not known */
	struct suppress *suppress;	/* counts what it suppresses; NULL = none */
	struct names *names;		/* for suppressions; NULL = none */
	uint64_t old_ns;		/* a block is old from this age on; 0 = 10 s */
};

/* 0 or -ENOMEM. */
int leaks_init(struct leaks *l, const struct heap *h, const struct reach *r, const struct leaks_options *o);
void leaks_fini(struct leaks *l);

#endif
