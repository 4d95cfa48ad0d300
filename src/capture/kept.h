/*
 * Slots of processes that have ended, kept while others that were forked from them go on: their agents look up there what became of blocks
 * from before the fork (pmm_slot.parent, agent/check/ancestor.h).
 *
 * As long as there are slots enough: where few are free, none is kept.
 */
#ifndef CAPTURE_KEPT_H
#define CAPTURE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/ledger_tree.h"

struct kept {
	unsigned nr;
	uint64_t since_ns[PMM_MAX_SLOTS];	/* 0: not kept */
};

/* All has been read of slot `k`, which is TAKEN: keep it, or give it back where nobody can need it. */
void kept_add(struct kept *kept, struct ledger_tree *t, unsigned k, uint64_t now_ns);

/* Give back what nobody needs any more. */
void kept_tend(struct kept *kept, struct ledger_tree *t, uint64_t now_ns);

#endif
