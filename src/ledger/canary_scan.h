/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A canary scan: are the canaries around all live blocks of a checked process as they should be?
 * Looked at from outside, without stopping it.
 *
 * Meanwhile blocks come and go: damage counts only when the same block (address, size, site, birth)
 * is live in a reading of the ledger before and in one after a second reading of its memory, which
 * is as wrong. Births are known to the tick; so the first of the two is made when the youngest of
 * the damaged blocks is older than that, and a block in the place of another one cannot be taken
 * for it.
 */
#ifndef LEDGER_CANARY_SCAN_H
#define LEDGER_CANARY_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/ledger/ledger_heap.h"
#include "src/model/heap.h"

/* A block that was found damaged. */
struct canary_scan_seen {
	uint64_t address, birth_ns;
	uint64_t damage;		/* first byte that was wrong */
};

/*
 * What one process's canary scans know of each other: damage found before is not found again. All
 * zero is fine.
 */
struct canary_scan {
	VEC(struct canary_scan_seen) seen;	/* sorted */
	uint64_t scans;
	uint64_t last_ns;		/* when the last one began; 0 = there was none */
	/*
	 * it has seen all blocks with a birth before, by the clock of the processes, which may be
	 * late
	 */
	uint64_t older_ns;
	/*
	 * what the process executed then: another image has other blocks, and no canary scans
	 * before
	 */
	uint64_t image;
};

/*
 * Read the ledger and the process's memory, append what is wrong to the findings of the heap (*out,
 * the caller's), numbers from `first` on, and set heap.check.canary scans; damaged blocks of one
 * call site are one finding, counted. The number of new findings, or -errno with `e`: -ESRCH it
 * ended, -ENODATA it is not checked.
 */
int canary_scan_process(struct canary_scan *s, pid_t pid, struct ledger_map *m, uint32_t first,
			struct heap **out, struct err *e);

/* Is this what a canary scan has found before, come to light again by the block's release? */
bool canary_scan_has_found(const struct canary_scan *s, const struct heap_finding *f);

/*
 * The same of a process whose ledger has yet to be opened: the file `fd`, whose clock is on the
 * board `board_fd`, or where fd is -1 the one that is found through the process. Numbers continue
 * behind those of agents and of its earlier canary scans.
 */
int canary_scan_file(struct canary_scan *s, pid_t pid, int fd, int board_fd, struct heap **out,
		     struct err *e);

void canary_scan_fini(struct canary_scan *s);

#endif
