/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of small blocks for the benchmark of leak searches: lists of nodes with texts, objects and
 * arrays on them, pointers at random between all of these, and some of it lost. The same blocks
 * each time.
 */
#ifndef BENCH_LEAKS_HEAP_H
#define BENCH_LEAKS_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define LEAKS_BUCKETS 65536

struct leaks_node {
	struct leaks_node *next;
	char *text;
	struct leaks_node **object;	/* a few pointers, then data */
	struct leaks_node **array;	/* pointers only */
	struct leaks_node *other;	/* any */
	uint64_t key;
};

/* The only root. */
extern struct leaks_node *leaks_buckets[LEAKS_BUCKETS];

struct leaks_built {
	uint64_t blocks, bytes;
	uint64_t definite, definite_bytes, indirect, indirect_bytes;	/* of these lost */
};

/* Make `nr` blocks, about 100 bytes each. note() is told of each, NULL: nobody is. */
void leaks_build(uint64_t nr, struct leaks_built *built,
		 void (*note)(void *arg, void *block, size_t bytes), void *arg);

#endif
