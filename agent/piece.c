/* SPDX-License-Identifier: MIT */
/*
 * Pieces of stacks: a two-way cache, the more recently used first in its set. It grows with the
 * stacks that come back.
 */
#include "agent/piece.h"

#include "agent/agent_arena.h"
#include "agent/node.h"
#include "agent/site.h"

_Static_assert(sizeof(struct piece) * PIECE_WAYS == 64, "a set is a line");
_Static_assert(PIECE_FRAMES == NODE_RUN, "a piece's nodes are looked up together");
_Static_assert(PMM_MAX_NODES <= PIECE_LEAF, "a bit of a node number is free");

/*
 * The key of n frames below the node `outside`. False for frames that a pc does not stand for:
 * marks, code of no module.
 */
static inline __attribute__((always_inline)) bool
key_make(struct piece *key, const struct frame *f, uint32_t n, uint32_t outside)
{
	uint64_t pc[PIECE_FRAMES] = { 0 };

#pragma GCC unroll 4
	for (uint32_t i = 0; i < PIECE_FRAMES; i++) {
		if (i == n)
			break;
		if (unlikely(!PMM_FRAME_MODULE(f[i].id)))
			return false;
		pc[i] = PMM_FRAME_PC(f[i].id);
	}
	key->pcs[0] = pc[0] | pc[1] << 48;
	key->pcs[1] = pc[1] >> 16 | pc[2] << 32;
	key->pcs[2] = pc[2] >> 32 | pc[3] << 16;
	key->outside = outside;
	return true;
}

/* The set of the piece whose innermost frame's stack has this hash. */
static inline struct piece *set_of(struct piece_cache *cache, uint64_t stack)
{
	return cache->set[stack * 0xbf58476d1ce4e5b9ull >> (64 - cache->bits)];
}

static inline bool key_is(const struct piece *p, const struct piece *key)
{
	return !((p->pcs[0] ^ key->pcs[0]) | (p->pcs[1] ^ key->pcs[1]) | (p->pcs[2] ^ key->pcs[2]) |
		 (p->outside ^ key->outside)) && p->number;
}

/* ---- the cache ------------------------------------------------------------------------------- */

struct piece_cache *piece_cache_new(uint32_t bits)
{
	const size_t set_bytes = sizeof(struct piece[PIECE_WAYS]);
	const size_t bytes = sizeof(struct piece_cache) + (set_bytes << bits);
	struct piece_cache *cache = arena_for_cache(bytes) ? arena_get(bytes, ARCH_PAGE) : NULL;

	if (cache)
		cache->bits = cache->most_bits = bits;
	return cache;
}

/* A cache that had grown is small again at first: what it forgets is less. */
void piece_forget(struct piece_cache *cache)
{
	memset(cache->set, 0, sizeof(cache->set[0]) << cache->bits);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* a handler may jump out of here */
	cache->bits = PIECE_BITS;
	cache->lost = 0;
}

/*
 * As many pieces as it holds were met again in vain. It grows if the context has as many stacks, so
 * that it does not take more memory than their records. What is in a set that is not its own any
 * more is not found there, but is not wrong, either.
 */
