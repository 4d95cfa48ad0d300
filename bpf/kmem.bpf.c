/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel allocates for itself and has not freed, by kernel stack.
 *
 * These run millions of times a second: what is not followed is left at once, uncounted. Tables
 * are preallocated; one that allocated would meet its own tracepoints.
 */
#include "bpf/trace.h"

#include "bpf/kmem_abi.h"

/* Sizes are the loader's affair. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct kmem_object);
} kmem_objects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct kmem_site);
} kmem_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2048);
	__type(key, u64);
	__type(value, struct kmem_cache_info);
} kmem_caches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KMEM_NR_SORTS);
	__type(key, u32);
	__type(value, struct kmem_counts);
} kmem_counts SEC(".maps");

/* Types that only some kernels have: which arguments their tracepoints pass. */
struct trace_event_raw_kmem_cache_alloc {
	unsigned long bytes_alloc;
} KERNEL_TYPE;

struct trace_event_raw_percpu_alloc_percpu {
	unsigned long bytes_alloc;
} KERNEL_TYPE;

struct kmem_cache {
	unsigned int size;
	const char *name;
} KERNEL_TYPE;

#define ARGUMENT TRACE_ARGUMENT

#define KMEM_COUNT(sort_, member)                                                                  \
	do {                                                                                       \
		u32 key_ = (sort_);                                                                \
		struct kmem_counts *counts_ = bpf_map_lookup_elem(&kmem_counts, &key_);            \
		/* an interrupt's allocation may come between reading and writing */               \
		if (counts_)                                                                       \
			__sync_fetch_and_add(&counts_->member, 1);                                 \
	} while (0)

#define SCRAMBLE	0x9e3779b97f4a7c15ull

/* config.kmem_sample is a power of two. */
static __always_inline bool is_followed(u64 address)
{
	return !((address * SCRAMBLE >> 32) & (config.kmem_sample - 1));
}

/* NULL, and kmalloc(0)'s ZERO_SIZE_PTR */
#define IS_NOTHING(address)	((address) <= 16)

static __always_inline u64 site_hash(const struct kmem_site *s)
{
	u64 h = s->object_bytes * SCRAMBLE ^ s->cache ^ s->sort;

	for (int i = 0; i < KMEM_DEPTH; i++)
		h = (h ^ s->ips[i]) * SCRAMBLE ^ h >> 29;
	return h;
}

/* The site in the table, put there if it is new; NULL: the table is full. */
static __always_inline struct kmem_site *site_of(u64 hash, const struct kmem_site *new)
{
	struct kmem_site *s = bpf_map_lookup_elem(&kmem_sites, &hash);

	if (s)
		return s;
	bpf_map_update_elem(&kmem_sites, &hash, new, BPF_NOEXIST);
	return bpf_map_lookup_elem(&kmem_sites, &hash);
}

static __always_inline void note_cache(u64 address)
{
	struct kmem_cache_info info = { 0 };
	struct kmem_cache *cache = (void *)address;

	if (!address || bpf_map_lookup_elem(&kmem_caches, &address))
		return;
	bpf_probe_read_kernel_str(info.name, sizeof(info.name), BPF_CORE_READ(cache, name));
	bpf_map_update_elem(&kmem_caches, &address, &info, BPF_ANY);
}

/* An object that nobody has freed, as far as was seen, is there again: it has been freed unseen. */
static __always_inline void forget_former(u64 address)
{
	struct kmem_object *former = bpf_map_lookup_elem(&kmem_objects, &address);
	struct kmem_site *s;

	if (!former)
		return;
	s = bpf_map_lookup_elem(&kmem_sites, &former->site);
	if (s) {
		__sync_fetch_and_add(&s->reused, 1);
		__sync_fetch_and_add(&s->freed, 1);
	}
	KMEM_COUNT(former->sort, freed);
}

static __always_inline void send_line(const struct trace_task *t, u64 address,
				      const struct kmem_site *s)
{
	struct trace_record *r = trace_begin(t, TRACE_KERNEL_ALLOC);

	if (!r)
		return;
	r->a[0] = address;
	r->a[1] = s->object_bytes;
	r->a[2] = s->caller;
	r->a[3] = s->sort;
	r->weight = config.kmem_sample;
	trace_end(r);
}

static __always_inline int allocated(void *ctx, u32 sort, u64 address, u64 bytes, u64 cache,
				     u64 caller)
{
	struct kmem_object object = { 0 };
	struct kmem_site new = { 0 }, *site;
	struct trace_task t;
	long got;

	if (!is_followed(address) && !IS_NOTHING(address))
		return 0;
	if (!trace_wanted(&t))
		return 0;
	if (IS_NOTHING(address)) {
		KMEM_COUNT(sort, failed);
		return 0;
	}
	new.sort = sort;
	new.object_bytes = bytes;
	new.cache = cache;
	new.caller = caller;
	got = bpf_get_stack(ctx, new.ips, sizeof(new.ips), 0);
	new.depth = got > 0 ? got / sizeof(new.ips[0]) : 0;
	object.site = site_hash(&new);
	object.time_ns = bpf_ktime_get_ns();
	object.sort = sort;
	object.tgid = t.tgid;
	trace_seen(TRACE_KERNEL_ALLOC);
	note_cache(cache);
	forget_former(address);
	site = site_of(object.site, &new);
	if (!site || bpf_map_update_elem(&kmem_objects, &address, &object, BPF_ANY)) {
		KMEM_COUNT(sort, no_room);
		TRACE_COUNT(TRACE_KERNEL_ALLOC, dropped);
		return 0;
	}
	__sync_fetch_and_add(&site->allocated, 1);
	KMEM_COUNT(sort, allocated);
	if (config.min_bytes && bytes >= config.min_bytes)
		send_line(&t, address, &new);
	return 0;
}

