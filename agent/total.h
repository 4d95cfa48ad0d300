/* SPDX-License-Identifier: MIT */
/*
 * Live bytes of the process and the exact moment of their peak.
 */
#ifndef AGENT_TOTAL_H
#define AGENT_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/ctx.h"
#include "agent/sys.h"
#include "include/pmm/ledger.h"

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

#define TOTAL_CREDIT	(1ull << 63)	/* in pmm_ctx.credit: there is one */

/* Change the context's own credit; false when it is gone or too small. */
static inline bool total_credit(struct tctx *c, int64_t delta)
{
	uint64_t credit = LOAD(c->pub.credit);

	while (credit & TOTAL_CREDIT) {
		if ((int64_t)(credit & ~TOTAL_CREDIT) + delta < 0)
			return false;
		if (likely(CAS(c->pub.credit, credit, credit + (uint64_t)delta)))
			return true;
	}
	return false;
}

/*
 * The rest of the two below: more than one thread and no credit, a new peak, or a handler that came
 * between.
 */
uint64_t total_add_slow(struct tctx *c, uint64_t bytes);
uint64_t total_sub_slow(uint64_t bytes);

/* Add to (remove from) the process's live bytes. Returns the epoch the event belongs to. */
static inline uint64_t total_add(struct tctx *c, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t before, word, next;

	if (unlikely(!*agent.single_threaded))
		return total_credit(c, -(int64_t)bytes) ? c->credit_epoch
							: total_add_slow(c, bytes);
	before = LOAD_ACQUIRE(l->epoch);
	word = LOAD_ACQUIRE(l->total);
	next = word + (bytes << PMM_TOTAL_SHIFT);
	if (likely(!total_exceeds(l, word, next)) && likely(arch_cas_local(&l->total, &word, next)))
		return epoch_full(before, word);
	return total_add_slow(c, bytes);
}

static inline uint64_t total_sub(struct tctx *c, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t before, word;

	if (unlikely(!*agent.single_threaded))
		return total_credit(c, (int64_t)bytes) ? c->credit_epoch
						       : total_sub_slow(bytes);
	before = LOAD_ACQUIRE(l->epoch);
	word = LOAD_ACQUIRE(l->total);
	if (likely(!(word & PMM_TOTAL_RISING)) &&
	    likely(arch_cas_local(&l->total, &word, word - (bytes << PMM_TOTAL_SHIFT))))
		return epoch_full(before, word);
	return total_sub_slow(bytes);
}

#endif
