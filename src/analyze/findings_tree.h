/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of a tree of processes: equal ones of many processes are one.
 *
 * Equal are errors of the same program, kind, way of coming to light and call stacks (by module and
 * offset). What is kept grows with the number of different errors and is bounded; those beyond are
 * counted.
 */
#ifndef ANALYZE_FINDINGS_TREE_H
#define ANALYZE_FINDINGS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/merge.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

#define FINDINGS_TREE_MAX	4096

struct findings_entry {
	struct heap_finding f;		/* sites and threads are of merge.heap */
	struct heap_death death;	/* of the process, where the finding is about that */
	struct merge_group group;
	/* the next one with the same scrambled key, + 1; 0 = none */
	uint32_t next;
};

/* All zero is empty. */
struct findings_tree {
	struct merge merge;
	/* in the order of arrival; ended: the worst first, as the heap's findings */
	VEC(struct findings_entry) entries;
	struct hash_map by_key;
	uint32_t room_threads;
	uint64_t nr_more;		/* errors that there was no room for */
	uint64_t times;			/* of all errors together */
};

/*
 * Add findings of a process from index `from` on; `serial` (not 0) distinguishes it from others.
 * known[i - from]: one of another process, or of this one, is equal, or there was no memory; NULL =
 * that is not asked. 0 or -ENOMEM.
 */
int findings_tree_add(struct findings_tree *t, const struct heap *h, uint64_t from, uint64_t serial,
		      bool *known);

/*
 * The first `nr` findings of the process had come times[i] times when they were added, and have
 * come as often as they say now. 0 or -ENOMEM.
 */
int findings_tree_recount(struct findings_tree *t, const struct heap *h, const uint64_t *times,
			  uint64_t nr);

/* What was looked at in a process that has ended. 0 or -ENOMEM. */
int findings_tree_ended(struct findings_tree *t, const struct heap *h);

/*
 * All were added: t->merge.heap has all findings, the worst first, and describes `root` (NULL = not
 * known) what it is. 0 or -ENOMEM.
 */
int findings_tree_begin(struct findings_tree *t, const struct heap *root);

/*
 * Entry `i` is reported next: merge.heap's death becomes the one that it is about. `tree`: a struct
 * findings_tree.
 */
void findings_tree_turn(void *tree, uint64_t i);

void findings_tree_fini(struct findings_tree *t);

#endif
