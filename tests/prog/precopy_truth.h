/* SPDX-License-Identifier: GPL-2.0-or-later
 * What precopy_victim says of its own blocks, in a file that precopy_driver maps too: each thread notes what it is about to do before the call,
 * and what came of it after. So with all threads stopped the blocks are known, but for one operation of each thread.
 */
#ifndef TESTS_PROG_PRECOPY_TRUTH_H
#define TESTS_PROG_PRECOPY_TRUTH_H

#include <stdint.h>

#define TRUTH_THREADS	16
#define TRUTH_KEY	0x5a17c0de5a17c0deull	/* a block begins with its address, exclusive or this */
#define TRUTH_ODD	5			/* all sizes are 5 modulo 8, so that others' blocks are told apart */

enum truth_op { TRUTH_NONE, TRUTH_ALLOC, TRUTH_FREE, TRUTH_REALLOC, TRUTH_MAP, TRUTH_UNMAP };

struct truth_slot {
	uint64_t address, size;		/* address 0: empty */
};

struct truth_thread {
	uint32_t op;			/* enum truth_op: under way ... */
	uint32_t slot;			/* ... on this one of the thread's */
	struct truth_slot old;		/* what was in it */
	uint64_t new_size;
	uint64_t nr_done;
};

struct truth {
	uint32_t pid;
	uint32_t nr_threads, nr_slots;	/* slots of each thread; a multiple of 64 */
	uint32_t nr_maps_of;		/* of that many slots one is for mappings; 0 = none is */
	struct truth_thread thread[TRUTH_THREADS];
	struct truth_slot slot[];	/* of thread 0, then of thread 1, ... */
};

#endif
