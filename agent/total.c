/* SPDX-License-Identifier: MIT */
/*
 * Live bytes of the process and the exact moment of their peak, without an event log and without a
 * lock.
 *
 * pmm_ledger.total is one word: epoch:20 (low) | rising:1 | bytes:43. An allocation that takes the
 * bytes above peak_bytes sets `rising`; the first release after that seals the peak: it stores
 * peak_bytes, clears `rising` and starts the next epoch. All three change in one compare-and-swap,
 * so every event belongs to exactly one epoch, the one in the word it replaced or made, and a
 * record that notices a new epoch (site_record) knows its own live value at the seal.
 *
 * The word would be contended by threads that allocate at once. While the total is below its peak
 * no new peak can happen, so a thread takes out a credit: it adds `g` bytes, perhaps none, to the
 * word in advance and then allocates and releases within its own word (pmm_ctx.credit) as long as
 * the credit lasts; one that does not is exchanged for another. The total in the word is then an
 * upper bound, and it stays at or below the peak. A thread that would exceed the peak first calls
 * all credits back, which makes the word exact again. No epoch can end while a credit is out.
 *
 * credit_out counts the credits from before the word holds them until after it no longer does, so a
 * thread that would exceed the peak sees that one is on its way and waits for it, for a bounded
 * time.
 *
 * Limits: 8 TiB of live bytes; a signal handler that interrupts these very instructions, or a
 * thread that does not come back to them within half a second, can make a peak look higher by its
 * credit (CREDIT_MAX and what it has released since it took that).
 *
 * Single-threaded processes use the same code with an unlocked compare-and-swap, which is atomic
 * against signal handlers.
 */
#include "agent/total.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sys.h"
#include "agent/wait.h"

#define CREDIT_MAX	(64ull << 10)
#define CREDIT_SMALL	128ull
/* where there are more, each peak would have small credits of many called back */
#define SMALL_MOST_CTX	16
#define RECALL_TRIES	5000
#define RECALL_SLEEPS	500		/* of these, the last: half a second at least */
#define RECALL_SLEEP_NS	1000000

static inline bool swap(uint64_t *word, uint64_t *expected, uint64_t desired, bool alone)
{
	return alone ? arch_cas_local(word, expected, desired) : CAS(*word, *expected, desired);
}

static inline void store_max(uint64_t *word, uint64_t value)
{
	uint64_t old = LOAD(*word);

	while (old < value && !CAS(*word, old, value))
		;
}

/* Take what is left of a context's credit out of the total; returns whether it had one. */
static bool credit_end(struct pmm_ledger *l, struct pmm_ctx *ctx)
{
	uint64_t credit = LOAD(ctx->credit);

	if (credit)			/* most have none, and their lines stay where they are */
		credit = __atomic_exchange_n(&ctx->credit, 0, __ATOMIC_ACQ_REL);
	if (!(credit & TOTAL_CREDIT))
		return false;
	__atomic_fetch_sub(&l->total, (credit & ~TOTAL_CREDIT) << PMM_TOTAL_SHIFT,
			   __ATOMIC_ACQ_REL);
	__atomic_fetch_sub(&l->credit_out, 1, __ATOMIC_ACQ_REL);
	return true;
}

/*
 * Are credits out, or on their way between the total and a context? Those given up for lost do not
 * count.
 */
static inline bool credits_out(struct pmm_ledger *l)
{
	uint64_t out = LOAD_ACQUIRE(l->credit_out);

	if (unlikely(out < LOAD(agent.credits_lost)))
		STORE(agent.credits_lost, out);
	return out > LOAD(agent.credits_lost);
}

/*
 * Call all credits back. One that is on its way belongs to a thread between two instructions: give
 * it the processor, but not for ever, and in a signal handler without sleeping, for it may be the
 * code that this one interrupted. On a busy machine the thread may wait for a processor much longer
 * than giving way takes.
 */
