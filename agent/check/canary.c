/*
 * Canaried blocks: heads and tails around blocks of the real allocator.
 *
 * All in aligned words: what belongs to a word with the block's last bytes is set and looked at under a mask.
 */
#include "agent/check/canary.h"

#include "agent/agent.h"
#include "agent/sys.h"
#include "include/pmm/check.h"

#define SIZE_MASK	((1ull << PMM_HEAD_ALIGN_SHIFT) - 1)
#define POISON_WORD	(PMM_POISON_BYTE * 0x0101010101010101ull)
#define LONG_WORDS	64	/* from here on one instruction for all is quicker than a loop */

static uint64_t secret;

void canary_start(uint64_t s)
{
	secret = s;
}

bool canary_bytes(size_t size, size_t align, size_t *bytes)
{
	if (size > SIZE_MASK || align > SIZE_MASK)
		return false;
	*bytes = pmm_front_bytes(align) + ((size + 15) & ~15ull) + PMM_TAIL_BYTES;
	return true;
}

static inline struct pmm_head *head_of(const void *p)
{
	return (struct pmm_head *)p - 1;
}

static inline unsigned log2_of(size_t align)
{
	return align ? 63 - (unsigned)__builtin_clzll(align) : 0;
}

static inline void head_set(struct pmm_head *h, uint64_t what)
{
	h->what = what;
	h->seal = pmm_seal(secret, (uint64_t)(h + 1), what);
}

/* The bits of the word at `at` that lie at or behind byte `end`. */
static inline uint64_t bits_behind(uint64_t end)
{
	return ~0ull << (end & 7) * 8;
}

static inline void words_fill(uint64_t *w, size_t nr, uint64_t value)
{
	if (nr < LONG_WORDS)
		for (size_t i = 0; i < nr; i++)
			STORE(w[i], value);
	else
		__asm__ volatile("rep stosq" : "+D"(w), "+c"(nr) : "a"(value) : "memory");
}

/* First of `nr` words that is something else, or nr. */
static inline size_t words_same(const uint64_t *w, size_t nr, uint64_t value)
{
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
		if ((w[i] ^ value) | (w[i + 1] ^ value) | (w[i + 2] ^ value) | (w[i + 3] ^ value))
			break;
	while (i < nr && w[i] == value)
		i++;
	return i;
}

/* Address of the lowest byte in which the word at `w` differs. */
static inline uint64_t byte_at(const uint64_t *w, uint64_t differs)
{
	return (uint64_t)w + (unsigned)__builtin_ctzll(differs) / 8;
}

/* The gap before the head, and what is behind the block. */
static inline void canary_around(uint64_t block, size_t size, size_t align)
{
	uint64_t end = block + size, canary = pmm_canary(secret, block), behind = bits_behind(end), *w = (uint64_t *)(end & ~7ull);

	if (unlikely(align > PMM_HEAD_BYTES))
		words_fill(canary_real((void *)block, align), (align - PMM_HEAD_BYTES) / 8, canary);
	if (~behind)			/* the block's own bytes in this word stay */
		*w = (*w & ~behind) | (canary & behind), w++;
	for (; w < (uint64_t *)pmm_tail_end(block, size); w++)
		*w = canary;
}

void *canary_make(void *real, size_t size, size_t align)
{
	uint64_t block = (uint64_t)real + pmm_front_bytes(align);

	head_set(head_of((void *)block), size | (uint64_t)log2_of(align) << PMM_HEAD_ALIGN_SHIFT);
	canary_around(block, size, align);
	return (void *)block;
}

void canary_mend(void *p, size_t size, size_t align)
{
	head_set(head_of(p), size | (uint64_t)log2_of(align) << PMM_HEAD_ALIGN_SHIFT | PMM_HEAD_FREED);
	canary_around((uint64_t)p, size, align);
}

/* *over: the facts, spread, that lie over the seal. */
static inline enum canary_says look(const void *p, size_t *size, size_t *align, uint64_t *over)
{
	const struct pmm_head *h = head_of(p);
	uint64_t what = LOAD(h->what);

	*over = LOAD(h->seal) ^ pmm_seal(secret, (uint64_t)p, what);
	if (unlikely((uint64_t)p & 15) || unlikely(*over & PMM_SEAL_SURE) || unlikely(what >> 51))
		return CANARY_NOTHING;
	*size = what & SIZE_MASK;
	*align = 1ull << (what >> PMM_HEAD_ALIGN_SHIFT & 63);
	return what & PMM_HEAD_FREED ? CANARY_FREED : CANARY_LIVE;
}

enum canary_says canary_look(const void *p, size_t *size, size_t *align)
{
	uint64_t over;

	return look(p, size, align, &over);
}

enum canary_says canary_look_facts(const void *p, size_t *size, size_t *align, uint32_t *facts)
{
	uint64_t over;
	enum canary_says says = look(p, size, align, &over);

	*facts = (uint32_t)pmm_gather(over & ~PMM_SEAL_SURE);
	return says;
}

void canary_note(void *p, uint32_t facts)
{
	struct pmm_head *h = head_of(p);

	STORE(h->seal, h->seal ^ pmm_spread(facts));
}

