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
 * The key of the frames f[0] to f[3] below the node `outside`; those that there are not have id 0.
 */
static inline void key_make(struct piece *key, const struct frame *f, uint32_t outside)
{
	key->pcs[0] = PMM_FRAME_PC(f[0].id) | f[1].id << 48;
	key->pcs[1] = PMM_FRAME_PC(f[1].id) >> 16 | f[2].id << 32;
	key->pcs[2] = PMM_FRAME_PC(f[2].id) >> 32 | f[3].id << 16;
	key->outside = outside;
}

/*
 * Is one of n frames such that its pc does not stand for it: a mark, code of no module? Only the
 * two outermost frames of a stack may be, as neither has a caller.
 */
static inline bool odd_ones(const struct frame *f, uint32_t n)
{
	while (n--)
		if (!PMM_FRAME_MODULE(f[n].id))
			return true;
	return false;
}

/* The set of the piece whose innermost frame's stack has this hash. */
static inline struct piece *set_of(struct piece_cache *cache, uint64_t stack)
{
	return cache->set[stack * 0xbf58476d1ce4e5b9ull >> 40 & cache->mask];
}

static inline bool key_is(const struct piece *p, const struct piece *key)
{
	return !((p->pcs[0] ^ key->pcs[0]) | (p->pcs[1] ^ key->pcs[1]) | (p->pcs[2] ^ key->pcs[2]) |
		 (p->outside ^ key->outside));
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void bits_set(struct piece_cache *cache, uint32_t bits)
{
	cache->bits = bits;
	cache->mask = (1u << bits) - 1;
}

struct piece_cache *piece_cache_new(uint32_t bits)
{
	const size_t set_bytes = sizeof(struct piece[PIECE_WAYS]);
	const size_t bytes = sizeof(struct piece_cache) + (set_bytes << bits);
	struct piece_cache *cache = arena_for_cache(bytes) ? arena_get(bytes, ARCH_PAGE) : NULL;

	if (cache) {
		bits_set(cache, bits);
		cache->most_bits = bits;
	}
	return cache;
}

/* A cache that had grown is small again at first: what it forgets is less. */
void piece_forget(struct piece_cache *cache)
{
	memset(cache->set, 0, sizeof(cache->set[0]) << cache->bits);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* a handler may jump out of here */
	bits_set(cache, PIECE_BITS);
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
	bits_set(cache, bits);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static inline void fetch_each(const struct tctx *c, uint32_t at, void (*fetch)(uint64_t stack))
{
	uint32_t nr = c->memo_nr;

	for (; at < nr; at += PIECE_FRAMES)
		fetch(c->stack_hash[at + PIECE_FRAMES < nr ? at + PIECE_FRAMES : nr]);
}

/* The number of n frames from memo[at] on, which the cache does not have. */
static __attribute__((noinline)) uint32_t number_make(struct tctx *c, uint32_t at, uint32_t n,
						      uint32_t outside, uint32_t site_flags)
{
	uint32_t nr_nodes = LOAD(agent.ledger->nr_nodes), node;
	uint64_t frame[PIECE_FRAMES];

	for (uint32_t i = 0; i < n; i++)
		frame[i] = c->memo[at + i].id;
	node = node_get_run(outside & ~PIECE_LEAF, &c->stack_hash[at], frame, n);
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

static inline uint32_t piece_number(struct tctx *c, uint32_t at, uint32_t n, uint32_t outside,
				    uint32_t site_flags)
{
	struct piece key, in_memory, *set;

	if (unlikely(!c->pieces || (!at && odd_ones(c->memo, n))))
		return number_make(c, at, n, outside, site_flags);
	set = set_of(c->pieces, c->stack_hash[at + n]);
	key_make(&key, &c->memo[at], outside);
	if (likely(key_is(&set[0], &key)))
		return set[0].number;
	if (!key_is(&set[1], &key)) {
		in_memory = key;		/* so that it is in registers otherwise */
		return number_put(c, at, n, &in_memory, set, site_flags);
	}
	key.number = set[1].number;
	set[1] = set[0];
	set[0] = key;
	return key.number;
}

/* The edges' nodes up to that of memo[leaf - 1], which is not noted; 0 when there is no room. */
static __attribute__((noinline)) uint32_t edges_number(struct tctx *c, uint32_t leaf,
						       uint32_t site_flags)
{
	uint32_t at = leaf - PIECE_FRAMES, outside;

	while (at && !c->memo[at - 1].node)	/* has been the innermost only */
		at -= PIECE_FRAMES;
	if (c->pieces) {
		for (uint32_t edge = at + PIECE_FRAMES; edge <= leaf; edge += PIECE_FRAMES)
			arch_prefetch(set_of(c->pieces, c->stack_hash[edge]));
		arch_prefetch(set_of(c->pieces, c->stack_hash[c->memo_nr]));
	}
	outside = at ? c->memo[at - 1].node : 0;
	do {
		outside = piece_number(c, at, PIECE_FRAMES, outside, site_flags);
		c->memo[at + PIECE_FRAMES - 1].node = outside;
		at += PIECE_FRAMES;
	} while (outside && at < leaf);
	return outside;
}

uint32_t piece_site(struct tctx *c, uint32_t site_flags)
{
	uint32_t nr = c->memo_nr, leaf = (nr - 1) / PIECE_FRAMES * PIECE_FRAMES;
	uint32_t outside = leaf ? c->memo[leaf - 1].node : 0;
	struct frame *end = &c->memo[nr];

	for (uint32_t i = 0; i < PIECE_FRAMES - 1; i++)
		end[i].id = 0;
	if (unlikely(!c->pieces || c->pieces->missed)) {
		node_fetch_slot(c->stack_hash[nr]);
		if (c->pieces)
			c->pieces->missed = false;
	}
	if (leaf && !outside) {
		outside = edges_number(c, leaf, site_flags);
		if (!outside)
			return 0;
	}
	return piece_number(c, leaf, nr - leaf, outside | PIECE_LEAF, site_flags);
}
