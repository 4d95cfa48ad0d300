/* SPDX-License-Identifier: MIT */
/*
 * Live bytes of the process and the exact moment of their peak.
 */
#ifndef AGENT_TOTAL_H
#define AGENT_TOTAL_H

#include <stdint.h>

#include "include/pmm/ledger.h"

struct tctx;

/*
 * The full number of the epoch whose low bits are in `word`; `before` was read from ledger->epoch
 * before the word.
 */
static inline uint64_t epoch_full(uint64_t before, uint64_t word)
{
	return before + ((word - before) & PMM_TOTAL_EPOCH);
}

/* Add to (remove from) the process's live bytes. Returns the epoch the event belongs to. */
uint64_t total_add(struct tctx *c, uint64_t bytes);
uint64_t total_sub(struct tctx *c, uint64_t bytes);

#endif