void canary_rename(void *p, uint32_t kind)
{
	size_t size, align;
	uint32_t facts;

	if (canary_look_facts(p, &size, &align, &facts) == CANARY_LIVE && facts)
		canary_note(p, (facts ^ kind << PMM_FACTS_KIND_SHIFT) & 15u << PMM_FACTS_KIND_SHIFT);
}

enum canary_says canary_look_safely(const void *p, size_t *size, size_t *align)
{
	if ((uint64_t)p & 15 || (uint64_t)p < ARCH_PAGE)
		return CANARY_NOTHING;
	if (!LOAD(A.confined) && !sys_readable((uintptr_t)p - PMM_HEAD_BYTES))
		return CANARY_NOTHING;
	return canary_look(p, size, align);
}

static bool head_damage(const struct pmm_head *h, size_t size, size_t align, uint32_t facts, uint64_t *at)
{
	uint64_t what = h->what & ~PMM_HEAD_FREED, differs = what ^ (size | (uint64_t)log2_of(align) << PMM_HEAD_ALIGN_SHIFT);

	if (unlikely(differs))
		return *at = byte_at(&h->what, differs), true;
	differs = h->seal ^ pmm_seal(secret, (uint64_t)(h + 1), h->what) ^ pmm_spread(facts);
	if (unlikely(differs))
		return *at = byte_at(&h->seal, differs), true;
	return false;
}

static bool gap_damage(const void *p, size_t align, uint64_t *at)
{
	const uint64_t *w = (const uint64_t *)canary_real(p, align), *end = (const uint64_t *)head_of(p);
	uint64_t canary = pmm_canary(secret, (uint64_t)p);

	for (; unlikely(w < end); w++)
		if (*w != canary)
			return *at = byte_at(w, *w ^ canary), true;
	return false;
}

static inline bool tail_damage(const void *p, size_t size, uint64_t *at)
{
	uint64_t end = (uint64_t)p + size, canary = pmm_canary(secret, (uint64_t)p), behind = bits_behind(end);
	const uint64_t *w = (const uint64_t *)(end & ~7ull), *to = (const uint64_t *)pmm_tail_end((uint64_t)p, size);

	for (; w < to; w++, behind = ~0ull)
		if (unlikely((*w ^ canary) & behind))
			return *at = byte_at(w, (*w ^ canary) & behind), true;
	return false;
}

bool canary_damage_around(const void *p, size_t size, size_t align, uint64_t *at)
{
	return (unlikely(align > PMM_HEAD_BYTES) && gap_damage(p, align, at)) || tail_damage(p, size, at);
}

bool canary_damage(const void *p, size_t size, size_t align, uint64_t *at)
{
	return (unlikely(align > PMM_HEAD_BYTES) && gap_damage(p, align, at)) || head_damage(head_of(p), size, align, 0, at) ||
	       tail_damage(p, size, at);
}

bool canary_damage_headless(const void *p, size_t size, bool aligned, uint32_t facts, uint64_t *at)
{
	uint64_t exponent = aligned ? head_of(p)->what >> PMM_HEAD_ALIGN_SHIFT & 63 : 0;

	return head_damage(head_of(p), size, 1ull << exponent, facts, at) || tail_damage(p, size, at);
}

bool canary_take(void *p)
{
	struct pmm_head *h = head_of(p);
	uint64_t what = LOAD(h->what);

	if (what & PMM_HEAD_FREED)
		return false;
	if (likely(*A.single_threaded)) {
		if (!arch_cas_local(&h->what, &what, what | PMM_HEAD_FREED))
			return false;
	} else if (!CAS(h->what, what, what | PMM_HEAD_FREED)) {
		return false;
	}
	STORE(h->seal, pmm_seal(secret, (uint64_t)p, what | PMM_HEAD_FREED));
	return true;
}

/* Whole words of a block that are poisoned; what is left of the last one belongs to it. */
static inline size_t poison_words(size_t size)
{
	return (size < CANARY_POISON_MOST ? size : CANARY_POISON_MOST) / 8;
}

void canary_poison(void *p, size_t size)
{
	size_t nr = poison_words(size);
	uint64_t *w = (uint64_t *)p + nr, behind = bits_behind(size);

	words_fill(p, nr, POISON_WORD);
	if (~behind && size < CANARY_POISON_MOST)
		*w = (*w & behind) | (POISON_WORD & ~behind);
}

bool canary_poisoned(const void *p, size_t size, size_t align, uint64_t *at)
{
	size_t nr = poison_words(size), i = words_same(p, nr, POISON_WORD);
	const uint64_t *w = (const uint64_t *)p + i;
	uint64_t mine = i < nr ? ~0ull : size < CANARY_POISON_MOST ? ~bits_behind(size) : 0;

	if (mine && (*w ^ POISON_WORD) & mine)
		return *at = byte_at(w, (*w ^ POISON_WORD) & mine), false;
	return !canary_damage(p, size, align, at);
}

void canary_clear(void *p)
{
	STORE(head_of(p)->seal, 0);
	STORE(head_of(p)->what, 0);
}
