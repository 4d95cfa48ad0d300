/*
 * Blocks that pass unchecked because the budget is used up.
 */
#include "agent/check/thrift.h"

#include "agent/block_words.h"
#include "agent/check/budget.h"
#include "agent/check/chunk.h"
#include "agent/check/guard.h"
#include "agent/check/ways.h"

#define QUICK_BYTES	((128u << 10) + CHUNK_LEAST_BYTES)
#define MOST_BYTES	((1ull << 40) + CHUNK_LEAST_BYTES)

uint16_t thrift_seen[THRIFT_SITES];
bool thrift_any;
static bool thrifty;

_Static_assert(THRIFT_SITES == 1u << (64 - 51), "what thrift_site() takes of a hash");

void thrift_start(bool on)
{
	thrifty = on && !A.dense;
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

/*
 * A chunk of glibc's, in a part of memory where blocks are: its size can be one, and what follows it is another chunk, which says that this
 * one is in use. That is read where it is on the same page. Elsewhere it is asked whether a checked block begins there, whose head might be
 * overwritten; the answer is far away in memory, and late.
 */
bool thrift_passed(const void *p)
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

bool thrift_passed_safely(const void *p)
{
	return !guard_in_pool((uint64_t)p) && place_is_chunk((uint64_t)p);
}
