/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory read while all threads are stopped: what a copy of the process has not as of that moment.
 * Read later it would be of another moment than the rest, and what it pointed to then would seem
 * lost.
 */
#ifndef PTRACE_WITHHELD_H
#define PTRACE_WITHHELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/proc/pages.h"

struct withheld_piece {
	uint64_t start, end;
	uint8_t *bytes;
};

/* All zero is empty. */
struct withheld {
	/* pages that there are; by address once withheld_order() was called */
	VEC(struct withheld_piece) pieces;
	struct page_runs runs;
	pid_t pid;
	int mem, pagemap;			/* while pid is not 0 */
	/* for pieces, touched before the threads are stopped */
	uint8_t *room;
	size_t room_bytes, room_used;
	uint64_t bytes;				/* of all pieces */
};

/* While the process runs: prepare to read about so many bytes. 0 or -errno: nothing can be read. */
int withheld_begin(struct withheld *w, pid_t pid, size_t bytes);

/*
 * Add the pages that there are of [start, end), at most `max_pages` (0 = all). How many bytes, or
 * -errno and none is added: they cannot be read, or there is no memory for them.
 */
int64_t withheld_add(struct withheld *w, uint64_t start, uint64_t end, uint64_t max_pages);

/* What is where a shared mapping has no page that was added. */
enum withheld_rest {
	WITHHELD_REST_ZERO,		/* nothing was there, if max_pages was enough */
	WITHHELD_REST_ON_DISK,		/* what the file has there */
	WITHHELD_REST_UNKNOWN,		/* pages perhaps that are not in the page table */
};

/*
 * The same of a shared mapping, with the pages that it has in memory but not in the process's page
 * table, where those can be known (*rest).
 */
int64_t withheld_add_shared(struct withheld *w, const struct proc_map *m, uint64_t max_pages,
			    enum withheld_rest *rest);

/* All is added: close what was opened, sort. */
void withheld_order(struct withheld *w);

/*
 * What was read at an address: NULL = nothing. *bytes is shortened to what is there, or to what is
 * missing, in a row.
 */
const uint8_t *withheld_find(const struct withheld *w, uint64_t address, size_t *bytes);

void withheld_fini(struct withheld *w);

#endif
