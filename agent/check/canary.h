/* SPDX-License-Identifier: MIT */
/*
 * Canaried blocks: heads and tails (include/pmm/check.h) around blocks of the real allocator.
 *
 * Whose a block is, is for the caller to know; of the functions here only canary_take() decides
 * between threads.
 */
#ifndef AGENT_CHECK_CANARY_H
#define AGENT_CHECK_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/check/canary_quick.h"
#include "agent/sys.h"
#include "include/pmm/check.h"

/* What canaries are made of; before all else. */
void canary_start(uint64_t secret);

/* Bytes to ask the real allocator for; false: more than there can be. */
bool canary_bytes(size_t size, size_t align, size_t *bytes);

/*
 * Make a block inside the real one, which is aligned to `align` if that is more than 16. `align`: a
 * power of two or 0.
 */
void *canary_make(void *real, size_t size, size_t align);

/* What the head in front of an address says. */
enum canary_says { CANARY_NOTHING, CANARY_LIVE, CANARY_FREED };

/*
 * Is there the head of a canaried block in front of p? 16 bytes before p must be readable, as they
 * are before whatever an allocator handed out unless canary_begins(); canary_look_safely() asks the
 * kernel (a system call) for pointers that may be anything, as long as it may be asked. *align is 1
 * where none was asked for.
 */
enum canary_says canary_look(const void *p, size_t *size, size_t *align);
enum canary_says canary_look_safely(const void *p, size_t *size, size_t *align);

/*
 * May a block at p be the first in its memory? Of other allocators than glibc's, which put nothing
 * before their blocks.
 */
static inline bool canary_begins(const void *p)
{
	return unlikely(agent.dense) && (uint64_t)p % ARCH_PAGE < PMM_HEAD_BYTES;
}

/* canary_look() with the facts of a live block (include/pmm/check.h), as they are there. */
enum canary_says canary_look_facts(const void *p, size_t *size, size_t *align, uint64_t *facts);

/*
 * For canary_look(), when the head at p made no sense: has another thread called canary_take() just
 * then, whose two stores were seen one without the other?
 */
bool canary_just_taken(const void *p, size_t *size, size_t *align);

/* Another kind into the facts of what may be a live block; nothing where it is none. */
void canary_rename(void *p, uint32_t kind);

/* The real block of a canaried one. */
static inline void *canary_real(const void *p, size_t align)
{
	return (char *)p - (align > 16 ? align : 16);
}

/*
 * First byte of gap or tail that is not as it was, in a block whose head canary_look() has just
 * read; false: all is well.
 */
bool canary_damage_around(const void *p, size_t size, size_t align, uint64_t *at);

/*
 * First byte of head or tail that is not as it was, where the tables alone know of the block, or
 * what is left of its head. align 0: the head alone says it. facts 0: not known.
 */
bool canary_damage_headless(const void *p, size_t size, size_t align, uint64_t facts, uint64_t *at);

/*
 * Has what overwrote head or canary got as far as the last word of it on one side? Then what is
 * beyond, which is the real allocator's or another block's, may be overwritten as well. Of live
 * blocks, and of released ones that are poisoned.
 */
bool canary_spilled(const void *p, size_t size, size_t align);

/* Head and canary of a released block as they were to be, whatever has become of them. */
void canary_mend(void *p, size_t size, size_t align);

/*
 * Mark the head of a live block as that of a released one: true for one caller; others (a double
 * free) get false.
 */
bool canary_take(void *p);

/* Is all of it still poison, and what is before it as it was? First byte that is not in *at. */
bool canary_poisoned(const void *p, size_t size, size_t align, uint64_t *at);

/* Invalidate the head, before the real block is released. */
void canary_clear(void *p);

/* ---- the same, where each allocation or release comes by ------------------------------------- */

/* canary_look(). *over: the facts, spread, that are on top of the seal. */
QUICK enum canary_says canary_quick_look(const void *p, size_t *size, size_t *align, uint64_t *over)
{
	const struct pmm_head *h = head_of(p);
	uint64_t what = LOAD(h->what);

	*over = LOAD(h->seal) ^ pmm_seal(canary_secret, (uint64_t)p, what);
	if (unlikely((uint64_t)p & 15) || unlikely(*over & PMM_SEAL_SURE) ||
	    unlikely(what >> 51))		/* zeroes, at an address of no luck */
		return canary_just_taken(p, size, align) ? CANARY_FREED : CANARY_NOTHING;
	*size = what & CANARY_SIZE_MASK;
	*align = 1ull << (what >> PMM_HEAD_ALIGN_SHIFT & 63);
	return unlikely(what & PMM_HEAD_FREED) ? CANARY_FREED : CANARY_LIVE;
}

/* canary_damage_around() */
QUICK bool canary_quick_damage_around(const void *p, size_t size, size_t align, uint64_t *at)
{
	struct canary_tail t = tail_of((uint64_t)p, size);

	if (likely(align <= PMM_HEAD_BYTES) &&
	    likely(tail_whole(&t, pmm_canary(canary_secret, (uint64_t)p))))
		return false;
	return canary_damage_around(p, size, align, at);
}

/* canary_poisoned() */
QUICK bool canary_quick_poisoned(const void *p, size_t size, size_t align, uint64_t *at)
{
	uint64_t what = head_what(size, align) | PMM_HEAD_FREED;
	const struct pmm_head *h = head_of(p);

	if (likely(align <= PMM_HEAD_BYTES && size < CANARY_POISON_MOST) &&
	    likely(!((h->what ^ what) | (h->seal ^ pmm_seal(canary_secret, (uint64_t)p, what)))) &&
	    likely(words_same(p, poison_words(p, size), CANARY_POISON_WORD)))
		return true;
	return canary_poisoned(p, size, align, at);
}

#endif
