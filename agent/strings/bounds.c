/* SPDX-License-Identifier: MIT */
/*
 * Where blocks are, for accesses of string and memory functions.
 *
 * Where a canaried block begins and how large it is is taken from the ledger's tables, without
 * reading the program's memory. Before anything is reported of a block its head must agree: tables
 * may be behind for blocks that came or went without a context. Blocks from before a fork are in no
 * table; they are recognised by their heads alone, as far as these are near and on the same page.
 *
 * Memory that is handed out again is full of what was left over: poison of released blocks, canary
 * of others. None of it means anything unless there is a head that goes with it.
 */
#include "agent/strings/bounds.h"

#include "agent/block.h"
#include "agent/guard/area.h"
#include "agent/check/canary.h"
#include "agent/guard/guard.h"
#include "agent/guard/guarded.h"
#include "agent/check/checker.h"
#include "agent/unwind/module.h"
#include "agent/preload/agent_preload.h"

/* how far before an address its block is looked for each time: 8 words of the table */
#define REACH		256u
#define REACH_FAR	16384u		/* ... once in a while, and when a finding is made */
#define REACH_MOST	(1ul << 20)	/* ... for an access that itself takes longer than that */
/* what a leaf of the block tables covers: shape[] in agent/block_words.h */
#define LEAF_BYTES	(1ul << (BLOCK_HEAP_SHIFT + PMM_LEAF_BITS))
#define SEEN		1024u		/* pages */
#define LARGE		256u
#define TRUST		64u
#define TRUST_MOST	(1u << 16)
#define SCAN		256u		/* bytes that are gone through */
#define NEAR_WORDS	16u		/* of poison, gone through before tables are asked */
/* bytes of another page looked at together; divides a page */
#define PEEK		512u
#define POISON		(PMM_POISON_BYTE * 0x0101010101010101ull)
#define WHAT_FREED	(PMM_HEAD_FREED >> PMM_HEAD_ALIGN_SHIFT)

bool bounds_on;
struct bounds_where bounds_where;
uint64_t bounds_secret;

/* After the agent has begun (agent/preload/life.c). */
static __attribute__((constructor(102))) void begin(void)
{
	if (!agent_is_on() || !check_ready() ||
	    checker.o.flags & PMM_CHECK_NO_STRINGS)
		return;
	bounds_on = true;
	bounds_secret = checker.o.secret;
	bounds_where = (struct bounds_where){ .pool = areas.start,
					      .pool_bytes = areas.end - areas.start };
	if (!LOAD(checker.ended) &&
	    (checker.o.level == PMM_CHECK_LIGHT || checker.o.level == PMM_CHECK_GUARD))
		bounds_where.tops = 1ull << (PMM_ADDRESS_BITS - BOUNDS_TOP_SHIFT);
}

void bounds_end(void)
{
	STORE(bounds_where.tops, 0);
}

/* Are the tables this process's, and kept? */
static inline bool tables_hold(void)
{
	return agent_is_on() && LOAD_ACQUIRE(checker.image) == LOAD(*agent.alive) &&
	       bounds_where.tops;
}

/* Are we in a child that has no ledger of its own yet? */
static inline bool just_forked(void)
{
	return bounds_where.tops && agent_is_on() && !LOAD(*agent.alive);
}

/* Are there blocks from before a fork, which are in no table of ours? */
static inline bool is_heir(void)
{
	return unlikely(checker.parent_pid) || just_forked();
}

/* ---- blocks by page -------------------------------------------------------------------------- */

/*
 * The block last found on a page, if it is a large one, so that it is not looked for each time.
 * Threads write here as they like: whatever is mixed up is either found out or allows too much. A
 * page where none was found is believed to have none for a while.
 */
static struct seen {
	uint64_t page;
	uint64_t start;			/* 0: none was found */
	uint64_t words;			/* where it has them, from agent.base */
	uint32_t trust;			/* how often `none` is still believed */
	/* the block from before a fork that was found last, 0: none */
	uint64_t heir;
	/*
	 * poison that the page begins with was of no released block: how often that is believed,
	 * and still is
	 */
	uint32_t peeked, peek_in;
} seen[SEEN];

void bounds_forked(void)
{
	memset(seen, 0, sizeof(seen));
}

static inline struct seen *seen_at(uint64_t at)
{
	return &seen[at / ARCH_PAGE % SEEN];
}

static void see(uint64_t at, uint64_t start, const uint64_t *words)
{
	struct seen *s = seen_at(at);

	if (LOAD(s->page) != at / ARCH_PAGE) {
		STORE(s->peeked, 0);
		STORE(s->peek_in, 0);
		STORE(s->heir, 0);
	}
	STORE(s->start, 0);
	STORE(s->words, words ? (uint64_t)((const char *)words - agent.base) : 0);
	STORE(s->trust, TRUST);
	STORE(s->page, at / ARCH_PAGE);
	STORE(s->start, start);
}

