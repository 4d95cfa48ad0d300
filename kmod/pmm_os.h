/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts without kernel interfaces (log, sites, trend, parse, text, ring) need: in the
 * kernel its own headers, in programs that test them pmm_os_user.h, which has the same names.
 */
#ifndef KMOD_PMM_OS_H
#define KMOD_PMM_OS_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

/*
 * An allocation fails rather than that the OOM killer ends a process because of a log, and as a
 * process can make it fail as often as it likes, nothing is written to the kernel's log then. What
 * is allocated is accounted to the control group of who asks.
 */
#define PMM_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/*
 * For who must not wait because a group of processes is above its limit: kvzalloc() then gives no
 * more than what is in one piece.
 */
#define PMM_GFP_NOWAIT	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOMEMALLOC | __GFP_NOWARN)

/*
 * Zeroed memory; NULL. It is asked for with the lock of the log that it is for. So file systems are
 * left alone: who has memory given back for them need not fear that this thread has the lock
 * (pmm_shrink.c).
 */
static inline void *pmm_os_alloc(size_t bytes, bool wait)
{
	unsigned int before = memalloc_nofs_save();
	void *p = kvzalloc(bytes, wait ? PMM_GFP : PMM_GFP_NOWAIT);

	memalloc_nofs_restore(before);
	return p;
}

static inline void pmm_os_free(void *p)
{
	kvfree(p);
}

/* Entries of logs have a cache of their own; zeroed, accounted, NULL. */
extern struct kmem_cache *pmm_os_entries;

static inline void *pmm_os_entry_alloc(size_t bytes, bool wait)
{
	unsigned int before = memalloc_nofs_save();
	void *p = kmem_cache_zalloc(pmm_os_entries, wait ? PMM_GFP : PMM_GFP_NOWAIT);

	memalloc_nofs_restore(before);
	return p;
}

static inline void pmm_os_entry_free(void *p)
{
	kmem_cache_free(pmm_os_entries, p);
}

/* Without the key nobody can choose values of the same hash. */
static inline u32 pmm_os_hash(u64 value, u64 key)
{
	hsiphash_key_t both = { { (unsigned long)key, (unsigned long)(key >> 32) } };

	return hsiphash_2u32((u32)value, (u32)(value >> 32), &both);
}

static inline u32 pmm_os_hash_bytes(const void *bytes, size_t nr, u64 key)
{
	hsiphash_key_t both = { { (unsigned long)key, (unsigned long)(key >> 32) } };

	return hsiphash(bytes, nr, &both);
}

/* in long loops */
static inline void pmm_os_relax(void)
{
	cond_resched();
}
#else
#include "pmm_os_user.h"
#endif

#include <pmm/kmod.h>

#endif
