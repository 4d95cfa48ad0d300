/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of many processes as those of one heap: modules by file and build, frames by module and
 * offset, sites by program and stack.
 *
 * The heap holds nothing else: of each site at most one block, which has its kind. A module keeps
 * the addresses of the first process that had it there, unless another module has them; then it is
 * above all addresses that processes have. It is bounded: stacks that there is no room for become
 * site 0, the unknown stack, and are counted.
 *
 *	merge_open(m, h)	a process's heap
 *	merge_site(m, site)	... its sites
 *	merge_close(m)		it can be freed
 */
#ifndef ANALYZE_MERGE_H
#define ANALYZE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

#define MERGE_MAX_NODES		(1u << 21)
#define MERGE_MAX_SITES		(1u << 20)
#define MERGE_MAX_PROGRAMS	(1u << 16)
#define MERGE_PIDS		5

/* All zero is empty. */
struct merge {
	struct heap *heap;		/* NULL before the first process */
	struct intern programs;		/* by executable; the heap's comm where that is not known */
	/*
	 * the distinct ones, as text; number + 1 = index of the module, the number that of the
	 * source location
	 */
	struct intern modules, srclocs;
	/* scrambled key -> first node of that key; program and node -> site */
	struct hash_map nodes, sites;
	/* by node: the next one with the same scrambled key, 0 = none */
	VEC(uint32_t) next_node;
	uint32_t room_modules, room_nodes, room_sites, room_srclocs, room_blocks;
	/* where the next module goes that cannot keep its addresses */
	uint64_t beyond;
	uint64_t nr_unkept;		/* sites that became the unknown one for want of room */
	/* the process at hand */
	const struct heap *from;
	uint32_t program;
	uint32_t *node_of;		/* by node of `from`: node here, 0 = not looked for yet */
	uint8_t *kind_of;		/* by site of `from` */
};

/* The processes that have something in common. */
struct merge_group {
	uint32_t program;		/* merge_program() */
	uint64_t processes;
	/* the process entered last, by a number that each has once */
	uint64_t last;
	/* how many follow, and the numbers of the first processes */
	uint64_t pids[1 + MERGE_PIDS];
};

/* Enter a process; the same one again, right behind, is not counted twice. `serial` is not 0. */
void merge_group_add(struct merge_group *g, uint64_t serial, uint32_t pid);

/* Append "in 40 processes of leaky: pid 4711, 4712 and 38 more". */
void merge_group_text(struct str *s, const struct merge *m, const struct merge_group *g);

/* Begin a process. 0 or -ENOMEM; merge_close() in any case. */
int merge_open(struct merge *m, const struct heap *from);

/*
 * The site that stands for one of the process's. `minor`: it gets a place in the first half of the
 * room only, so that others find some. 0: its stack is not known, or there is no room or memory.
 */
uint32_t merge_site(struct merge *m, uint32_t site, bool minor);

/* Add up what was lost of it, and keep why: of the first process that lost anything. */
void merge_drops(struct merge *m);

void merge_close(struct merge *m);

/*
 * Have the heap, which is there, tell of a process what it was and how it ended: the one that was
 * launched. 0 or -ENOMEM.
 */
int merge_name(struct merge *m, const struct heap *root);

/* The program of the process at hand, "" = none. */
const char *merge_program(const struct merge *m, uint32_t program);

void merge_fini(struct merge *m);

#endif
