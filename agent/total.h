/* SPDX-License-Identifier: MIT */
/*
 * Live bytes of the process and the exact moment of their peak.
 */
#ifndef AGENT_TOTAL_H
#define AGENT_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/sys.h"
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

/* Would this change of the total take it above the peak? */
static inline bool total_exceeds(const struct pmm_ledger *l, uint64_t word, uint64_t next)
{
	return !(word & PMM_TOTAL_RISING) &&
	       next >> PMM_TOTAL_SHIFT > LOAD_ACQUIRE(l->peak_bytes);
}

/* The rest of the two below: more than one thread, a new peak, or a handler that came between. */
uint64_t total_add_slow(struct tctx *c, uint64_t bytes);
uint64_t total_sub_slow(struct tctx *c, uint64_t bytes);

/* Add to (remove from) the process's live bytes. Returns the epoch the event belongs to. */
static inline uint64_t total_add(struct tctx *c, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t before = LOAD_ACQUIRE(l->epoch), word = LOAD_ACQUIRE(l->total);
	uint64_t next = word + (bytes << PMM_TOTAL_SHIFT);

	if (likely(*agent.single_threaded && !total_exceeds(l, word, next)) &&
	    likely(arch_cas_local(&l->total, &word, next)))
		return epoch_full(before, word);
	return total_add_slow(c, bytes);
}

static inline uint64_t total_sub(struct tctx *c, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t before = LOAD_ACQUIRE(l->epoch), word = LOAD_ACQUIRE(l->total);

	if (likely(*agent.single_threaded && !(word & PMM_TOTAL_RISING)) &&
	    likely(arch_cas_local(&l->total, &word, word - (bytes << PMM_TOTAL_SHIFT))))
		return epoch_full(before, word);
	return total_sub_slow(c, bytes);
}

#endif
