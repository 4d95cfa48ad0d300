/* SPDX-License-Identifier: MIT */
/*
 * Pieces of stacks: a two-way cache, the more recently used first in its set.
 */
#include "agent/piece.h"

#include "agent/node.h"
#include "agent/site.h"

_Static_assert(sizeof(struct piece) == 32, "two to a line");
_Static_assert(PIECE_FRAMES == NODE_RUN, "a piece's nodes are looked up together");
_Static_assert(PMM_MAX_NODES <= PIECE_LEAF, "a bit of a node number is free");

/*
 * The key of n frames below the node `outside`. False for frames that a pc does not stand for:
 * marks, code of no module.
 */
static inline bool key_make(struct piece *key, const struct frame *f, uint32_t n, uint32_t outside)
{
	uint64_t pc[PIECE_FRAMES] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
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

static inline struct piece *key_set(struct piece_cache *cache, const struct piece *key)
{
	uint64_t h = (key->pcs[0] ^ (uint64_t)key->outside << 32) * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 32 ^ key->pcs[1]) * 0xc2b2ae3d27d4eb4full;
	h = (h ^ h >> 32 ^ key->pcs[2]) * 0xbf58476d1ce4e5b9ull;
	return cache->set[h >> (64 - PIECE_BITS)];
}

static inline bool key_is(const struct piece *p, const struct piece *key)
{
	return !((p->pcs[0] ^ key->pcs[0]) | (p->pcs[1] ^ key->pcs[1]) | (p->pcs[2] ^ key->pcs[2]) |
		 (p->outside ^ key->outside)) && p->number;
}

/*
 * The memo's stack from the outermost frame on: how many frames were hashed, and their hash, which
 * is not set before.
 */
struct hashed {
	uint32_t nr;
	uint64_t stack;
};

static inline void hash_to(struct hashed *h, const struct frame *memo, uint32_t nr)
{
	if (!h->nr)
		h->stack = 0;
	for (; h->nr < nr; h->nr++)
		h->stack = node_hash(h->stack, memo[h->nr].id);
}

static inline void fetch_each(struct hashed h, const struct tctx *c, void (*fetch)(uint64_t stack))
{
	while (h.nr < c->memo_nr) {
		hash_to(&h, c->memo,
			h.nr + PIECE_FRAMES < c->memo_nr ? h.nr + PIECE_FRAMES : c->memo_nr);
		fetch(h.stack);
	}
}

/* One piece is not in the cache, so those inside it are probably not, either. */
static inline void fetch(struct hashed h, const struct tctx *c)
{
	fetch_each(h, c, node_fetch_slot);
	fetch_each(h, c, node_fetch);
}

/* The number of n frames from memo[at] on without the cache. */
static __attribute__((noinline)) uint32_t number_make(const struct tctx *c, struct hashed *h,
						      uint32_t at, uint32_t n, uint32_t outside,
						      uint32_t site_flags)
{
	bool first = !h->nr;
	uint64_t frame[PIECE_FRAMES];
	uint32_t node;

	for (uint32_t i = 0; i < n; i++)
		frame[i] = c->memo[at + i].id;
	hash_to(h, c->memo, at);
	if (first && c->pieces && at + PIECE_FRAMES < c->memo_nr)
		fetch(*h, c);
	node = node_get_run(outside & ~PIECE_LEAF, h->stack, frame, n);
	return outside & PIECE_LEAF ? site_get(node, site_flags) : node;
}

static inline uint32_t piece_number(const struct tctx *c, struct hashed *h, uint32_t at, uint32_t n,
				    uint32_t outside, uint32_t site_flags)
{
	struct piece_cache *cache = c->pieces;
	struct piece key, *set;

	if (unlikely(!cache || !key_make(&key, &c->memo[at], n, outside)))
		return number_make(c, h, at, n, outside, site_flags);
	set = key_set(cache, &key);
	if (likely(key_is(&set[0], &key)))
		return set[0].number;
	if (key_is(&set[1], &key)) {
		key.number = set[1].number;
	} else {
		key.number = number_make(c, h, at, n, outside, site_flags);
		if (!key.number)
			return 0;
	}
	set[1] = set[0];
	set[0] = key;
	return key.number;
}

uint32_t piece_site(struct tctx *c, uint32_t first, uint32_t site_flags)
{
	uint32_t nr = c->memo_nr, at = (first < nr ? first : nr - 1) / PIECE_FRAMES * PIECE_FRAMES,
		 outside;
	struct hashed h;

	h.nr = 0;
	while (at && !c->memo[at - 1].node)	/* has been the innermost only */
		at -= PIECE_FRAMES;
	outside = at ? c->memo[at - 1].node : 0;
	for (; nr - at > PIECE_FRAMES; at += PIECE_FRAMES) {
		outside = piece_number(c, &h, at, PIECE_FRAMES, outside, site_flags);
		if (!outside)
			return 0;
		c->memo[at + PIECE_FRAMES - 1].node = outside;
	}
	return piece_number(c, &h, at, nr - at, outside | PIECE_LEAF, site_flags);
}
