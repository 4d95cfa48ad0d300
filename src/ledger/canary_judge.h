/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a canary scan (canary_scan.h) looks at: canaries around the blocks of a heap, in a process's
 * memory.
 */
#ifndef LEDGER_CANARY_JUDGE_H
#define LEDGER_CANARY_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/model/heap.h"

#define CANARY_SCAN_MOST_EDGE	(4096 + 64)	/* bytes of canary on one side */

struct canary_scan_damage {
	uint64_t block;			/* index in the heap */
	uint64_t address;		/* first byte */
	uint8_t bytes[HEAP_FINDING_BYTES];
	uint8_t nr_bytes;
};

struct canary_judge {
	struct heap *h;
	pid_t pid;
	uint64_t secret;
	uint32_t generation;		/* as in the process's pmm_check_state */
	bool sampled;			/* only guarded blocks have canaries */
	uint64_t pool_start, pool_end;
	uint64_t reported_at;		/* pmm_check_state.reported */
	struct pmm_reported *reported;	/* canary_judge_reported(); NULL: none, or not to be had */
	uint8_t (*buffer)[2][CANARY_SCAN_MOST_EDGE];	/* canary_judge_buffer() */
	VEC(struct canary_scan_damage) damages;
};

/* Room to read into; the caller's, free(). NULL when out of memory. */
void *canary_judge_buffer(void);

/*
 * What is at l->reported_at, PMM_REPORTED of them: the caller's, free(). NULL when it cannot be
 * read.
 */
struct pmm_reported *canary_judge_reported(const struct canary_judge *l);

bool canary_judge_guarded(const struct canary_judge *l, const struct heap_block *b);

/*
 * Look at all blocks that have canaries, appending to l->damages. 0 or -errno: the process's memory
 * cannot be read.
 */
int canary_judge_all(struct canary_judge *l);

/* Look at one. False: it cannot be read, or is well. */
bool canary_judge_damaged(struct canary_judge *l, uint64_t index);

#endif
