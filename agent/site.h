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
 * A context's short cut to nodes it asked for before: direct mapped by frame and stack pointer, which are known while the stack
 * is walked, so that the entries are fetched by the time the parents are known too.
 */
#define NODE_CACHE_BITS	14

struct node_entry {
	uint64_t frame;
	uint32_t parent, node;
};

struct node_cache {
	struct node_entry entry[1 << NODE_CACHE_BITS];
};

static inline struct node_entry *node_entry_at(struct node_cache *cache, uint64_t frame, uint64_t sp)
{
	return &cache->entry[(frame * 0x9e3779b97f4a7c15ull ^ sp * 0xc2b2ae3d27d4eb4full) >> (64 - NODE_CACHE_BITS)];
}

/* node_get() through the entry for its frame and stack pointer. */
static inline uint32_t node_get_cached(struct node_entry *e, uint32_t parent, uint64_t frame)
{
	if (e->frame != frame || e->parent != parent) {
		uint32_t node = node_get(parent, frame);

		if (!node)
			return 0;
		*e = (struct node_entry){ frame, parent, node };
	}
	return e->node;
}

/* The site whose stack ends at `node`; 0 when there is no room. */
uint32_t site_get(uint32_t node, uint32_t flags);

/* The context's record of a site, with its peak part brought up to `epoch` (0: left as it is). NULL when there is no room. */
struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch);

#endif
