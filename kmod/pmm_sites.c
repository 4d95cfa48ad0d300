// SPDX-License-Identifier: GPL-2.0-or-later
/* The places in the source that a process's records name (pmm_sites.h). */
#include "pmm_sites.h"

#define FIRST_BITS	6
#define FIRST_ROOM	64

static u32 hash_of(const struct pmm_sites *sites, const char *function, const char *file, u32 line)
{
	u32 texts = pmm_os_hash_bytes(function, strlen(function), sites->seed) * 31 +
		    pmm_os_hash_bytes(file, strlen(file), sites->seed);

	return pmm_os_hash((u64)texts << 32 | line, sites->seed);
}

static struct hlist_head *bucket_of(struct hlist_head *buckets, u32 bits, u32 hash)
{
	return &buckets[hash >> (32 - bits)];
}

void pmm_sites_clear(struct pmm_sites *sites)
{
	u32 before = sites->before + sites->nr, i;
	u64 seed = sites->seed;

	for (i = 0; i < sites->nr; i++) {
		pmm_os_free(sites->by_id[i]);
		pmm_os_relax();
	}
	pmm_os_free(sites->by_id);
	pmm_os_free(sites->buckets);
	memset(sites, 0, sizeof(*sites));
	sites->seed = seed;
	sites->before = before > U32_MAX - PMM_SITES_MAX ? 0 : before;
}

static struct pmm_site *find(struct pmm_sites *sites, const char *function, const char *file,
			     u32 line, u32 hash)
{
	struct pmm_site *site;

	if (!sites->buckets)
		return NULL;
	hlist_for_each_entry(site, bucket_of(sites->buckets, sites->bits, hash), node)
		if (site->hash == hash && site->line == line &&
		    !strcmp(pmm_site_function(site), function) &&
		    !strcmp(pmm_site_file(site), file))
			return site;
	return NULL;
}

/* Room for one more in by_id, and buckets for as many. */
static bool grow(struct pmm_sites *sites)
{
	u32 room = sites->room ? sites->room * 2 : FIRST_ROOM, i;
	u32 bits = sites->buckets ? sites->bits + 1 : FIRST_BITS;
	struct hlist_head *buckets;
	struct pmm_site **by_id;

	if (sites->nr < sites->room)
		return true;
	by_id = pmm_os_alloc(room * sizeof(struct pmm_site *), true);
	buckets = pmm_os_alloc(sizeof(struct hlist_head) << bits, true);
	if (!by_id || !buckets) {
		pmm_os_free(by_id);
		pmm_os_free(buckets);
		return false;
	}
	for (i = 0; i < sites->nr; i++) {
		by_id[i] = sites->by_id[i];
		hlist_add_head(&by_id[i]->node, bucket_of(buckets, bits, by_id[i]->hash));
	}
	pmm_os_free(sites->by_id);
	pmm_os_free(sites->buckets);
	sites->by_id = by_id;
	sites->room = room;
	sites->buckets = buckets;
	sites->bits = bits;
	return true;
}

struct pmm_site *pmm_sites_add(struct pmm_sites *sites, const char *function, const char *file,
			       u32 line)
{
	u32 hash = hash_of(sites, function, file, line);
	struct pmm_site *site = find(sites, function, file, line, hash);
	size_t function_bytes = strlen(function) + 1, file_bytes = strlen(file) + 1;

	if (site || sites->nr == PMM_SITES_MAX || !grow(sites))
		return site;
	site = pmm_os_alloc(sizeof(*site) + function_bytes + file_bytes, true);
	if (!site)
		return NULL;
	site->line = line;
	site->hash = hash;
	site->function_bytes = (u16)function_bytes;
	memcpy(site->text, function, function_bytes);
	memcpy(site->text + function_bytes, file, file_bytes);
	sites->by_id[sites->nr++] = site;
	site->id = sites->before + sites->nr;
	hlist_add_head(&site->node, bucket_of(sites->buckets, sites->bits, hash));
	return site;
}
