/* SPDX-License-Identifier: MIT */
/*
 * Canaried blocks: heads and tails around blocks of the real allocator.
 */
#include "agent/check/canary.h"

#include "agent/check/canary_quick.h"

uint64_t canary_secret;

void canary_start(uint64_t secret)
{
	canary_secret = secret;
}

bool canary_bytes(size_t size, size_t align, size_t *bytes)
{
	if (size > CANARY_SIZE_MASK || align > CANARY_SIZE_MASK)
		return false;
	*bytes = pmm_front_bytes(align) + ((size + 15) & ~15ull) + PMM_TAIL_BYTES;
	return true;
}

void *canary_make(void *real, size_t size, size_t align)
{
	return quick_make(real, size, align);
}

void canary_mend(void *p, size_t size, size_t align)
{
	quick_make(canary_real(p, align), size, align);
	head_set(head_of(p), head_what(size, align) | PMM_HEAD_FREED);
}

enum canary_says canary_look(const void *p, size_t *size, size_t *align)
{
	uint64_t over;

	return canary_quick_look(p, size, align, &over);
}

enum canary_says canary_look_facts(const void *p, size_t *size, size_t *align, uint64_t *facts)
{
	uint64_t over;
	enum canary_says says = canary_quick_look(p, size, align, &over);

	*facts = pmm_gather(over & ~PMM_SEAL_SURE);
	return says;
}

bool canary_just_taken(const void *p, size_t *size, size_t *align)
{
	const struct pmm_head *h = head_of(p);
	uint64_t what = LOAD(h->what), live = what & ~PMM_HEAD_FREED, seal = LOAD(h->seal);

	if (live == what || live >> 50 || (uint64_t)p & 15)
		return false;
	if ((seal ^ pmm_seal(canary_secret, (uint64_t)p, live)) & PMM_SEAL_SURE &&
	    seal != pmm_seal(canary_secret, (uint64_t)p, what))
		return false;
	*size = live & CANARY_SIZE_MASK;
	*align = 1ull << (live >> PMM_HEAD_ALIGN_SHIFT);
	return true;
}

void canary_rename(void *p, uint32_t kind)
{
	size_t size, align;
	uint64_t facts;

	if (canary_look_facts(p, &size, &align, &facts) == CANARY_LIVE && facts)
		quick_note(p, (facts ^ kind << PMM_FACTS_KIND_SHIFT) & 15u << PMM_FACTS_KIND_SHIFT);
}

enum canary_says canary_look_safely(const void *p, size_t *size, size_t *align)
{
	if ((uint64_t)p & 15 || (uint64_t)p < ARCH_PAGE)
		return CANARY_NOTHING;
	if (LOAD(agent.confined) ? canary_begins(p) : !sys_readable((uintptr_t)p - PMM_HEAD_BYTES))
		return CANARY_NOTHING;
	return canary_look(p, size, align);
}

/* Address of the lowest byte in which the word at `w` differs. */
static inline uint64_t byte_at(const uint64_t *w, uint64_t differs)
{
	return (uint64_t)w + (unsigned)__builtin_ctzll(differs) / 8;
}

/* First of [w, end) that is something else. */
static bool words_damage(const uint64_t *w, const uint64_t *end, uint64_t value, uint64_t *at)
{
	for (; w < end; w++)
		if (*w != value)
			return *at = byte_at(w, *w ^ value), true;
	return false;
}

static bool head_damage(const struct pmm_head *h, size_t size, size_t align, uint64_t facts,
			uint64_t *at)
{
	uint64_t differs = (h->what & ~PMM_HEAD_FREED) ^ head_what(size, align);

	if (unlikely(differs))
		return *at = byte_at(&h->what, differs), true;
	differs = h->seal ^ pmm_seal(canary_secret, (uint64_t)(h + 1), h->what) ^ pmm_spread(facts);
	/* they may have been noted, and are not known */
	if (!facts && differs & PMM_SEAL_SURE)
		differs &= PMM_SEAL_SURE;
	if (unlikely(differs))
		return *at = byte_at(&h->seal, differs), true;
	return false;
}

static bool gap_damage(const void *p, size_t align, uint64_t *at)
{
	return words_damage(gap_of(p, align), (const uint64_t *)head_of(p),
			    pmm_canary(canary_secret, (uint64_t)p), at);
}

static bool tail_damage(const void *p, size_t size, uint64_t *at)
{
	uint64_t canary = pmm_canary(canary_secret, (uint64_t)p);
	struct canary_tail t = tail_of((uint64_t)p, size);

	for (unsigned i = 0; i < 2; i++)
		if ((t.first[i] ^ canary) & t.mask[i])
			return *at = byte_at(&t.first[i], (t.first[i] ^ canary) & t.mask[i]), true;
	return words_damage(t.last, t.last + 2, canary, at);
}

bool canary_damage_around(const void *p, size_t size, size_t align, uint64_t *at)
{
	return gap_damage(p, align, at) || tail_damage(p, size, at);
}

bool canary_damage_headless(const void *p, size_t size, size_t align, uint64_t facts, uint64_t *at)
{
	if (!align)
		align = 1ull << (head_of(p)->what >> PMM_HEAD_ALIGN_SHIFT & 63);
	return head_damage(head_of(p), size, align, facts, at) || tail_damage(p, size, at);
}

bool canary_spilled(const void *p, size_t size, size_t align)
{
	uint64_t canary = pmm_canary(canary_secret, (uint64_t)p),
		 behind = ((const uint64_t *)pmm_tail_end((uint64_t)p, size))[-1];
	bool before = pmm_gap_bytes(align)
			      ? *gap_of(p, align) != canary
			      : (head_of(p)->what & ~PMM_HEAD_FREED) != head_what(size, align);

	return before || (behind != canary && behind != CANARY_POISON_WORD);
}

bool canary_take(void *p)
{
	return quick_take(p);
}

bool canary_poisoned(const void *p, size_t size, size_t align, uint64_t *at)
{
	const uint64_t *w = p;

	return !words_damage(w, w + poison_words(p, size), CANARY_POISON_WORD, at) &&
	       !gap_damage(p, align, at) && !head_damage(head_of(p), size, align, 0, at) &&
	       (size < CANARY_POISON_MOST || !tail_damage(p, size, at));
}

void canary_clear(void *p)
{
	quick_clear(p);
}
