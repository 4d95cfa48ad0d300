/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the kernels from 5.10 on differ. */
#ifndef KMOD_PMM_COMPAT_H
#define KMOD_PMM_COMPAT_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

/* the flags of a mapping are behind functions since 6.3 */
static inline void pmm_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* the number added is always 1 since 6.8 */
static inline void pmm_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

/*
 * Whose memory is paid by what this thread allocates; returns who paid before. set_active_memcg()
 * is for interrupts as well, by a variable that 5.10 does not export.
 */
static inline struct mem_cgroup *pmm_set_payer(struct mem_cgroup *memcg)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) && defined(CONFIG_MEMCG)
	struct mem_cgroup *before = current->active_memcg;

	current->active_memcg = memcg;
	return before;
#else
	return set_active_memcg(memcg);
#endif
}

/* Before 5.11 a page cannot be both accounted and mapped: rings are limited in all alone. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define PMM_GFP_MAPPED PMM_GFP
#else
#define PMM_GFP_MAPPED (PMM_GFP & ~__GFP_ACCOUNT)
#endif

/* vm_operations_struct.split got another name in 5.11 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define PMM_MAY_SPLIT may_split
#else
#define PMM_MAY_SPLIT split
#endif

typedef unsigned long (*pmm_shrink_fn)(struct shrinker *, struct shrink_control *);

/*
 * Shrinkers, aware of control groups, are given out by the kernel since 6.7. Before, one gets its
 * number when it begins: it may be asked at once. They have names since 6.0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *pmm_shrinker_new(pmm_shrink_fn count, pmm_shrink_fn scan, int seeks)
{
	struct shrinker *s = shrinker_alloc(SHRINKER_MEMCG_AWARE | SHRINKER_NUMA_AWARE, "pmm");

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->count_objects = count;
	s->scan_objects = scan;
	s->seeks = seeks;
	return s;
}

static inline void pmm_shrinker_start(struct shrinker *s)
{
	shrinker_register(s);
}

static inline void pmm_shrinker_free(struct shrinker *s)
{
	shrinker_free(s);
}
#else
static inline int pmm_shrinker_register(struct shrinker *s)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	return register_shrinker(s, "pmm");
#else
	return register_shrinker(s);
#endif
}

static inline struct shrinker *pmm_shrinker_new(pmm_shrink_fn count, pmm_shrink_fn scan, int seeks)
{
	struct shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->count_objects = count;
	s->scan_objects = scan;
	s->seeks = seeks;
	s->flags = SHRINKER_MEMCG_AWARE | SHRINKER_NUMA_AWARE;
	err = pmm_shrinker_register(s);
	if (err) {
		kfree(s);
		return ERR_PTR(err);
	}
	return s;
}

static inline void pmm_shrinker_start(struct shrinker *s)
{
}

static inline void pmm_shrinker_free(struct shrinker *s)
{
	unregister_shrinker(s);
	kfree(s);
}
#endif

/* Since 5.18 a control group's list is made when the first object for it is allocated. */
static inline void *pmm_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru, gfp_t gfp)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return kmem_cache_alloc_lru(cache, lru, gfp);
#else
	return kmem_cache_alloc(cache, gfp);
#endif
}

/* On the list of the control group that pays for the object, which has the name since 6.8. */
static inline void pmm_lru_add(struct list_lru *lru, struct list_head *item)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	list_lru_add_obj(lru, item);
#else
	list_lru_add(lru, item);
#endif
}

static inline void pmm_lru_del(struct list_lru *lru, struct list_head *item)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	list_lru_del_obj(lru, item);
#else
	list_lru_del(lru, item);
#endif
}

/* The callback of a walk has the list's lock as an argument before 6.13. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define PMM_LRU_LOCK
#else
#define PMM_LRU_LOCK spinlock_t *lock,
#endif

#endif
