// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that targets take, and what of it gives way (pmm_module.h).
 *
 * Entries are accounted to the control group of the process that they are of. Nobody else could
 * give them back, and a group full of them would have the OOM killer end the process at the next
 * page that it touches. So each target is on a list of its group, and where memory is short, in the
 * group or everywhere, the oldest entries of its targets go.
 *
 * Reclaim comes from any allocation, also from one of ours that is made under a target's lock. So a
 * lock is only tried here.
 */
#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/list_lru.h>
#include <linux/sched/signal.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/swap.h>

#include "pmm_compat.h"
#endif
#include "pmm_module.h"

/*
 * An entry cannot be made again, as what is usually given back can: it goes when that was not
 * enough.
 */
#define SEEKS		(16 * DEFAULT_SEEKS)
#define MOST_TARGETS	4096	/* looked at in one go, with a spinlock */
#define PAUSE_PART	64	/* this part of a log goes for a pause */

static struct list_lru lru;
static struct shrinker *shrinker;
static bool ready;		/* the list can be used */
static struct kmem_cache *cache;

/*
 * Is it about an allocation that a thread may make with a target's lock? These do without file
 * systems (pmm_os.h).
 */
static bool may_be_ours(const struct shrink_control *sc)
{
	return !(sc->gfp_mask & __GFP_FS);
}

struct sum {
	unsigned long entries;
	bool unlocked;		/* only of those targets that are not locked */
};

static enum lru_status add_up(struct list_head *item, struct list_lru_one *one, PMM_LRU_LOCK
			      void *arg)
{
	struct pmm_target *t = container_of(item, struct pmm_target, lru);
	struct sum *sum = arg;

	if (!sum->unlocked || !mutex_is_locked(&t->lock))
		sum->entries += (unsigned long)READ_ONCE(t->log.entries);
	return LRU_SKIP;
}

static void add_up_targets(struct shrink_control *sc, struct sum *sum)
{
	unsigned long most = MOST_TARGETS;

	list_lru_walk_one(&lru, sc->nid, sc->memcg, add_up, sum, &most);
}

/*
 * What is counted and cannot be got is asked for again later, in addition. So what this thread may
 * have locked itself, each time that its group is full, is not counted.
 */
static unsigned long count(struct shrinker *unused, struct shrink_control *sc)
{
	struct sum sum = { .unlocked = may_be_ours(sc) };

	/* pairs with pmm_shrink_init() */
	if (!smp_load_acquire(&ready))
		return 0;
	/* that there are none is said only where none can come: entries do not tell */
	if (!list_lru_shrink_count(&lru, sc))
		return SHRINK_EMPTY;
	add_up_targets(sc, &sum);
	return sum.entries;
}

static enum lru_status hold(struct list_head *item, struct list_lru_one *one, PMM_LRU_LOCK
			    void *arg)
{
	struct pmm_target *t = container_of(item, struct pmm_target, lru);
	struct pmm_target **held = arg;

	/* one that is about to go must not keep the others from their turn */
	if (kref_get_unless_zero(&t->ref))
		*held = t;
	return LRU_ROTATE;
}

/* The target whose turn it is, held; NULL: it is about to go. */
static struct pmm_target *next_target(struct shrink_control *sc)
{
	struct pmm_target *t = NULL;
	unsigned long one = 1;

	list_lru_walk_one(&lru, sc->nid, sc->memcg, hold, &t, &one);
	return t;
}

/* 0: nothing, or another thread has its lock. */
static unsigned long evict(struct pmm_target *t, unsigned long most)
{
	struct mem_cgroup *before;
	unsigned long nr;

	if (!mutex_trylock(&t->lock))
		return 0;
	before = pmm_set_payer(t->memcg);
	nr = (unsigned long)pmm_log_evict(&t->log, most);
	pmm_set_payer(before);
	mutex_unlock(&t->lock);
	return nr;
}

/* A tick is too long for who does it for all, or shall end. */
static bool may_pause(const struct shrink_control *sc)
{
	return !may_be_ours(sc) && !current_is_kswapd() && !fatal_signal_pending(current);
}

/*
 * One pause for who has that target's lock: it is not held for long. As to wait takes long, more
 * goes then than is asked for, and the pass ends: the kernel asks for 128 entries at a time, and
 * one whose lock is contended would cost a tick each time. All that there may be counts as looked
 * at, else the kernel would ask for the rest later, in addition.
 */
static unsigned long evict_busy(struct pmm_target *t, struct shrink_control *sc)
{
	unsigned long part = (unsigned long)READ_ONCE(t->log.entries) / PAUSE_PART;
	struct sum all = { 0 };

	schedule_timeout_uninterruptible(1);
	add_up_targets(sc, &all);
	sc->nr_scanned = max(2 * all.entries, sc->nr_to_scan);
	return evict(t, max(part, sc->nr_to_scan));
}

/*
 * A process that finds nothing to give back is killed soon: so if no other target gave anything,
 * the first busy one is waited for.
 */
static unsigned long scan(struct shrinker *unused, struct shrink_control *sc)
{
	unsigned long targets = list_lru_shrink_count(&lru, sc), freed = 0, nr;
	struct pmm_target *t, *busy = NULL;

	for (; targets && freed < sc->nr_to_scan; targets--) {
		t = next_target(sc);
		if (!t)
			continue;
		nr = READ_ONCE(t->log.entries) ? evict(t, sc->nr_to_scan - freed) : 0;
		freed += nr;
		if (!nr && !busy && READ_ONCE(t->log.entries))
			busy = t;
		else
			pmm_target_put(t);
		cond_resched();
	}
	if (busy && !freed && may_pause(sc))
		freed = evict_busy(busy, sc);
	else if (!freed)
		freed = SHRINK_STOP;
	pmm_target_put(busy);
	return freed;
}

struct pmm_target *pmm_target_alloc(struct mem_cgroup *memcg)
{
	struct mem_cgroup *before = pmm_set_payer(memcg);
	struct pmm_target *t = pmm_cache_alloc_lru(cache, &lru, PMM_GFP | __GFP_ZERO);

	pmm_set_payer(before);
	if (!t)
		return NULL;
	kref_init(&t->ref);
	mutex_init(&t->lock);
	t->memcg = memcg;
	INIT_LIST_HEAD(&t->lru);
	pmm_lru_add(&lru, &t->lru);
	return t;
}

void pmm_target_free(struct pmm_target *t)
{
	pmm_lru_del(&lru, &t->lru);
	kmem_cache_free(cache, t);
}

int pmm_shrink_init(void)
{
	int err;

	cache = kmem_cache_create("pmm_target", sizeof(struct pmm_target), 0, SLAB_ACCOUNT, NULL);
	if (!cache)
		return -ENOMEM;
	shrinker = pmm_shrinker_new(count, scan, SEEKS);
	err = PTR_ERR_OR_ZERO(shrinker);
	if (err)
		goto no_shrinker;
	err = list_lru_init_memcg(&lru, shrinker);
	if (err)
		goto no_list;
	/* from now on the list can be walked; pairs with count() */
	smp_store_release(&ready, true);
	pmm_shrinker_start(shrinker);
	return 0;
no_list:
	pmm_shrinker_free(shrinker);
no_shrinker:
	kmem_cache_destroy(cache);
	return err;
}

void pmm_shrink_stop(void)
{
	pmm_shrinker_free(shrinker);
}

void pmm_shrink_exit(void)
{
	list_lru_destroy(&lru);
	kmem_cache_destroy(cache);
}