static __always_inline int freed(u32 sort, u64 address)
{
	struct kmem_object *object;
	struct kmem_site *site;
	u64 hash;

	if (IS_NOTHING(address) || !is_followed(address))
		return 0;
	object = bpf_map_lookup_elem(&kmem_objects, &address);
	if (!object) {
		KMEM_COUNT(sort, unknown);
		return 0;
	}
	hash = object->site;
	sort = object->sort;
	if (bpf_map_delete_elem(&kmem_objects, &address))
		return 0;
	site = bpf_map_lookup_elem(&kmem_sites, &hash);
	if (site)
		__sync_fetch_and_add(&site->freed, 1);
	KMEM_COUNT(sort, freed);
	return 0;
}

SEC("raw_tp/kmalloc")
int kmem_kmalloc(u64 *ctx)
{
	return allocated(ctx, KMEM_KMALLOC, ARGUMENT(ctx, 1), ARGUMENT(ctx, 3), 0,
			 ARGUMENT(ctx, 0));
}

/* before 6.1 */
SEC("raw_tp/kmalloc_node")
int kmem_kmalloc_node(u64 *ctx)
{
	return allocated(ctx, KMEM_KMALLOC, ARGUMENT(ctx, 1), ARGUMENT(ctx, 3), 0,
			 ARGUMENT(ctx, 0));
}

SEC("raw_tp/kfree")
int kmem_kfree(u64 *ctx)
{
	return freed(KMEM_KMALLOC, ARGUMENT(ctx, 1));
}

/* Since 6.1 the cache is the third argument; before it was sizes. */
SEC("raw_tp/kmem_cache_alloc")
int kmem_cache_alloc_(u64 *ctx)
{
	u64 address = ARGUMENT(ctx, 1), cache = 0, bytes;

	if (bpf_core_type_exists(struct trace_event_raw_kmem_cache_alloc)) {
		cache = ARGUMENT(ctx, 2);
		if (!is_followed(address) && !IS_NOTHING(address))
			return 0;
		bytes = BPF_CORE_READ((struct kmem_cache *)cache, size);
	} else {
		bytes = ARGUMENT(ctx, 3);
	}
	return allocated(ctx, KMEM_SLAB, address, bytes, cache, ARGUMENT(ctx, 0));
}

/* before 6.1 */
SEC("raw_tp/kmem_cache_alloc_node")
int kmem_cache_alloc_node(u64 *ctx)
{
	return allocated(ctx, KMEM_SLAB, ARGUMENT(ctx, 1), ARGUMENT(ctx, 3), 0, ARGUMENT(ctx, 0));
}

SEC("raw_tp/kmem_cache_free")
int kmem_cache_free_(u64 *ctx)
{
	return freed(KMEM_SLAB, ARGUMENT(ctx, 1));
}

/* kfree_rcu() frees objects by the page; where the kernel was built without RCU_TRACE, unseen */
#define MAX_BULK	512

SEC("raw_tp/rcu_invoke_kfree_bulk_callback")
int kmem_kfree_bulk(u64 *ctx)
{
	u64 nr = ARGUMENT(ctx, 1), list = ARGUMENT(ctx, 2), address;

	for (u64 i = 0; i < MAX_BULK && i < nr; i++) {
		if (bpf_probe_read_kernel(&address, sizeof(address), (void *)(list + i * 8)))
			break;
		freed(KMEM_KMALLOC, address);
	}
	return 0;
}

#define MIGRATE_MOVABLE	1	/* enum migratetype, include/linux/mmzone.h: alike from 5.10 to 6.18 */
#define PAGE_BYTES	4096ull

SEC("raw_tp/mm_page_alloc")
int kmem_page_alloc(u64 *ctx)
{
	if ((u32)ARGUMENT(ctx, 3) == MIGRATE_MOVABLE)
		return 0;
	return allocated(ctx, KMEM_PAGES, ARGUMENT(ctx, 0), PAGE_BYTES << ((u32)ARGUMENT(ctx, 1) & 31),
			 0, 0);
}

SEC("raw_tp/mm_page_free")
int kmem_page_free(u64 *ctx)
{
	return freed(KMEM_PAGES, ARGUMENT(ctx, 0));
}

/* Since 5.19 the size over all processors is known, and the caller comes first. */
SEC("raw_tp/percpu_alloc_percpu")
int kmem_percpu_alloc(u64 *ctx)
{
	u64 address, bytes, caller = 0;

	if (bpf_core_field_exists(((struct trace_event_raw_percpu_alloc_percpu *)0)->bytes_alloc)) {
		caller = ARGUMENT(ctx, 0);
		address = ARGUMENT(ctx, 7);
		bytes = ARGUMENT(ctx, 8);
	} else {
		address = ARGUMENT(ctx, 6);
		bytes = ARGUMENT(ctx, 2);
	}
	return allocated(ctx, KMEM_PERCPU, address, bytes, 0, caller);
}

SEC("raw_tp/percpu_free_percpu")
int kmem_percpu_free(u64 *ctx)
{
	return freed(KMEM_PERCPU, ARGUMENT(ctx, 2));
}
