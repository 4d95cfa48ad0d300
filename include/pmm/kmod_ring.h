/* SPDX-License-Identifier: MIT */
/*
 * Writes records into a ring of the kernel module (pmm/kmod.h) without a system call.
 *
 * Any number of threads of one process, and signal handlers: no lock, and none waits for another.
 */
#ifndef PMM_KMOD_RING_H
#define PMM_KMOD_RING_H

#include <pmm/kmod.h>

static inline struct pmm_kmod_slot *pmm_kmod_slot(struct pmm_kmod_ring *ring, __u32 position,
						  __u32 slots)
{
	return (struct pmm_kmod_slot *)((char *)ring + PMM_KMOD_HEAD_BYTES) +
	       (position & (slots - 1));
}

/*
 * Append a copy of `record`, whose sequence is not looked at. `slots` is the caller's own copy of
 * the ring's size. 1: done; 0: the ring is full, and the record counted as lost.
 */
static inline int pmm_kmod_write(struct pmm_kmod_ring *ring, __u32 slots,
				 const struct pmm_kmod_slot *record)
{
	__u32 position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	struct pmm_kmod_slot *slot;
	__u32 sequence;

	for (;;) {
		slot = pmm_kmod_slot(ring, position, slots);
		sequence = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
		if (sequence == position) {
			if (__atomic_compare_exchange_n(&ring->head, &position, position + 1, 0,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
				break;
		} else if ((__s32)(sequence - position) < 0) {
			__atomic_fetch_add(&ring->overflows, 1, __ATOMIC_RELAXED);
			return 0;
		} else {
			position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
		}
	}
	slot->site = record->site;
	slot->bytes = record->bytes;
	slot->pointer = record->pointer;
	slot->prev = record->prev;
	slot->caller = record->caller;
	slot->time_ns = record->time_ns;
	slot->tid = record->tid;
	slot->kind = record->kind;
	slot->flags = record->flags;
	slot->reserved = 0;
	__atomic_store_n(&slot->sequence, position + 1, __ATOMIC_RELEASE);
	return 1;
}

/* Positions that are written or being written and that the module has not read yet. */
static inline __u32 pmm_kmod_pending(const struct pmm_kmod_ring *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_RELAXED) -
	       __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
}

#endif
