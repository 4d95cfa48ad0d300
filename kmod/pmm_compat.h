/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the kernels from 5.10 on differ. */
#ifndef KMOD_PMM_COMPAT_H
#define KMOD_PMM_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
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

#endif