/*
 * The nearest block that begins at or before `at`; further away than `reach` only once in a while.
 */
static inline bool nearest(uint64_t at, uint64_t reach, uint64_t *start, uint64_t *size)
{
	struct seen *s = seen_at(at);
	bool known = LOAD(s->page) == at / ARCH_PAGE;
	const uint64_t *words;
	struct block_info was;

	if (unlikely(agent.dense)) {
		if (!block_below(at, reach, start, &was))
			return false;
		*size = was.size;
		return true;
	}
	*start = LOAD(s->start);
	if (known && *start && *start <= at &&
	    block_there((const uint64_t *)(agent.base + LOAD(s->words)), *start, size) &&
	    at < pmm_tail_end(*start, *size))
		return true;
	words = block_span(at, reach, start, size);
	if (words) {
		if (*size > LARGE && at - *start < *size)
			see(at, *start, words);
		return true;
	}
	if (known && LOAD(s->trust)) {
		STORE(s->trust, LOAD(s->trust) - 1);
		return false;
	}
	words = block_span(at, REACH_FAR, start, size);
	see(at, words && at - *start < *size ? *start : 0, words);
	return words;
}

/* ---- released blocks ------------------------------------------------------------------------- */

/* Is there the head of a released block in front of `block`, which reaches beyond `at`? */
static bool freed_head(uint64_t block, uint64_t at)
{
	size_t size, align;

	return block % 16 == 0 && canary_look((const void *)block, &size, &align) == CANARY_FREED &&
	       at - block < size;
}

/*
 * The first page of what may be a released block's poison ends at `page`, where poison continues:
 * is the head before it that of one that reaches beyond `at`? Other pages may be unmapped at any
 * time, so that the kernel copies.
 */
static bool freed_before(uint64_t page, uint64_t at)
{
	uint64_t piece[PEEK / 8], from = page - PEEK;
	struct pmm_head head;
	unsigned i;

	for (; page - from <= CANARY_POISON_MOST && module_copy(piece, from, PEEK); from -= PEEK) {
		for (i = PEEK / 8; i && piece[i - 1] == POISON; i--)
			;
		if (!i)
			continue;
		from += i * 8 - sizeof(head);
		return from % 16 == 0 && module_copy(&head, from, sizeof(head)) &&
		       head.what & PMM_HEAD_FREED && head.what >> 51 == 0 &&
		       bounds_sealed(&head, from + sizeof(head)) &&
		       at - (from + sizeof(head)) < (head.what & (BOUNDS_SIZES - 1));
	}
	return false;
}

/*
 * Poison from the page's start to `at`. What was found last time is believed for a while, twice as
 * long each time.
 */
static bool freed_far(uint64_t at)
{
	struct seen *s = seen_at(at);
	uint32_t trust;

	if (LOAD(agent.confined))
		return false;
	if (LOAD(s->page) == at / ARCH_PAGE && LOAD(s->peek_in)) {
		STORE(s->peek_in, LOAD(s->peek_in) - 1);
		return false;
	}
	if (freed_before(at & ~(ARCH_PAGE - 1), at))
		return true;
	if (LOAD(s->page) != at / ARCH_PAGE)
		see(at, 0, NULL);
	trust = LOAD(s->peeked) ? LOAD(s->peeked) : TRUST;
	STORE(s->peek_in, trust);
	STORE(s->peeked, trust < TRUST_MOST ? trust * 2 : trust);
	return false;
}

enum freed { FREED_NOT, FREED_IS, FREED_UNKNOWN };

/*
 * Is `at` in a released block's poison? Going by the head before it, if that is on the page
 * and at most so many words away.
 */
static inline enum freed freed_near(uint64_t at, unsigned words)
{
	const uint64_t *w = (const uint64_t *)(at & ~7ull);

	if (*w != POISON)
		return FREED_NOT;
	for (; (uint64_t)w % ARCH_PAGE && w[-1] == POISON; w--)
		if (!words--)
			return FREED_UNKNOWN;
	if ((uint64_t)w % ARCH_PAGE == 0)
		return FREED_UNKNOWN;
	return freed_head((uint64_t)w, at) ? FREED_IS : FREED_NOT;
}

/*
 * Is `at` in a released block? Going by the head right before, if it is there; that is on the
 * page that is about to be accessed, or else is not looked at. Or by the head before the poison
 * that it is in.
 */
