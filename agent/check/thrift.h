/*
 * Blocks that pass unchecked because the budget is used up: the real allocator's own, in no table, without a head. Which these are, and how
 * they are told from checked ones when they come back.
 *
 * While the purse of canaries is empty a thread lets THRIFT_RUN blocks pass before it asks again. The first blocks of each call site are
 * checked all the same; call sites are told apart by return address and stack pointer, which costs next to nothing.
 *
 * glibc's malloc shows of a block that it is one. Of what other allocators gave out it is known only that it is none of ours.
 */
#ifndef AGENT_CHECK_THRIFT_H
#define AGENT_CHECK_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/preload/preload.h"

#define THRIFT_RUN	64u
#define THRIFT_SITES	8192u		/* power of two */
#define THRIFT_PROBES	4u
#define THRIFT_FIRST	16u		/* blocks of a call site */

/* How many blocks of each call site were checked: hash:11 | blocks:5; 0 = none, free. */
extern uint16_t thrift_seen[THRIFT_SITES] __attribute__((visibility("hidden")));

/* Has any block passed? */
extern bool thrift_any __attribute__((visibility("hidden")));

static inline uint64_t thrift_hash(uint64_t ra, uint64_t sp)
{
	return (ra ^ sp << 20) * 0x9e3779b97f4a7c15ull;
}

/* The call site's entry: its own, a free one, or where all near are taken that of another. */
static inline uint16_t *thrift_site(uint64_t hash)
{
	for (unsigned i = 0; i < THRIFT_PROBES; i++) {
		uint16_t *entry = &thrift_seen[((hash >> 51) + i) % THRIFT_SITES], is = LOAD(*entry);

		if (likely(is >> 5 == (hash >> 40 & 0x7ff)) || !is)
			return entry;
	}
	return &thrift_seen[hash >> 51];
}

/* Exact mode: may a block asked for from there pass without further ado? ra, sp: as in struct caller. */
static inline bool thrift_passes(uint64_t ra, uint64_t sp)
{
	uint64_t left = LOAD(hook_countdown);	/* once: a signal handler may count as well, down to 0 */

	if (!left || (LOAD(*thrift_site(thrift_hash(ra, sp))) & 31) < THRIFT_FIRST)
		return false;
	STORE(hook_countdown, left - 1);
	return true;
}

/* Are there to be any? */
void thrift_start(bool on);

/* Is the next block to be checked? If not, it passes and so do those after it. */
bool thrift_affords(struct tctx *c, const struct caller *from);

/* Count what passed on this thread since it asked last. */
void thrift_count(struct tctx *c);

/* Is p, which is about to be released or resized, surely a block that passed? Quick; where it takes longer the answer is no. */
bool thrift_passed(const void *p);

/* The same where thrift_passed() and the tables said no, and there is no live head: p may be anything. sp: the caller's. */
bool thrift_passed_safely(const void *p, uint64_t sp);

#endif
