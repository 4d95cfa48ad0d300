/*
 * Blocks that pass unchecked because the budget is used up.
 */
#include "agent/check/thrift.h"

#include "agent/block_words.h"
#include "agent/check/budget.h"
#include "agent/check/canary.h"
#include "agent/check/chunk.h"
#include "agent/check/guard.h"
#include "agent/check/ways.h"

#define QUICK_BYTES	((128u << 10) + CHUNK_LEAST_BYTES)
#define MOST_BYTES	((1ull << 40) + CHUNK_LEAST_BYTES)

#define REACH		256u		/* other allocators: how far below a pointer a checked block is looked for that it may be the middle of */
#define HEAP_SHIFT	20		/* ... memory in such parts was seen to be none but theirs */
#define HEAPS		4096u		/* so many are remembered; power of two */

uint16_t thrift_seen[THRIFT_SITES];
bool thrift_any;
static bool thrifty;

_Static_assert(THRIFT_SITES == 1u << (64 - 51), "what thrift_site() takes of a hash");

void thrift_start(bool on)
{
	thrifty = on;
}

void thrift_count(struct tctx *c)
{
	if (likely(!c->passing))
		return;
	ADD(A.ledger->check.passed, THRIFT_RUN - *c->countdown);
	c->passing = false;
	*c->countdown = 0;
}

bool thrift_affords(struct tctx *c, const struct caller *from)
{
	uint64_t hash = thrift_hash(from->ra, from->sp);
	uint16_t *seen;
	bool first;

	if (!thrifty)
		return true;
	thrift_count(c);
	seen = thrift_site(hash);
	first = (LOAD(*seen) & 31) < THRIFT_FIRST;
	if (first)
		STORE(*seen, LOAD(*seen) ? LOAD(*seen) + 1 : (uint16_t)((hash >> 40 & 0x7ff) << 5 | 1));
	if (likely(budget_allows(c, BUDGET_CANARIES, first)))
		return true;
	STORE(thrift_any, true);
	ADD(A.ledger->check.passed, 1);
	c->passing = true;
	*c->countdown = THRIFT_RUN;
	return false;
}

/* ---- glibc's blocks ------------------------------------------------------------------------------------- */

/*
 * A chunk of glibc's, in a part of memory where blocks are: its size can be one, and what follows it is another chunk, which says that this
 * one is in use. That is read where it is on the same page. Elsewhere it is asked whether a checked block begins there, whose head might be
 * overwritten; the answer is far away in memory, and late.
 */
static bool glibc_passed(const void *p)
{
	uint64_t at = (uint64_t)p, size, next, *word;

	/*
	 * NULL is in a part with blocks where the program's heap begins low, as without ASLR. Before a page's start there may be nothing, or
	 * nothing that can be read.
	 */
	if (unlikely(at % 16 || !(at % ARCH_PAGE) || at < ARCH_PAGE || !block_region(at) || guard_in_pool(at)))
		return false;
	size = ((const uint64_t *)p)[-1];
	if (unlikely(!chunk_sized(size, QUICK_BYTES)))
		return false;
	next = at - CHUNK_HEAD_BYTES + chunk_bytes(size);
	if (likely((next ^ at) < ARCH_PAGE)) {
		size = *(const uint64_t *)(next + 8);
		return size & CHUNK_BEFORE_USED && chunk_sized(size, MOST_BYTES);
	}
	word = word_find(PMM_TABLE_HEAP, at);
	return !word || !is_block(LOAD(*word));
}

/* ---- blocks of other allocators ------------------------------------------------------------------------- */

/* Parts of memory, + 1, in which a pointer was met that is on no stack and no variable: what else comes from there is taken to be neither. */
static uint64_t heaps[HEAPS];

static inline uint64_t *heap_of(uint64_t at)
{
	return &heaps[(at >> HEAP_SHIFT) % HEAPS];
}

static inline bool in_heap(uint64_t at)
{
	return LOAD(*heap_of(at)) == (at >> HEAP_SHIFT) + 1;
}

/* Does it lie in a live checked block that the tables know? */
static inline bool in_checked(uint64_t at)
{
	uint64_t start, size;

	return word_find(PMM_TABLE_DENSE, at) || (block_span(at, REACH, &start, &size) && at < pmm_tail_end(start, size));
}

/*
 * No head, and in no block that the tables know. What may be before the first block of a page is not looked at here. In a forked child
 * the parent's blocks are in no table: where the seal of one is overwritten, what it says of its size is left.
 */
static bool other_passed(const void *p)
{
	const struct pmm_head *h = (const struct pmm_head *)p - 1;
	uint64_t at = (uint64_t)p;

	if (unlikely(at >> PMM_ADDRESS_BITS || at % 8 || at % ARCH_PAGE < PMM_HEAD_BYTES) || unlikely(!in_heap(at)) || guard_in_pool(at))
		return false;
	if (unlikely((LOAD(h->seal) & PMM_CANARY_HIGH) == PMM_CANARY_HIGH) && LOAD(h->what) >> 51 == 0)
		return false;		/* a head of ours; what ends there as all canary does is another's tail */
	if (unlikely(K.parent_pid) && LOAD(h->what) - 1 < MOST_BYTES)
		return false;
	return !in_checked(at);
}

static bool other_passed_safely(const void *p, uint64_t sp)
{
	uint64_t at = (uint64_t)p;
	size_t size, align;

	if (at >> PMM_ADDRESS_BITS || in_checked(at) || canary_look_safely(p, &size, &align) != CANARY_NOTHING)
		return false;
	if (in_heap(at))
		return true;
	if (place_of(at, sp) != PMM_PLACE_UNKNOWN)
		return false;
	STORE(*heap_of(at), (at >> HEAP_SHIFT) + 1);
	return true;
}

/* ---- all ------------------------------------------------------------------------------------------------ */

bool thrift_passed(const void *p)
{
	return likely(!A.dense) ? glibc_passed(p) : other_passed(p);
}

bool thrift_passed_safely(const void *p, uint64_t sp)
{
	if (guard_in_pool((uint64_t)p))
		return false;
	return A.dense ? other_passed_safely(p, sp) : place_is_chunk((uint64_t)p);
}