static void recall(const struct tctx *c, struct pmm_ledger *l)
{
	const unsigned most = c->pub.level ? RECALL_TRIES - RECALL_SLEEPS : RECALL_TRIES;

	for (unsigned tries = 0; tries < most; tries++) {
		uint32_t nr = LOAD(l->nr_ctx);

		for (uint32_t i = 0; i < nr && i < PMM_MAX_CTX; i++) {
			pmm_ref ref = LOAD_ACQUIRE(l->ctx[i]);

			if (ref)
				credit_end(l, arena_at(ref));
		}
		if (!credits_out(l))
			return;
		if (tries < RECALL_TRIES - RECALL_SLEEPS || LOAD(agent.confined))
			wait_between(tries);
		else
			sys_sleep_ns(RECALL_SLEEP_NS);
	}
	STORE(agent.credits_lost, LOAD(l->credit_out));
}

/*
 * How large a credit there can be with this total; below zero: none, as it is not below the peak,
 * or hardly. One of few bytes is good for something, too, as releases add to it.
 */
static int64_t credit_share(struct pmm_ledger *l, uint64_t word, uint64_t epoch)
{
	uint64_t peak = LOAD(l->peak_bytes), bytes = word >> PMM_TOTAL_SHIFT;
	uint64_t nr = LOAD(l->nr_ctx), share;

	if (word & PMM_TOTAL_RISING || bytes >= peak || LOAD(agent.credit_stop) > epoch)
		return -1;
	share = (peak - bytes) / (2 * nr);
	if (share < CREDIT_SMALL && nr > SMALL_MOST_CTX)
		return -1;
	return (int64_t)(share > CREDIT_MAX ? CREDIT_MAX : share);
}

/* Take a credit, if there can be one. */
static void take_credit(struct tctx *c, struct pmm_ledger *l, uint64_t word, uint64_t epoch)
{
	int64_t share = credit_share(l, word, epoch);

	if (share < 0)
		return;
	/*
	 * before the total holds it: a thread that loads such a total then counts this credit as
	 * out. One that does not, as the total has not changed or is again what it was, has stored
	 * credit_stop before it counted: see peak_ahead().
	 */
	__atomic_fetch_add(&l->credit_out, 1, __ATOMIC_ACQ_REL);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (LOAD(agent.credit_stop) > epoch ||
	    !CAS(l->total, word, word + ((uint64_t)share << PMM_TOTAL_SHIFT))) {
		__atomic_fetch_sub(&l->credit_out, 1, __ATOMIC_ACQ_REL);
		return;
	}
	c->credit_epoch = epoch;
	STORE_RELEASE(c->pub.credit, TOTAL_CREDIT | (uint64_t)share);
}

/*
 * The context's credit is too small for `bytes`: another one in its place, by one change of the
 * total, which takes what is left of the old one out. False: the old one has been called back, or
 * there can be no other one, and it has ended. Until the new one is there it is on its way.
 */
static bool renew_credit(struct tctx *c, struct pmm_ledger *l, uint64_t bytes)
{
	uint64_t left = __atomic_exchange_n(&c->pub.credit, 0, __ATOMIC_ACQ_REL), word,
		 before = LOAD_ACQUIRE(l->epoch), exact, epoch;
	int64_t share;

	if (!(left & TOTAL_CREDIT))
		return false;
	left &= ~TOTAL_CREDIT;
	word = LOAD_ACQUIRE(l->total);
	do {
		exact = word + ((bytes - left) << PMM_TOTAL_SHIFT);
		epoch = epoch_full(before, word);
		share = credit_share(l, exact, epoch);
		if (share < 0) {
			__atomic_fetch_sub(&l->total, left << PMM_TOTAL_SHIFT, __ATOMIC_ACQ_REL);
			__atomic_fetch_sub(&l->credit_out, 1, __ATOMIC_ACQ_REL);
			return false;
		}
	} while (!CAS(l->total, word, exact + ((uint64_t)share << PMM_TOTAL_SHIFT)));
	c->credit_epoch = epoch;
	STORE_RELEASE(c->pub.credit, TOTAL_CREDIT | (uint64_t)share);
	return true;
}