static bool in_freed(uint64_t at)
{
	enum freed near;

	if (at % 16 == 0 && at % ARCH_PAGE &&
	    ((const struct pmm_head *)at - 1)->what >> PMM_HEAD_ALIGN_SHIFT >= WHAT_FREED &&
	    freed_head(at, at))
		return true;
	near = freed_near(at, ARCH_PAGE / 8);
	return near == FREED_UNKNOWN ? freed_far(at) : near == FREED_IS;
}

/* ---- how much is left ------------------------------------------------------------------------ */

static size_t left_guarded(uint64_t at)
{
	uint32_t run = guard_find(at);
	const struct pmm_guard *g;

	if (likely(run != UINT32_MAX)) {
		g = guard_at(run);
		if (LOAD_ACQUIRE(g->state) == PMM_GUARD_LIVE && at - g->address <= g->size_bytes)
			return g->address + g->size_bytes - at;
	}
	return guard_owner(at, 0) == UINT32_MAX ? SIZE_MAX : 0;
}

/*
 * Can the head of a block, which may be on another page, be looked at? Pages may be unmapped at any
 * time, so that the kernel is asked.
 */
static bool head_there(uint64_t block)
{
	return !LOAD(agent.confined) && sys_readable(block - PMM_HEAD_BYTES);
}

/*
 * Further than REACH only once in a while, as nearest() does it: has that looked just now, or is it
 * to be done?
 */
static bool far_now(uint64_t at, bool looked)
{
	struct seen *s = seen_at(at);
	bool known = LOAD(s->page) == at / ARCH_PAGE;

	if (looked)
		return known && LOAD(s->trust) == TRUST;
	if (!LOAD(agent.alive[2])) {		/* what was seen was seen in the parent */
		STORE(agent.alive[2], 1);
		bounds_forked();
		known = false;
	}
	if (known && LOAD(s->trust)) {
		STORE(s->trust, LOAD(s->trust) - 1);
		return false;
	}
	see(at, 0, NULL);
	return true;
}

/* Is remembered for left_inherited(), which may not look as far. */
static bool heir_seen(uint64_t at, uint64_t block)
{
	struct seen *s = seen_at(at);

	if (LOAD(s->page) != at / ARCH_PAGE)
		see(at, 0, NULL);
	STORE(s->heir, block);
	return true;
}

/*
 * The block from before a fork that `at` is in the head of, or behind its beginning: 0 = none is
 * known.
 */
static uint64_t inherited(uint64_t at, bool looked, size_t *size)
{
	uint64_t block = (at & ~15ull) + PMM_HEAD_BYTES, reach = REACH;
	enum canary_says says = CANARY_NOTHING;
	size_t align;

	if (block % ARCH_PAGE && canary_look((const void *)block, size, &align) == CANARY_LIVE)
		return block;
	for (block -= 16; says == CANARY_NOTHING && block >= ARCH_PAGE; block -= 16) {
		if (at - block > reach && (reach == REACH_FAR || !far_now(at, looked)))
			return 0;
		if (at - block > reach)
			reach = REACH_FAR;
		if (block % ARCH_PAGE == 0 && !head_there(block))
			return 0;
		says = canary_look((const void *)block, size, &align);
		if (says == CANARY_LIVE)
			return block;
	}
	return 0;
}

static SLOW size_t left_inherited(uint64_t at, bool looked)
{
	struct seen *s = seen_at(at);
	uint64_t block = LOAD(s->page) == at / ARCH_PAGE ? LOAD(s->heir) : 0;
	size_t size, align;

	if (!block || block > at || at - block <= REACH || !head_there(block) ||
	    canary_look((const void *)block, &size, &align) != CANARY_LIVE ||
	    at >= pmm_tail_end(block, size)) {
		block = inherited(at, looked, &size);
		if (block && at > block + REACH)
			heir_seen(at, block);
	}
	if (!block || (at > block && at >= pmm_tail_end(block, size)))
		return SIZE_MAX;
	return at < block || at - block > size ? 0 : block + size - at;
}

/* Where each byte that is accessed costs more than four that are gone back over. */
static inline uint64_t reach_for(size_t bytes)
{
	return bytes < REACH_FAR	? REACH + bytes / 4
	       : bytes < REACH_MOST / 4 ? bytes * 4
					: REACH_MOST;
}

/*
 * May there be a released block's poison at `at`? Then there are tables where the block begins,
 * which is no further away than poison reaches.
 */
static inline bool poison_near(uint64_t at)
{
	for (uint64_t back = 0; back <= CANARY_POISON_MOST && back <= at; back += LEAF_BYTES)
		if (block_near(at - back))
			return true;
	return unlikely(checker.parent_pid); /* near blocks from before a fork they may be empty */
}

