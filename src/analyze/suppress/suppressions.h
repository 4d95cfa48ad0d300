/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What suppressions are made of: shared by reading (suppress_parse.c), comparing names
 * (suppress_names.c) and stacks (suppress_match.c).
 *
 * A suppression is a run of steps, innermost frame first. A step is a pattern for one frame, or
 * stands for any number of frames. A stack matches when its innermost frames match all steps; what
 * is further out does not matter.
 */
#ifndef ANALYZE_SUPPRESS_SUPPRESSIONS_H
#define ANALYZE_SUPPRESS_SUPPRESSIONS_H

#include <stdbool.h>

#include "include/pmm/ledger.h"
#include "src/analyze/suppress/suppress.h"
#include "src/base/arena.h"
#include "src/base/hash.h"

enum suppress_what {
	SUPPRESS_FRAMES,	/* "...": any number of frames */
	/* a function's name as in the object file; also "???" and "(below main)" */
	SUPPRESS_FUN,
	SUPPRESS_OBJ,		/* path of the module */
	SUPPRESS_SRC,		/* source file */
	SUPPRESS_ANY,		/* LeakSanitizer's: readable function, source file or module */
	SUPPRESS_NR_WHATS,
};

struct suppress_step {
	/* '*' and '?' are wild, in SUPPRESS_ANY only '*'; NULL in SUPPRESS_FRAMES */
	const char *pattern;
	/* pairs of characters that a name must have, hashed (suppress_names.c) */
	uint64_t need;
	uint32_t line;		/* SUPPRESS_SRC: 0 = any */
	uint32_t entry;
	uint8_t what;		/* enum suppress_what */
	bool first, last;	/* of its entry; SUPPRESS_FRAMES is never last */
};

struct suppress_entry {
	struct suppress_use use;
	uint8_t classes;	/* bit 1 << enum reach_class: of these it speaks */
	bool at_exit;		/* only of what was found at the program's end */
};

struct suppress_set {
	uint32_t first, nr;	/* in suppress_sets.members */
};

/* Sets of steps, ascending; equal ones have equal numbers. Number 0 is the empty set. */
struct suppress_sets {
	VEC(struct suppress_set) list;
	VEC(uint32_t) members;
	struct hash_map by_hash;
};

struct suppress {
	VEC(struct suppress_entry) entries;
	VEC(struct suppress_step) steps;
	struct arena text;

	/* for matching; emptied by suppress_begin() */
	VEC(uint32_t) order;	/* steps with a pattern, by what and pattern */
	uint32_t begin[SUPPRESS_NR_WHATS + 1];	/* of each what in `order` */
	struct suppress_sets sets;
	/* a string's address and what it is of a frame -> steps that match it */
	struct hash_map by_text;
	struct hash_map by_frame;	/* a frame's address -> steps that match it */
	struct hash_map moves;		/* state, steps that match the next frame -> state */
	bool exits;			/* the heap is of a program's end */
	struct names *names;		/* NULL: nothing matches */
	VEC(uint32_t) state;		/* by node: state + 1, 0 = not known */
	uint8_t *kind;			/* by site (suppress_kinds()) */
	VEC(uint32_t) path;		/* nodes yet to do */
};

/* The text of suppressions.supp; made by the build. */
extern const char suppress_default_text[];

/* Append a step to the last entry. `pattern` is copied. 0 or -ENOMEM. */
int suppress_add_step(struct suppress *s, enum suppress_what what, const char *pattern, size_t n,
		      uint32_t line);

/* Forget what was found out for matching. */
void suppress_forget(struct suppress *s);

/* Does a name match a pattern, where '*' and, if `question`, '?' are wild? */
bool suppress_text_matches(const char *pattern, const char *text, bool question);

/*
 * Hashed pairs of characters of a pattern between its wild ones; of a name if !wild. A match has
 * all that the pattern has.
 */
uint64_t suppress_pairs(const char *text, bool wild, bool question);

/* Sort the steps for suppress_frame_set(). 0 or -ENOMEM. */
int suppress_order(struct suppress *s);

/*
 * The set of steps that match a frame, which with its strings stays where it is until
 * suppress_forget(). Or -ENOMEM.
 */
int64_t suppress_frame_set(struct suppress *s, const struct frame_name *f);

/* The number of a set; members ascending. Or -ENOMEM. */
int64_t suppress_set_add(struct suppress_sets *sets, const uint32_t *members, uint32_t nr);

#endif
