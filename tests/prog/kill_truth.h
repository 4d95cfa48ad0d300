/* SPDX-License-Identifier: GPL-2.0-or-later
 * What kill_victim says of its own blocks, in a file that kill_driver maps too. Each thread notes what it is about to do, and the sums that this
 * will change, before the call, and takes the note back when its truth is whole again. So whenever its threads die, all is known but for one
 * operation of each.
 *
 * The two signal handlers of a thread count as threads here, with its tid: they interrupt each other and the thread, at any instruction. An operation
 * that one of them leaves by siglongjmp stays noted for good.
 *
 * Each process has a truth of its own, and each program that it executes. They are the images of the file.
 *
 * A group is the allocations whose two innermost functions are a certain leaf, which calls the allocator, and a certain link above it.
 */
#ifndef TESTS_PROG_KILL_TRUTH_H
#define TESTS_PROG_KILL_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#define KILL_THREADS	16
#define KILL_HANDLERS	2		/* of each thread */
#define KILL_LEFT	24		/* operations left by jumps */
#define KILL_IMAGES	24
#define KILL_SLOTS	2048
#define KILL_LEAVES	8
#define KILL_LINKS	8
#define KILL_GROUPS	(KILL_LEAVES * KILL_LINKS)

/* KILL_INHERITED: release a block that the process was forked with. */
enum kill_op { KILL_NONE, KILL_ALLOC, KILL_FREE, KILL_RESIZE, KILL_INHERITED };

struct kill_slot {
	uint64_t address, size;		/* address 0: empty */
	uint32_t group, thread;		/* that made it */
};

struct kill_sums {
	uint64_t allocs, frees, bytes_in, bytes_out;
	uint64_t temporary;		/* freed as the thread's next event */
	uint64_t reused;		/* perhaps the same: others had freed that block and made another there, or a handler came between */
};

struct kill_note {
	uint32_t op;			/* enum kill_op: under way ... */
	uint32_t slot;			/* ... on this one; KILL_SLOTS: on none */
	uint32_t temporary;		/* the block that is released may be a temporary one */
	struct kill_slot old, new;	/* what goes, what comes; new.address is not known */
	struct kill_sums old_sums, new_sums;	/* those of the groups of both, before */
	uint64_t live_bytes, peak_bytes;	/* before, and as in struct kill_truth */
};

struct kill_thread {
	uint32_t tid;
	uint32_t nr_inherited;		/* blocks released that the process was forked with */
	struct kill_note note;
	uint64_t nr_done;
	struct kill_sums sums[KILL_GROUPS];	/* of this thread's events */
};

struct kill_truth {
	uint32_t pid;
	uint32_t nr_threads;		/* handlers included; 1: the first one itself, and there is no other */
	uint32_t started;
	uint32_t leaving;		/* it is about to execute the program of the next image, or has */
	uint32_t nr_left;		/* of left[], that may be in use */
	uint64_t starts[KILL_LEAVES + KILL_LINKS], code_end;	/* functions: leaves, then links */
	uint64_t live_bytes, peak_bytes;	/* one thread only */
	struct kill_thread thread[KILL_THREADS];
	struct kill_note left[KILL_LEFT];
	struct kill_slot slot[KILL_SLOTS];
};

struct kill_file {
	uint32_t nr_images;		/* begun or about to */
	struct kill_truth image[KILL_IMAGES];
};

/* Until then the first thread may be at an allocation of its own: it starts the others. */
static inline bool kill_all_started(const struct kill_truth *truth)
{
	return truth->thread[0].tid != 0;
}

#endif