size_t bounds_left_slow(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p, start, size;

	if (bounds_guarded(p))
		return left_guarded(at);
	if (unlikely(!tables_hold()))
		return !bytes || !just_forked() ? SIZE_MAX
		       : in_freed(at)		? 0
						: left_inherited(at, false);
	if (likely(nearest(at, reach_for(bytes), &start, &size))) {
		if (likely(at - start <= size))
			return start + size - at;
		if (at < pmm_tail_end(start, size))
			return 0;
	}
	if (!bytes)
		return SIZE_MAX;
	if (poison_near(at) && in_freed(at))
		return 0;
	return unlikely(checker.parent_pid) ? left_inherited(at, true) : SIZE_MAX;
}

/* ---- does it fit ----------------------------------------------------------------------------- */

static inline uint64_t word_at(uint64_t at)
{
	return *(const uint64_t *)at;
}

/* Does the head of a block at `block`, which is in no table, say that it ends so? */
static SLOW bool head_ends(uint64_t block, uint64_t slot)
{
	const struct pmm_head *h = (const struct pmm_head *)block - 1;

	if (((uint64_t)h ^ slot) >= ARCH_PAGE && !(is_heir() && head_there(block)))
		return false;
	return bounds_sealed(h, block) &&
	       pmm_tail_end(block, h->what & (BOUNDS_SIZES - 1)) == slot + 16;
}

/*
 * The sixteen bytes at `slot` have the highest bit of each set: are they the last ones of a block's
 * canary? `at`: where the access begins that comes upon them. What is left of a block that is gone
 * has no head.
 */
static SLOW bool is_tail(uint64_t slot, uint64_t at)
{
	uint64_t word = word_at(slot),
		 block = word == word_at(slot + 8) ? pmm_canary_of(bounds_secret, word, slot) : 0,
		 start, size;
	const struct pmm_head *h = (const struct pmm_head *)block - 1;
	const uint64_t *words;

	if (!block)
		return false;
	if (((uint64_t)h ^ slot) < ARCH_PAGE &&
	    pmm_tail_end(block, h->what & (BOUNDS_SIZES - 1)) != slot + 16)
		return false;
	if (!tables_hold() || !(words = block_span(block, 0, &start, &size)) || start != block)
		return head_ends(block, slot) && heir_seen(at, block);
	if (pmm_tail_end(block, size) != slot + 16)
		return false;
	if (block <= at)
		see(at, block, words);
	return true;
}

static inline bool all_high(uint64_t slot)
{
	return (word_at(slot) & word_at(slot + 8) & PMM_CANARY_HIGH) == PMM_CANARY_HIGH;
}

/* Does [at, end) come upon the end of a block? */
static inline bool meets_tail(uint64_t at, uint64_t end)
{
	uint64_t slot = at & ~15ull, last = end - 1;

	for (; slot <= last; slot += 16)
		if (unlikely(all_high(slot)) && word_at(slot) != POISON && is_tail(slot, at))
			return true;
	/* the bytes that it ends in may be the block's last ones, which canary fills up */
	return *(const int8_t *)last < 0 && slot % ARCH_PAGE &&
	       *(const uint8_t *)(last + 16) == *(const uint8_t *)last && all_high(slot) &&
	       is_tail(slot, at);
}

bool bounds_fits(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p, last = at + bytes - 1;

	if (!bounds_suspect(p) || !bytes)
		return true;
	if (bounds_guarded(p))
		return bytes <= left_guarded(at);
	if (bounds_head_allows(p, bytes))
		return true;
	if (bytes > SCAN || freed_near(at, NEAR_WORDS) != FREED_NOT ||
	    (*(const int8_t *)last < 0 && (last | 15) % ARCH_PAGE == ARCH_PAGE - 1))
		return bytes <= bounds_left_slow(p, bytes);
	return likely(!meets_tail(at, last + 1)) || bytes <= bounds_left_slow(p, bytes);
}

/* ---- for sure -------------------------------------------------------------------------------- */

bool bounds_block(uint64_t at, size_t bytes, struct check_block *b)
{
	uint64_t start, size, where = at;
	size_t align;
	bool freed;

	if (guard_in_pool(at))
		return check_on() && guarded_find(at, bytes == SIZE_MAX ? 0 : bytes, b);
	freed = in_freed(at);
	if (!freed && nearest(at, REACH_FAR, &start, &size) && at < pmm_tail_end(start, size))
		at = start;
	if (!check_find(at, freed ? CHECK_REACH_ALL : checker.parent_pid ? REACH_MOST : 0, b))
		return false;
	if (b->freed)
		return freed;
	return where + PMM_HEAD_BYTES >= b->address && where < pmm_tail_end(b->address, b->size) &&
	       canary_look((const void *)b->address, &size, &align) == CANARY_LIVE &&
	       size == b->size;
}

