// SPDX-License-Identifier: GPL-2.0-or-later
/* The module's side of a ring (pmm_ring.h). */
#include "pmm_ring.h"

static struct pmm_kmod_slot *slot_at(const struct pmm_ring *r, u32 position)
{
	return (struct pmm_kmod_slot *)((char *)r->shared + PMM_KMOD_HEAD_BYTES) +
	       (position & (r->slots - 1));
}

void pmm_ring_init(struct pmm_ring *r, struct pmm_kmod_ring *shared, u32 slots)
{
	u32 i;

	memset(r, 0, sizeof(*r));
	r->shared = shared;
	r->slots = slots;
	for (i = 0; i < slots; i++)
		slot_at(r, i)->sequence = i;
	shared->version = PMM_KMOD_VERSION;
	shared->slots = slots;
}

void pmm_ring_switch(struct pmm_ring *r, bool on)
{
	WRITE_ONCE(r->shared->off, on ? 0 : 1);
}

/* One copy of a record, by words, so that what is checked is what is used. */
static void copy_slot(const struct pmm_kmod_slot *slot, struct pmm_log_request *to, u32 *site)
{
	*site = READ_ONCE(slot->site);
	to->bytes = READ_ONCE(slot->bytes);
	to->pointer = READ_ONCE(slot->pointer);
	to->prev = READ_ONCE(slot->prev);
	to->caller = READ_ONCE(slot->caller);
	to->time_ns = READ_ONCE(slot->time_ns);
	to->tid = READ_ONCE(slot->tid);
	to->kind = READ_ONCE(slot->kind);
	to->flags = READ_ONCE(slot->flags);
}

static void take(struct pmm_ring *r, struct pmm_kmod_slot *slot, struct pmm_log *log, u64 now_ns)
{
	struct pmm_log_request request;
	u32 site;

	copy_slot(slot, &request, &site);
	r->records++;
	if (pmm_log_check(&request)) {
		log->counts.bad++;
		return;
	}
	request.site = pmm_sites_at(&log->sites, site);
	if (site && !request.site)
		log->counts.sites_lost++;
	if (!request.time_ns || request.time_ns > now_ns)
		request.time_ns = now_ns;
	pmm_log_enter(log, &request);
}

/*
 * A drain that does not wait for memory leaves what needs some for one that does, as long as the
 * program has room to go on. Then the log's oldest entries give way.
 */
static bool leave(const struct pmm_ring *r, const struct pmm_kmod_slot *slot, struct pmm_log *log)
{
	u32 pending = READ_ONCE(r->shared->head) - r->position;
	u16 kind = READ_ONCE(slot->kind);

	return log->nowait && pending <= r->slots / 4 * 3 && kind != PMM_KMOD_FREE &&
	       kind != PMM_KMOD_MUNMAP && !pmm_log_ready(log);
}

/* The slot of the next position is free for the position a whole round later. */
static void release(struct pmm_ring *r, struct pmm_kmod_slot *slot)
{
	/* after the copy: the slot is a writer's again; pairs with its load of the sequence */
	smp_store_release(&slot->sequence, r->position + r->slots);
	r->position++;
	r->waited = 0;
}

/* Shall an unfinished slot be given up? Only one that was taken, and that others wait behind. */
static bool give_up(const struct pmm_ring *r, u64 now_ns, bool last)
{
	u32 taken = READ_ONCE(r->shared->head) - r->position;

	if (!taken || taken > r->slots)
		return false;
	return last || (taken > 1 && r->waited >= PMM_RING_PATIENCE &&
			now_ns >= r->waiting_since_ns &&
			now_ns - r->waiting_since_ns >= PMM_RING_PATIENCE_NS);
}

/* A clock that was set back begins anew. */
static void wait(struct pmm_ring *r, u64 now_ns)
{
	if (!r->waited || now_ns < r->waiting_since_ns)
		r->waiting_since_ns = now_ns;
	r->waited++;
}

/*
 * The slot that is next to be taken says that it is not free: who had been given up has finished it
 * after all. Nobody can take it, so nobody can be writing `sequence` but another of those.
 */
static void repair(const struct pmm_ring *r, u32 sequence)
{
	if (sequence != r->position)
		WRITE_ONCE(slot_at(r, r->position)->sequence, r->position);
}

static void count_overflows(struct pmm_ring *r)
{
	u32 now = READ_ONCE(r->shared->overflows);

	r->overflows += now - r->overflows_seen;
	r->overflows_seen = now;
}

u32 pmm_ring_drain(struct pmm_ring *r, struct pmm_log *log, u64 now_ns, bool last)
{
	struct pmm_kmod_slot *slot;
	u64 no_memory = log->counts.no_memory;
	u32 nr, sequence = 0, taken = 0;

	for (nr = 0; nr < r->slots; nr++) {
		/* those that follow would find none either: they stay in the ring */
		if (!last && log->counts.no_memory != no_memory)
			break;
		slot = slot_at(r, r->position);
		/* before the copy: pairs with the writer's store when it has filled the slot */
		sequence = smp_load_acquire(&slot->sequence);
		if (sequence == r->position + 1) {
			if (!last && leave(r, slot, log))
				break;
			take(r, slot, log, now_ns);
			taken++;
		} else if (give_up(r, now_ns, last)) {
			r->torn++;
		} else {
			break;
		}
		release(r, slot);
		pmm_os_relax();
	}
	if (nr < r->slots) {
		if (READ_ONCE(r->shared->head) != r->position)
			wait(r, now_ns);
		else
			repair(r, sequence);
	}
	WRITE_ONCE(r->shared->tail, r->position);
	count_overflows(r);
	return taken;
}
