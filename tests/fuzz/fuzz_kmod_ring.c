/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the kernel module's side of a ring whose shared memory is arbitrary and changes
 * between drains, and the log that its records go into.
 *
 * A drain keeps to its bounds, the figures of the log add up, and nothing is left when it is
 * cleared. Memory runs out now and then, and entries give way.
 */
#include <stdlib.h>

#include "kmod/pmm_ring.h"
#include "tests/fuzz/input.h"
#include "tests/unit/kmod_sum.h"

#define SLOTS	64

/* One change of the shared memory, then a drain. */
struct change {
	uint16_t at;			/* a word */
	uint8_t how, allocs;
	uint32_t word;
};

static void change(struct pmm_ring *r, uint32_t *words, struct input *in)
{
	struct change c = { 0 };
	struct pmm_kmod_slot *slot;

	take(in, &c, sizeof(c));
	pmm_os_allocs_left = c.allocs < 8 ? c.allocs : -1;
	words[c.at % (PMM_KMOD_RING_BYTES(SLOTS) / 4)] = c.word;
	if (c.how & 1)
		r->shared->head = r->position + c.how;
	if (c.how & 2) {			/* a record that will be taken */
		slot = (struct pmm_kmod_slot *)((char *)words + PMM_KMOD_HEAD_BYTES) +
		       r->position % SLOTS;
		take(in, slot, sizeof(*slot));
		slot->sequence = r->position + 1;
		slot->pointer &= 0xff;
		slot->prev &= 0xff;
		slot->kind &= 7;
		slot->flags &= c.how >> 2;
	}
}

static void drain(struct pmm_ring *r, struct pmm_log *log, const struct pmm_kmod_ring *shared,
		  unsigned number)
{
	u32 position = r->position;
	u32 taken;

	log->nowait = number & 1;
	taken = pmm_ring_drain(r, log, number * 100000000ull, number % 16 == 0);
	if (number % 8 == 0)
		pmm_log_evict(log, number % 32);

	if (taken > SLOTS || r->position - position > SLOTS || taken > r->position - position ||
	    r->slots != SLOTS || r->shared != shared)
		abort();
	if (!kmod_adds_up(log))
		abort();
	if (log->entries > log->limits->entries_per_process ||
	    (u64)atomic_long_read(&log->limits->entries) != log->entries)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct pmm_log_limits limits = { .entries_per_process = 100, .entries_in_all = 90 };
	struct pmm_kmod_ring *shared = calloc(1, PMM_KMOD_RING_BYTES(SLOTS));
	struct pmm_log log;
	struct pmm_ring ring;

	if (!shared)
		abort();
	pmm_log_init(&log, &limits, 5);
	pmm_ring_init(&ring, shared, SLOTS);
	for (unsigned i = 1; in.size && i < 500; i++) {
		change(&ring, (uint32_t *)shared, &in);
		drain(&ring, &log, shared, i);
	}
	pmm_log_clear(&log);
	if (atomic_long_read(&limits.entries))
		abort();
	pmm_os_allocs_left = -1;
	free(shared);
	return 0;
}