static __attribute__((noinline)) void cache_grow(struct tctx *c)
{
	struct piece_cache *cache = c->pieces;
	uint32_t bits = cache->bits + 2;

	cache->lost = 0;
	if (bits > PIECE_MOST_BITS || c->nr_records < PIECE_WAYS << cache->bits)
		return;
	if (bits > cache->most_bits) {
		cache = piece_cache_new(bits);
		if (!cache)
			return;
		c->pieces = cache;
	}
	cache->bits = bits;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static inline void fetch_each(const struct tctx *c, uint32_t at, void (*fetch)(uint64_t stack))
{
	for (; at < c->memo_nr; at += PIECE_FRAMES)
		fetch(c->stack_hash[at / PIECE_FRAMES + 1]);
}

uint32_t piece_fetch(struct tctx *c, uint32_t first)
{
	uint32_t nr = c->memo_nr, at = (first < nr ? first : nr - 1) / PIECE_FRAMES * PIECE_FRAMES;
	struct piece_cache *cache = c->pieces;
	uint64_t stack;

	while (at && !c->memo[at - 1].node)	/* has been the innermost only */
		at -= PIECE_FRAMES;
	stack = at ? c->stack_hash[at / PIECE_FRAMES] : 0;
	for (uint32_t i = at; i < nr;) {
		uint32_t end = nr - i < PIECE_FRAMES ? nr : i + PIECE_FRAMES;

		for (; i < end; i++)
			stack = node_hash(stack, c->memo[i].id);
		c->stack_hash[(i - 1) / PIECE_FRAMES + 1] = stack;
		if (likely(cache))
			arch_prefetch(set_of(cache, stack));
	}
	if (!cache || cache->missed)
		node_fetch_slot(stack);
	if (cache)
		cache->missed = false;
	return at;
}

/* The number of n frames from memo[at] on, which the cache does not have. */
static __attribute__((noinline)) uint32_t number_make(struct tctx *c, uint32_t at, uint32_t n,
						      uint32_t outside, uint32_t site_flags)
{
	const uint64_t *stack = &c->stack_hash[at / PIECE_FRAMES];
	uint32_t nr_nodes = LOAD(agent.ledger->nr_nodes), node;
	uint64_t frame[PIECE_FRAMES];

	for (uint32_t i = 0; i < n; i++)
		frame[i] = c->memo[at + i].id;
	node = node_get_run(outside & ~PIECE_LEAF, at ? stack[0] : 0, stack[1], frame, n);
	if (c->pieces && nr_nodes == LOAD(agent.ledger->nr_nodes) &&
	    ++c->pieces->lost > PIECE_WAYS << c->pieces->bits)
		cache_grow(c);
	return outside & PIECE_LEAF ? site_get(node, site_flags) : node;
}

/* One piece is not in the cache, so those inside it are probably not, either. */
static __attribute__((noinline)) void nodes_fetch(const struct tctx *c, uint32_t at)
{
	fetch_each(c, at, node_fetch_slot);
	fetch_each(c, at, node_fetch);
}

static __attribute__((noinline)) uint32_t number_put(struct tctx *c, uint32_t at, uint32_t n,
						     struct piece *key, struct piece *set,
						     uint32_t site_flags)
{
	if (at + n < c->memo_nr && !c->pieces->missed)
		nodes_fetch(c, at);
	c->pieces->missed = true;
	key->number = number_make(c, at, n, key->outside, site_flags);
	if (key->number) {
		set[1] = set[0];
		set[0] = *key;
	}
	return key->number;
}

static inline __attribute__((always_inline)) uint32_t
piece_number(struct tctx *c, uint32_t at, uint32_t n, uint32_t outside, uint32_t site_flags)
{
	struct piece key, *set;

	if (unlikely(!c->pieces || !key_make(&key, &c->memo[at], n, outside)))
		return number_make(c, at, n, outside, site_flags);
	set = set_of(c->pieces, c->stack_hash[at / PIECE_FRAMES + 1]);
	if (likely(key_is(&set[0], &key)))
		return set[0].number;
	if (!key_is(&set[1], &key))
		return number_put(c, at, n, &key, set, site_flags);
	key.number = set[1].number;
	set[1] = set[0];
	set[0] = key;
	return key.number;
}

uint32_t piece_site(struct tctx *c, uint32_t at, uint32_t site_flags)
{
	uint32_t nr = c->memo_nr, outside = at ? c->memo[at - 1].node : 0;

	for (; nr - at > PIECE_FRAMES; at += PIECE_FRAMES) {
		outside = piece_number(c, at, PIECE_FRAMES, outside, site_flags);
		if (!outside)
			return 0;
		c->memo[at + PIECE_FRAMES - 1].node = outside;
	}
	return piece_number(c, at, nr - at, outside | PIECE_LEAF, site_flags);
}
