/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of the group kmem: allocations of the kernel by site, objects that are outstanding,
 * caches, counts.
 *
 * A site is a kernel stack, a sort, a cache and a size of its objects. One object of config.kmem_sample
 * is followed, chosen by a hash of its address, so that its allocation and its free are chosen
 * alike; all numbers are of those that are followed.
 */
#ifndef BPF_KMEM_ABI_H
#define BPF_KMEM_ABI_H

#include <linux/types.h>

#define KMEM_DEPTH	24

enum kmem_sort {
	KMEM_KMALLOC,
	KMEM_SLAB,		/* of a cache that has a name */
	KMEM_PAGES,		/* that are not movable: not those of processes and files */
	KMEM_PERCPU,
	KMEM_NR_SORTS
};

/* kmem_sites: hash of all but the counts -> this */
struct kmem_site {
	__u64 allocated, freed;		/* objects */
	__u64 reused;			/* of `freed`: known by being allocated again, not by a free */
	__u64 object_bytes;		/* what one takes, rounded up as the allocator does */
	__u64 cache;			/* address of its kmem_cache; 0: none, or not known */
	__u64 caller;			/* of the allocator; 0: not known */
	__u32 sort;
	__u32 depth;
	__u64 ips[KMEM_DEPTH];		/* innermost first, with the tracing itself */
};

/* kmem_objects: address -> this */
struct kmem_object {
	__u64 site;
	__u64 time_ns;
	__u32 sort;
	__u32 tgid;
};

/* kmem_caches: address -> this */
struct kmem_cache_info {
	char name[32];
};

/* kmem_counts: sort -> this, for each processor. */
struct kmem_counts {
	__u64 allocated, freed;		/* objects followed; bytes are the sites' */
	__u64 failed;			/* no memory: not followed */
	__u64 unknown;			/* free of what was not seen allocated */
	__u64 no_room;			/* not followed: a table is full */
};

#endif
