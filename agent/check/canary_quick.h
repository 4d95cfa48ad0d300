/* SPDX-License-Identifier: MIT */
/*
 * Heads and tails of canaried blocks, as they are written and read when a checked block is
 * allocated or released: what agent/check/canary.h is made of.
 *
 * All in aligned words: what belongs to a word with the block's last bytes is set and looked at
 * under a mask. What is looked at is put together without a decision for each word, since sizes
 * that vary would make the processor guess wrong.
 */
#ifndef AGENT_CHECK_CANARY_QUICK_H
#define AGENT_CHECK_CANARY_QUICK_H

#include "agent/agent.h"
#include "agent/sys.h"
#include "include/pmm/check.h"

#define CANARY_SIZE_MASK	((1ull << PMM_HEAD_ALIGN_SHIFT) - 1)
/* Of a larger block only so many bytes from its start are poisoned. */
#define CANARY_POISON_MOST	(64u << 10)
#define CANARY_POISON_WORD	(PMM_POISON_BYTE * 0x0101010101010101ull)
/* from here on one instruction for all is quicker than a loop */
#define CANARY_LONG_WORDS	64
#define QUICK			static inline __attribute__((always_inline))

extern uint64_t canary_secret __attribute__((visibility("hidden")));

/* ---- words ----------------------------------------------------------------------------------- */

/* An even number of words. */
QUICK void register_words_fill(uint64_t *w, size_t nr, uint64_t value)
{
	if (likely(nr < CANARY_LONG_WORDS))
		for (size_t i = 0; i < nr; i += 2) {
			STORE(w[i], value);
			STORE(w[i + 1], value);
		}
	else
		arch_fill_words(w, value, nr);
}

/*
 * Are an even number of words, not 0, all the same? Looks at them four at a time, and at the last
 * two in any case.
 */
QUICK bool words_same(const uint64_t *w, size_t nr, uint64_t value)
{
	uint64_t differs = (w[nr - 2] ^ value) | (w[nr - 1] ^ value);

	for (size_t i = 0; i + 4 <= nr; i += 4)
		differs |= (w[i] ^ value) | (w[i + 1] ^ value) | (w[i + 2] ^ value) |
			   (w[i + 3] ^ value);
	return !differs;
}

/* ---- heads ----------------------------------------------------------------------------------- */

QUICK struct pmm_head *head_of(const void *p)
{
	return (struct pmm_head *)p - 1;
}

/* pmm_head.what of a live block; an alignment of 0 is as good as 1. */
QUICK uint64_t head_what(size_t size, size_t align)
{
	return size | (uint64_t)(align ? 63 - __builtin_clzll(align) : 0) << PMM_HEAD_ALIGN_SHIFT;
}

QUICK void head_set(struct pmm_head *h, uint64_t what)
{
	h->what = what;
	h->seal = pmm_seal(canary_secret, (uint64_t)(h + 1), what);
}

/* Note the facts of a block just made; of one that has some, turn these bits of them over. */
QUICK void quick_note(void *p, uint64_t facts)
{
	struct pmm_head *h = head_of(p);

	STORE(h->seal, LOAD(h->seal) ^ pmm_spread(facts));
}

/* canary_take() */
QUICK bool quick_take(void *p)
{
	struct pmm_head *h = head_of(p);
	uint64_t what = LOAD(h->what);

	if (unlikely(what & PMM_HEAD_FREED))
		return false;
	if (likely(*agent.single_threaded)) {
		if (!arch_cas_local(&h->what, &what, what | PMM_HEAD_FREED))
			return false;
	} else if (!CAS(h->what, what, what | PMM_HEAD_FREED)) {
		return false;
	}
	STORE(h->seal, pmm_seal(canary_secret, (uint64_t)p, what | PMM_HEAD_FREED));
	return true;
}

/* ---- tails ----------------------------------------------------------------------------------- */

/*
 * The canary behind a block: the granule that the block ends in, under masks, and the one behind
 * that. Of a block that ends with a granule both are the same, so that there is nothing to decide.
 */
struct canary_tail {
	uint64_t *first, *last;		/* two words each */
	uint64_t mask[2];		/* the canary's bits of the first two */
};

QUICK struct canary_tail tail_of(uint64_t block, size_t size)
{
	uint64_t end = block + size, used = end & 15;

	return (struct canary_tail){ (uint64_t *)(end & ~15ull),
				     (uint64_t *)((end + 15) & ~15ull),
				     { used < 8 ? ~0ull << used * 8 : 0,
				       used > 8 ? ~0ull << (used - 8) * 8 : ~0ull } };
}

/* Is it as it was? */
QUICK bool tail_whole(const struct canary_tail *t, uint64_t canary)
{
	return !(((t->first[0] ^ canary) & t->mask[0]) | ((t->first[1] ^ canary) & t->mask[1]) |
		 (t->last[0] ^ canary) | (t->last[1] ^ canary));
}

/* The block's own bytes stay. */
QUICK void tail_put(const struct canary_tail *t, uint64_t canary)
{
	t->first[0] = (t->first[0] & ~t->mask[0]) | (canary & t->mask[0]);
	t->first[1] = (t->first[1] & ~t->mask[1]) | (canary & t->mask[1]);
	t->last[0] = canary;
	t->last[1] = canary;
}

/* The canary before the head begins there; at the head itself where there is none. */
QUICK uint64_t *gap_of(const void *p, size_t align)
{
	return (uint64_t *)((uint64_t)head_of(p) - pmm_gap_bytes(align));
}

/* canary_make() */
QUICK void *quick_make(void *real, size_t size, size_t align)
{
	uint64_t block = (uint64_t)real + pmm_front_bytes(align),
		 canary = pmm_canary(canary_secret, block);
	struct canary_tail t = tail_of(block, size);

	head_set(head_of((void *)block), head_what(size, align));
	if (unlikely(align > PMM_HEAD_BYTES))
		register_words_fill(gap_of((void *)block, align), pmm_gap_bytes(align) / 8, canary);
	tail_put(&t, canary);
	return (void *)block;
}

/* ---- poison ---------------------------------------------------------------------------------- */

/*
 * Words of a block that are poisoned: all, with its tail, or of a large one as many as go into
 * CANARY_POISON_MOST.
 */
QUICK size_t poison_words(const void *p, size_t size)
{
	return (likely(size < CANARY_POISON_MOST) ? pmm_tail_end((uint64_t)p, size) - (uint64_t)p
						  : CANARY_POISON_MOST) /
	       8;
}

/*
 * Fill a block that was taken with poison, and what is behind it: its canary was looked at for the
 * last time.
 */
QUICK void quick_poison(void *p, size_t size)
{
	register_words_fill(p, poison_words(p, size), CANARY_POISON_WORD);
}

/* canary_clear() */
QUICK void quick_clear(void *p)
{
	STORE(head_of(p)->seal, 0);
	STORE(head_of(p)->what, 0);
}

#endif
