/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pmm_shrink.c and pmm_module.h know of the kernel, for a program that tests them: one thread,
 * one control group. Such a program defines what is only declared here.
 */
#ifndef KMOD_PMM_KERNEL_USER_H
#define KMOD_PMM_KERNEL_USER_H

#include "pmm_os.h"

/* Not all of the kernel's callbacks use all of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define TASK_COMM_LEN	16

struct file;
struct mem_cgroup;
struct page;
struct pid;
struct pid_namespace;
struct task_struct;
struct vm_area_struct;

typedef unsigned int gfp_t;
typedef struct {
	s64 value;
} atomic64_t;
typedef struct {
	int unused;
} wait_queue_head_t;

#define PMM_GFP		0x1u
#define __GFP_ZERO	0x2u
#define __GFP_FS	0x4u

#define max(a, b)	((a) > (b) ? (a) : (b))

#define current		((struct task_struct *)NULL)
bool fatal_signal_pending(const struct task_struct *task);
bool current_is_kswapd(void);
/* Other threads run meanwhile. */
void schedule_timeout_uninterruptible(long ticks);

static inline void cond_resched(void)
{
}

/* ---- references and locks */

struct kref {
	unsigned int nr;
};

static inline void kref_init(struct kref *ref)
{
	ref->nr = 1;
}

static inline void kref_get(struct kref *ref)
{
	ref->nr++;
}

static inline bool kref_get_unless_zero(struct kref *ref)
{
	if (!ref->nr)
		return false;
	ref->nr++;
	return true;
}

struct mutex {
	bool locked;
	bool contended;		/* another thread takes it as soon as it is free */
};

static inline void mutex_init(struct mutex *m)
{
	m->locked = false;
	m->contended = false;
}

static inline bool mutex_is_locked(const struct mutex *m)
{
	return m->locked;
}

static inline bool mutex_trylock(struct mutex *m)
{
	if (m->locked)
		return false;
	m->locked = true;
	return true;
}

static inline void mutex_unlock(struct mutex *m)
{
	m->locked = m->contended;
}

/* ---- allocation */

struct kmem_cache;

#define SLAB_ACCOUNT	1u

struct kmem_cache *kmem_cache_create(const char *name, size_t bytes, size_t align,
				     unsigned int flags, void (*init)(void *));
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *cache, void *p);
void kmem_cache_destroy(struct kmem_cache *cache);
/* Who paid before. */
struct mem_cgroup *pmm_set_payer(struct mem_cgroup *memcg);

/* ---- a list whose objects take turns */

struct list_lru {
	struct list_head items;
};

struct list_lru_one;

enum lru_status { LRU_SKIP, LRU_ROTATE };

#define PMM_LRU_LOCK

typedef enum lru_status (*list_lru_walk_cb)(struct list_head *item, struct list_lru_one *one,
					    void *arg);

struct shrink_control {
	gfp_t gfp_mask;
	int nid;
	struct mem_cgroup *memcg;
	unsigned long nr_to_scan, nr_scanned;
};

struct shrinker {
	unsigned long (*count)(struct shrinker *s, struct shrink_control *sc);
	unsigned long (*scan)(struct shrinker *s, struct shrink_control *sc);
};

#define DEFAULT_SEEKS	2
#define SHRINK_STOP	(~0ul)
#define SHRINK_EMPTY	(~0ul - 1)

typedef unsigned long (*pmm_shrink_fn)(struct shrinker *s, struct shrink_control *sc);

struct shrinker *pmm_shrinker_new(pmm_shrink_fn count, pmm_shrink_fn scan, int seeks);
void pmm_shrinker_free(struct shrinker *s);

static inline void pmm_shrinker_start(struct shrinker *s)
{
	(void)s;
}

static inline int list_lru_init_memcg(struct list_lru *lru, struct shrinker *s)
{
	(void)s;
	INIT_LIST_HEAD(&lru->items);
	return 0;
}

static inline void list_lru_destroy(struct list_lru *lru)
{
	(void)lru;
}

static inline unsigned long list_lru_shrink_count(struct list_lru *lru, struct shrink_control *sc)
{
	unsigned long nr = 0;

	(void)sc;
	for (struct list_head *at = lru->items.next; at != &lru->items; at = at->next)
		nr++;
	return nr;
}

/* From the first one on, which with LRU_ROTATE becomes the last. */
static inline void list_lru_walk_one(struct list_lru *lru, int nid, struct mem_cgroup *memcg,
				     list_lru_walk_cb visit, void *arg, unsigned long *most)
{
	struct list_head *last = lru->items.prev, *at, *next = lru->items.next;

	(void)nid;
	(void)memcg;
	while (next != &lru->items && *most) {
		at = next;
		next = at->next;
		--*most;
		if (visit(at, NULL, arg) == LRU_ROTATE) {
			list_del(at);
			list_add_tail(at, &lru->items);
		}
		if (at == last)
			break;
	}
}

static inline void *pmm_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru, gfp_t gfp)
{
	(void)lru;
	return kmem_cache_alloc(cache, gfp);
}

static inline void pmm_lru_add(struct list_lru *lru, struct list_head *item)
{
	list_add_tail(item, &lru->items);
}

static inline void pmm_lru_del(struct list_lru *lru, struct list_head *item)
{
	(void)lru;
	list_del(item);
}

#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-4095)
#define PTR_ERR_OR_ZERO(p)	(IS_ERR_VALUE(p) ? (int)(long)(p) : 0)

#endif
