/* SPDX-License-Identifier: MIT */
/*
 * Blocks of which a finding says that a function overwrites their canary or poison.
 *
 * An entry that is lost, to another thread or to many others, means a second finding, no more.
 */
#include "agent/check/reported.h"

#include "agent/agent.h"
#include "agent/clock.h"

static struct pmm_reported table[PMM_REPORTED];
static uint32_t turn;

void reported_start(void)
{
	STORE(agent.ledger->check.reported, (uint64_t)(uintptr_t)table);
}

/* That of the block, or a free one, or else one of its ways in turn. */
static struct pmm_reported *entry_for(uint64_t block)
{
	struct pmm_reported *first = &table[pmm_reported_at(block)], *free = NULL;

	for (struct pmm_reported *r = first; r < first + PMM_REPORTED_WAYS; r++) {
		uint64_t has = LOAD(r->block);

		if (has == block)
			return r;
		if (!has && !free)
			free = r;
	}
	return free ? free : first + ADD(turn, 1) % PMM_REPORTED_WAYS;
}

void reported_add(uint64_t block)
{
	struct pmm_reported *r = entry_for(block);

	STORE(r->block, 0);
	STORE(r->tick, clock_now());
	STORE_RELEASE(r->block, block);
}

bool reported_take(uint64_t block, uint32_t tick)
{
	struct pmm_reported *r = &table[pmm_reported_at(block)];

	for (unsigned i = 0; i < PMM_REPORTED_WAYS; i++, r++) {
		if (LOAD_ACQUIRE(r->block) != block)
			continue;
		STORE(r->block, 0);
		return LOAD(r->tick) >= tick;
	}
	return false;
}