/* The total was changed from one word to another. */
struct change {
	uint64_t from, to;
};

/*
 * The peak would be exceeded: are credits out? From now on none is taken, or it is counted here
 * (both sides store, fence and load). agent.credit_stop, the next epoch's number, holds until the
 * peak is sealed or is found not to be exceeded. A thread that never gets to either end (it was in
 * a handler that jumped out) stops credits for no longer than this epoch.
 */
static bool peak_ahead(struct pmm_ledger *l, uint64_t epoch)
{
	STORE(agent.credit_stop, epoch + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return credits_out(l);
}

/* The peak would be exceeded by what credits hold: call them back, add to a word that has none. */
static __attribute__((noinline)) struct change add_recalling(const struct tctx *c,
							     struct pmm_ledger *l, uint64_t bytes,
							     uint64_t epoch)
{
	uint64_t word, next;
	bool exceeds;

	for (;;) {
		word = LOAD_ACQUIRE(l->total);
		next = word + (bytes << PMM_TOTAL_SHIFT);
		exceeds = total_exceeds(l, word, next);
		if (exceeds && peak_ahead(l, epoch_full(epoch, word))) {
			recall(c, l);
			continue;
		}
		if (exceeds)
			next |= PMM_TOTAL_RISING;
		if (CAS(l->total, word, next))
			break;
	}
	if (!exceeds)
		STORE(agent.credit_stop, 0);
	return (struct change){ word, next };
}

uint64_t total_add_slow(struct tctx *c, uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	bool alone = *agent.single_threaded, stopped = false;
	uint64_t word, next, before;

	if (!alone && LOAD(c->pub.credit) & TOTAL_CREDIT && renew_credit(c, l, bytes))
		return c->credit_epoch;
	before = LOAD_ACQUIRE(l->epoch);
	word = LOAD_ACQUIRE(l->total);
	do {
		next = word + (bytes << PMM_TOTAL_SHIFT);
		if (total_exceeds(l, word, next)) {
			stopped = !alone;
			if (alone ? credits_out(l) : peak_ahead(l, epoch_full(before, word))) {
				struct change done = add_recalling(c, l, bytes, before);

				word = done.from;
				next = done.to;
				break;
			}
			next |= PMM_TOTAL_RISING;
		}
	} while (!swap(&l->total, &word, next, alone));
	before = epoch_full(before, word);
	if (stopped && !(next & PMM_TOTAL_RISING))
		STORE(agent.credit_stop, 0);
	if (!alone)
		take_credit(c, l, next, before);
	return before;
}

uint64_t total_sub_slow(uint64_t bytes)
{
	struct pmm_ledger *l = agent.ledger;
	bool alone = *agent.single_threaded;
	uint64_t word, next, before;

	before = LOAD_ACQUIRE(l->epoch);
	word = LOAD_ACQUIRE(l->total);
	do {
		next = word - (bytes << PMM_TOTAL_SHIFT);
		if (word & PMM_TOTAL_RISING) {
			store_max(&l->peak_bytes, word >> PMM_TOTAL_SHIFT);
			next = (next & ~(PMM_TOTAL_EPOCH | PMM_TOTAL_RISING)) |
			       ((word + 1) & PMM_TOTAL_EPOCH);
		}
	} while (!swap(&l->total, &word, next, alone));
	before = epoch_full(before, word);
	if (word & PMM_TOTAL_RISING) {
		store_max(&l->epoch, before + 1);
		store_max(&l->peak_epoch, before);
		STORE(l->peak_tick, clock_now());
		before++;		/* the release itself comes after the peak */
	}
	return before;
}
