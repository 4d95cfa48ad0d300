/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of the seqlocks in a ledger: a number that is odd while its one writer changes
 * what it covers. Their readers are in another process (src/ledger/ledger_reader.c).
 *
 *	writer				reader
 *	seq = odd	(1)		before = seq	(5), acquire
 *	release fence	(2)		copy data	(6)
 *	change data	(3)		acquire fence	(7)
 *	seq = even	(4), release	after = seq	(8)
 *
 * The copy is whole if `before` is even and `after` the same. (4) pairs with (5): who loads an even
 * number sees all that was changed before it. (2) pairs with (7): a reader that copied anything
 * stored at (3) loads the odd number of (1), or a later one, at (8). On x86-64 neither fence is an
 * instruction; both stop the compiler. On processors that reorder stores (arm64: dmb ishst or
 * stronger) they are needed.
 *
 * The load of pmm_ledger.changing within an event (block_watched()) may not be moved before (1) by
 * the compiler, which the signal fence sees to; by the processor it may, as the scanner's
 * membarrier() allows for.
 *
 * The writer is one thread. A signal handler in it that records has a context, and so a number, of
 * its own.
 */
#ifndef AGENT_SEQLOCK_H
#define AGENT_SEQLOCK_H

#include <stdint.h>

#include "agent/sys.h"

static inline void seqlock_write_begin(uint64_t *seq)
{
	STORE(*seq, *seq + 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void seqlock_write_end(uint64_t *seq)
{
	STORE_RELEASE(*seq, *seq + 1);
}

/* Ends a change that was cut short, if there was one: what it has changed stays. */
static inline void seqlock_write_abandon(uint64_t *seq)
{
	STORE_RELEASE(*seq, *seq + (*seq & 1));
}

#endif
