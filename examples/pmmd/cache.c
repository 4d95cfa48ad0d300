/* A cache: a hash table that doubles, whose entries are in a list by age as well. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache.h"

#include <pmm.h>

#include <errno.h>
#include <string.h>

enum { MIN_BUCKETS = 64 };

struct cache_entry {
	struct cache_entry *chain;	/* next in the bucket */
	struct cache_entry *newer;
	unsigned long key;
	size_t bytes;
	char *value;
};

static struct cache_entry **bucket_of(const struct cache *cache, unsigned long key)
{
	return &cache->bucket[key * 0x9E3779B97F4A7C15u >> 32 & (cache->nr_buckets - 1)];
}

static void chain_entry(const struct cache *cache, struct cache_entry *entry)
{
	struct cache_entry **bucket = bucket_of(cache, entry->key);

	entry->chain = *bucket;
	*bucket = entry;
}

/* Twice the buckets. Without memory for them chains get longer: nothing else is lost. */
static int cache_grow(struct cache *cache)
{
	size_t nr = cache->nr_buckets ? cache->nr_buckets * 2 : MIN_BUCKETS;
	struct cache_entry **bucket = calloc(nr, sizeof(*bucket)), *entry;

	if (!bucket)
		return cache->nr_buckets ? 0 : -ENOMEM;
	free(cache->bucket);
	cache->bucket = bucket;
	cache->nr_buckets = nr;
	for (entry = cache->oldest; entry; entry = entry->newer)
		chain_entry(cache, entry);
	return 0;
}

static struct cache_entry *entry_new(unsigned long key, size_t bytes)
{
	struct cache_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return NULL;
	entry->key = key;
	entry->bytes = bytes;
	entry->newer = NULL;
	entry->value = malloc(bytes);
	if (!entry->value) {
		free(entry);
		return NULL;
	}
	memset(entry->value, 'v', bytes);
	return entry;
}

static void entry_free(struct cache_entry *entry)
{
	free(entry->value);
	free(entry);
}

int cache_add(struct cache *cache, size_t bytes)
{
	struct cache_entry *entry;

	if (cache->nr >= cache->nr_buckets && cache_grow(cache) < 0)
		return -ENOMEM;
	entry = entry_new(cache->next_key, bytes);
	if (!entry)
		return -ENOMEM;
	cache->next_key++;
	chain_entry(cache, entry);
	if (cache->newest)
		cache->newest->newer = entry;
	else
		cache->oldest = entry;
	cache->newest = entry;
	cache->nr++;
	cache->bytes += bytes;
	return 0;
}

static void drop_oldest(struct cache *cache)
{
	struct cache_entry *entry = cache->oldest, **link = bucket_of(cache, entry->key);

	while (*link != entry)
		link = &(*link)->chain;
	*link = entry->chain;
	cache->oldest = entry->newer;
	if (!cache->oldest)
		cache->newest = NULL;
	cache->nr--;
	cache->bytes -= entry->bytes;
	entry_free(entry);
}

size_t cache_drop(struct cache *cache, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && cache->oldest; i++)
		drop_oldest(cache);
	return i;
}

void cache_fini(struct cache *cache)
{
	cache_drop(cache, cache->nr);
	free(cache->bucket);
	memset(cache, 0, sizeof(*cache));
}
