/* SPDX-License-Identifier: GPL-2.0-or-later
 * What readers_victim says of its own blocks, in a file that readers_driver maps too and reads while the victim runs. Nothing is locked. A worker
 * (a thread, or its signal handler) counts each operation as begun before the call and as done behind it, and each counter only grows: what is done
 * before a reader of the ledger begins must be in what it reads, and what is not begun when it has ended cannot be.
 *
 * A group is the allocations whose two innermost functions are a certain leaf, which calls the allocator, and a certain link above it.
 */
#ifndef TESTS_PROG_READERS_TRUTH_H
#define TESTS_PROG_READERS_TRUTH_H

#include <stdint.h>

#define READERS_THREADS		4
#define READERS_WORKERS		(2 * READERS_THREADS)	/* the threads, then the handler of each */
#define READERS_SLOTS		1536
#define READERS_MAPS		64		/* of them, the first, are for mappings */
#define READERS_LEAVES		8
#define READERS_LINKS		4		/* the last is that of handlers */
#define READERS_GROUPS		(READERS_LEAVES * READERS_LINKS)
#define READERS_LOG		(1u << 14)	/* of each worker: new blocks */
#define READERS_LEFT		24		/* operations left by jumps */

enum readers_leaf {
	READERS_MALLOC, READERS_CALLOC, READERS_REALLOC, READERS_MEMALIGN, READERS_ALIGNED, READERS_POSIX, READERS_ARRAY, READERS_MMAP
};

struct readers_block {
	uint64_t address, size;		/* address 0: none */
	uint32_t group, tid;		/* that made it */
};

/* `seq` is odd from before an operation on the slot until its block is what it has made of it. */
struct readers_slot {
	uint64_t seq;
	struct readers_block is;
};

struct readers_sums {
	uint64_t allocs, bytes_in, frees, bytes_out, failed;
	/* releases that were none: of a realloc() that has failed. Until it is done they may be in frees and bytes_out */
	uint64_t void_frees, void_bytes;
};

/* An operation under way: what it may have taken out, what it may have put in (address 0: not known, and not logged yet). Valid while `nr` is odd. */
struct readers_flight {
	uint64_t nr;
	uint32_t slot;
	struct readers_block old, new;
};

struct readers_worker {
	uint32_t tid;
	struct readers_flight flight;
	struct readers_sums begun[READERS_GROUPS], done[READERS_GROUPS];
	uint64_t nr_logged;		/* begun or not: an entry is complete when it is counted */
	struct readers_block log[READERS_LOG];
};

struct readers_truth {
	uint32_t pid, started;
	uint32_t nr_threads;
	uint32_t threads_end;		/* they end and others take their place */
	uint32_t pause, nr_parked;	/* [driver] all are to wait; those that do */
	uint32_t end;			/* [driver] the program is to exit */
	uint32_t nr_left;		/* of left[], that may be in use */
	uint64_t starts[READERS_LEAVES + READERS_LINKS], code_end;	/* functions: leaves, then links */
	/* bytes that are live for certain, and may be; the most of each */
	uint64_t sure_bytes, perhaps_bytes, sure_peak, perhaps_peak;
	struct readers_flight left[READERS_LEFT];
	struct readers_worker worker[READERS_WORKERS];
	struct readers_slot slot[READERS_SLOTS];
};

#endif
