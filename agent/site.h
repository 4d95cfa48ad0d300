/*
 * Call stacks as numbers, and the counters of each.
 */
#ifndef AGENT_SITE_H
#define AGENT_SITE_H

#include <stdint.h>

struct tctx;
struct pmm_record;

/* The node for `frame` below `parent`. 0 when there is no room. */
uint32_t node_get(uint32_t parent, uint64_t frame);

/*
 * A context's short cut to nodes it asked for before: direct mapped, so that a program with many stacks takes one cache
 * miss for a frame instead of a bucket's and a chain's.
 */
#define NODE_CACHE_BITS	14

struct node_cache {
	struct {
		uint64_t frame;
		uint32_t parent, node;
	} entry[1 << NODE_CACHE_BITS];
};

/* node_get() through the context's cache, which may be NULL. */
static inline uint32_t node_get_cached(struct node_cache *cache, uint32_t parent, uint64_t frame)
{
	uint64_t h = (frame ^ (uint64_t)parent << 32) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)((h ^ h << 23) >> (64 - NODE_CACHE_BITS)), node;

	if (!cache)
		return node_get(parent, frame);
	if (cache->entry[at].frame == frame && cache->entry[at].parent == parent)
		return cache->entry[at].node;
	node = node_get(parent, frame);
	if (node) {
		cache->entry[at].frame = frame;
		cache->entry[at].parent = parent;
		cache->entry[at].node = node;
	}
	return node;
}

/* The site whose stack ends at `node`; 0 when there is no room. */
uint32_t site_get(uint32_t node, uint32_t flags);

/* The context's record of a site, with its peak part brought up to `epoch` (0: left as it is). NULL when there is no room. */
struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch);

#endif
