/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache: values found by their key, the oldest of which can be dropped. Reachable memory, freed
 * when it is asked for.
 */
#ifndef PMMD_CACHE_H
#define PMMD_CACHE_H

#include <stddef.h>

struct cache_entry;

/* Zero it. Values of one thread only. */
struct cache {
	struct cache_entry **bucket;
	size_t nr_buckets;		/* a power of two */
	struct cache_entry *oldest, *newest;
	unsigned long next_key;
	size_t nr;
	size_t bytes;			/* of values */
};

/*
 * Adds a value of so many bytes under a key of its own. 0, or -ENOMEM and the cache is as it was.
 */
int cache_add(struct cache *cache, size_t bytes);
/* Drops the oldest values; returns how many there were. */
size_t cache_drop(struct cache *cache, size_t nr);
void cache_fini(struct cache *cache);

#endif
