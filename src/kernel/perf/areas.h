/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that a process has mapped, as perf events tell it: what is made and whose protection changes,
 * nothing that is removed. Which area an address lies in, and what a record of a mapping is about.
 *
 * The kernel writes the same record for mmap(), mprotect(), brk() and a stack that grows, with the
 * range of the area as it is afterwards, which may have been joined with its neighbours. What it
 * was is concluded from what was known of that range before.
 */
#ifndef KERNEL_PERF_AREAS_H
#define KERNEL_PERF_AREAS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/kernel/fault_area.h"
#include "src/kernel/perf/perf_ring.h"

struct area_piece {
	uint64_t start, end;
	uint64_t made_start, made_end;	/* of the mapping that it is a piece of */
	uint64_t offset, ino;		/* offset: of `start` in the file */
	uint32_t device;		/* as the kernel has it: major << 20 | minor */
	uint32_t prot, made_prot;	/* now; as it was made */
	enum fault_area area;
};

struct areas {
	unsigned refs;			/* processes that have it, as a child at first */
	VEC(struct area_piece) v;	/* by address */
	uint64_t program_ino, program_end; /* of what exec has mapped; 0: not known */
	uint64_t heap_start, heap_end;	/* of the program break; 0: none yet */
	bool beginning;			/* exec maps: nothing of it is a call */
	uint64_t again_ns;		/* the next reading of /proc/PID/maps may be then */
};

enum area_change {
	AREA_NOTHING,		/* a stack that grows, what exec maps */
	AREA_MADE,
	AREA_PROTECTED,
	AREA_BREAK,		/* the program break is `end` now */
};

struct area_news {
	enum area_change change;
	uint64_t start, end;		/* what is new or different */
	uint64_t before;		/* AREA_BREAK: the break as it was; 0: not known */
};

/* NULL: out of memory. */
struct areas *areas_new(void);
void areas_drop(struct areas *a);	/* NULL is fine */

/* Of its own, to be changed: a copy if others have it too. NULL: out of memory. */
struct areas *areas_own(struct areas *a);

/* A record of a mapping. 0 or -ENOMEM. */
int areas_map(struct areas *a, const struct perf_mapping *m, struct area_news *news);

/* NULL: in none that is known. */
const struct area_piece *areas_find(const struct areas *a, uint64_t address);

/* Is it just below a stack, which grows there? */
bool areas_stack_grows(const struct areas *a, uint64_t address);

/* A piece of a file, and the file's path. */
typedef void areas_file(void *arg, const struct area_piece *p, const char *path);

/*
 * Add what /proc/PID/maps has where nothing is known; `file` is called for each mapping of a file.
 * 0, or why it cannot be read.
 */
int areas_read(struct areas *a, pid_t pid, areas_file *file, void *arg);

/* The piece that a record is about, before anything is known of it. */
struct area_piece areas_piece(const struct perf_mapping *m);

#endif
