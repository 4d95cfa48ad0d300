/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict: which call sites leak, how sure that is and why. Joins reachability (reach.h), age
 * and growth (growth.h, growing.h).
 *
 * One entry per site and class of its blocks, as memcheck's loss records; indirectly lost blocks
 * have one per site and site of the block that they are lost with. Pure: a heap, its classes, what
 * is known of growth, and suppressions in; rows out.
 *
 *     leaks_collect()  entries from classes and the heap's blocks: quick, while the program may
 *                      stand still
 *     leaks_store()    entries into the heap, where a capture keeps them
 *     leaks_load()     entries out of a heap
 *     leaks_judge()    verdicts, suppressions, order, sums; needs names and may take long: when the
 *                      process runs again
 */
#ifndef ANALYZE_LEAKS_H
#define ANALYZE_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/evidence.h"
#include "src/analyze/growing.h"
#include "src/analyze/reach/hold_first.h"
#include "src/analyze/reach/reach.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

struct suppress;
struct names;

#define LEAKS_CONTENTS	32
#define LEAKS_OLD_NS	10000000000ull	/* a block is old from this age on unless said otherwise */

enum leak_verdict {
	LEAK_CERTAIN,		/* definitely lost, or indirectly with it */
	/*
	 * reachable or possibly lost, growing, and all that a leak does besides is seen
	 * (evidence.h)
	 */
	LEAK_LIKELY,
	/* growing steadily, but not all is seen: a leak, or a cache that fills */
	LEAK_GROWING,
	/*
	 * does not grow any more, or nothing speaks for a leak but pointers into the middle, or too
	 * young to tell
	 */
	LEAK_UNLIKELY,
	LEAK_SUPPRESSED,
	LEAK_NR_VERDICTS,
};

/* Why it is that verdict. */
enum leak_reason {
	LEAK_UNREACHABLE,	/* certain: nothing points to them */
	LEAK_LOST_WITH,		/* certain: only lost blocks of the holder point to them */
	/* likely: only pointers into their middles, and many, old, growing steadily */
	LEAK_INTERIOR,
	LEAK_GROWS,		/* likely: grows steadily and does all that a leak does */
	LEAK_FILLS,		/* growing: it may be a leak, evidence.has shows what is missing */
	LEAK_YOUNG,		/* unlikely: only pointers into their middles, too young to tell */
	/* unlikely: only pointers into their middles, and they do not grow steadily */
	LEAK_INTERIOR_STEADY,
	/* unlikely: only pointers into their middles, and it is not known that they grow */
	LEAK_INTERIOR_ALONE,
	/* unlikely: lost, or freed where no hook is (leaks_hide_frees()) */
	LEAK_OR_FREED,
	LEAK_STEADY,		/* unlikely: does not grow steadily (growth.reason) */
	LEAK_GROWTH_UNKNOWN,	/* unlikely: reachable, and not watched for long enough */
};

struct leak_entry {
	uint32_t site;			/* index into heap.sites */
	uint8_t class;			/* enum reach_class */
	uint8_t verdict;		/* enum leak_verdict */
	uint8_t reason;			/* enum leak_reason */
	uint64_t blocks, bytes;		/* direct */
	uint64_t indirect_blocks, indirect_bytes;	/* definite: lost with them */
	uint64_t oldest_ns, newest_ns;	/* birth of the oldest and the newest of these blocks */
	/* not in the search before (--every); all of them in the first */
	uint64_t fresh_blocks, fresh_bytes;
	uint32_t holder_site;		/* see struct heap_leak; HEAP_NO_SITE = roots */
	uint64_t held_blocks, chained_blocks;	/* likewise */
	/* reachable and possible: that one of them hangs on; not in a capture */
	struct hold_first root;
	/* address of the oldest; 0 = not known: a capture keeps none */
	uint64_t example;
	uint64_t example_bytes;		/* its size */
	/* its first bytes, where they were asked for; never stored */
	uint8_t contents[LEAKS_CONTENTS];
	uint8_t nr_contents;
	/* reachable: by a habit of the program's only (reach_habit.h) */
	uint64_t habit_blocks, habit_bytes;
	/* of these, before what is pointed to, of the last one; 0 = pools */
	uint32_t header_bytes;
	/* reachable and possible: what is known of the site's growth */
	struct growth growth;
	struct evidence evidence;	/* ... and what else speaks for a leak */
	/* name of what suppressed it, else NULL; borrowed from the suppressions */
	const char *suppression;
	uint32_t group;			/* of a tree of processes: see src/analyze/leaks_tree.h */
};

/*
 * Were blocks freed past the hooks, of an allocator that does not show which? A block to which
 * nothing points may be one of them then.
 */
bool leaks_hide_frees(const struct heap *h);

struct leak_sum { uint64_t blocks, bytes, sites; };

struct leaks {
	/* of many processes, each judged by itself: suppressions, order and sums are left to do */
	bool merged;
	VEC(struct leak_entry) entries;	/* judged: by verdict, then bytes with indirect ones */
	struct leak_sum by_class[REACH_NR_CLASSES];	/* without what is suppressed */
	struct leak_sum suppressed;	/* all classes */
	/* entries; indirect ones not on their own, sums with their definite ones */
	struct leak_sum by_verdict[LEAK_NR_VERDICTS];
	uint64_t nr_unjudged;	/* sites that were too many to know whether they grow */
};

struct leaks_seen_block {
	uint64_t address, birth_ns;
	uint8_t class;
};

/* Lost blocks of a search, to tell the next one's new ones. All zero is empty. */
struct leaks_seen {
	VEC(struct leaks_seen_block) blocks;	/* by address */
	uint64_t at_ns;			/* reachable blocks born later are new */
	bool any;			/* there was a search */
};

struct leaks_options {
	const struct growing *growing;	/* what was watched ... */
	/* ... and where that does not tell, what the heap does; either may be NULL */
	const struct growing *past;
	struct suppress *suppress;	/* NULL = none; counts what it suppresses */
	struct names *names;		/* for suppressions; NULL = none */
	uint64_t old_ns;		/* 0 = LEAKS_OLD_NS */
};

/*
 * Entries of classified blocks. `seen` (NULL = no search before). `l` is released with leaks_fini()
 * in any case. 0 or -ENOMEM.
 */
int leaks_collect(struct leaks *l, const struct heap *h, const struct reach *r,
		  const struct leaks_seen *seen);

/* Remember the lost blocks. 0 or -ENOMEM. */
int leaks_see(struct leaks_seen *seen, const struct heap *h, const struct reach *r);
void leaks_seen_fini(struct leaks_seen *seen);

/* Put entries into a heap (heap.leaks; not heap.search), and take them out. 0 or -ENOMEM. */
int leaks_store(const struct leaks *l, struct heap *h);
int leaks_load(struct leaks *l, const struct heap *h);

/*
 * What a search found in `from`, put into a later snapshot of the same process: sites are
 * identified by their numbers (struct heap_site); those that are not there become site 0. 0 or
 * -ENOMEM.
 */
int leaks_carry(const struct heap *from, struct heap *to);

/*
 * Verdicts on the entries, in place; may be called again. Growth is of the heap's own sites. 0 or
 * -ENOMEM.
 */
int leaks_judge(struct leaks *l, const struct heap *h, const struct leaks_options *o);

void leaks_fini(struct leaks *l);

#endif
