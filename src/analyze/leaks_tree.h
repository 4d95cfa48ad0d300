/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaks of a tree of processes: the entries of all, equal ones of many processes merged into one.
 *
 * Equal are entries of the same program, call stack (by module and offset), class, verdict, reason
 * and holder. Each process is judged by itself when it has ended, growth and age too; suppressions,
 * which need names, come at the end, when leaks_judge() is called for `leaks`. What is kept grows
 * with the number of different entries and is bounded (src/analyze/merge.h), not with the number of
 * processes.
 */
#ifndef ANALYZE_LEAKS_TREE_H
#define ANALYZE_LEAKS_TREE_H

#include "src/analyze/leaks.h"
#include "src/analyze/merge.h"
#include "src/base/hash.h"

/* All zero is empty. */
struct leaks_tree {
	/* merge.heap: sites of the entries, and what of the processes is summed */
	struct merge merge;
	struct leaks leaks;		/* .merged; entry.group: index into groups */
	VEC(struct merge_group) groups;
	/* -> index into leaks.entries, which are in the order of arrival until they are judged */
	struct hash_map by_key;
	uint64_t nr;			/* processes */
	uint64_t nr_incomplete;		/* ... of which not all blocks were known */
	uint64_t allocs, skipped_allocs;	/* of all of them, as in the heap */
	unsigned pools;			/* of any of them (pools.h) */
};

/*
 * Add a process that was searched and has ended; the heap may be freed afterwards. `old_ns` as in
 * leaks_options. 0 or -ENOMEM.
 */
int leaks_tree_add(struct leaks_tree *t, const struct heap *h, uint64_t old_ns);

/*
 * All have been added: t->merge.heap is there, and describes the program that was launched (NULL =
 * not known) what it is. 0 or -ENOMEM.
 */
int leaks_tree_begin(struct leaks_tree *t, const struct heap *root);

/* Of an entry of t->leaks. */
const struct merge_group *leaks_tree_group(const struct leaks_tree *t, const struct leak_entry *e);

void leaks_tree_fini(struct leaks_tree *t);

#endif
