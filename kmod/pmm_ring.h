/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module's side of a ring (pmm/kmod.h): it reads what the program's threads write.
 *
 * The program may write anything anywhere in the ring at any time. What the module relies on it
 * keeps for itself: the position, the number of slots. Each record is copied once, then checked.
 */
#ifndef KMOD_PMM_RING_H
#define KMOD_PMM_RING_H

#include "pmm_os.h"
#include "pmm_log.h"

/*
 * A thread that has taken a slot and does not fill it (it was killed in between, or is stopped)
 * holds up all that follow. It is given up after so many drains and so long a time in which others
 * wait behind it. Should the thread finish it after all, the slot is repaired when its turn comes.
 */
#define PMM_RING_PATIENCE	8
#define PMM_RING_PATIENCE_NS	1000000000u

struct pmm_ring {
	struct pmm_kmod_ring *shared;
	u32 slots, position;
	u32 overflows_seen;		/* the shared counter, the last time */
	u32 waited;			/* drains that found the same slot unfinished */
	u64 waiting_since_ns;
	u64 records, overflows, torn;
};

/* `shared` is zeroed memory of PMM_KMOD_RING_BYTES(slots) bytes; slots is a power of two. */
void pmm_ring_init(struct pmm_ring *r, struct pmm_kmod_ring *shared, u32 slots);

/* Writers shall write nothing, or shall again. */
void pmm_ring_switch(struct pmm_ring *r, bool on);

/*
 * Take what is there into the log, at most as many records as the ring has slots. Times of 0 and
 * of the future become `now_ns`. Ends when there is no memory for an entry. `last`: nobody writes
 * any more, so all are taken, and unfinished slots given up at once. Returns how many records were
 * taken. The caller locks the log.
 */
u32 pmm_ring_drain(struct pmm_ring *r, struct pmm_log *log, u64 now_ns, bool last);

#endif
